// SPDX-License-Identifier: Apache-2.0
// Streams: waiting for them, several at once, destroying them with work in them, wrapping.
#include <memory>
#include <thread>

#include "device_check/check.hpp"

namespace device_check {
namespace {

std::string wait(Subject& subject) {
  Stream stream(subject);
  stream.wait();  // nothing was submitted
  for (int i = 0; i < 3; ++i) {
    Flag flag;
    stream.host(Flag::raise_late, &flag, 20000);
    stream.wait();
    require(flag.set.load(), "stream_wait returned before the work had run");
  }
  return "";
}

std::string several_wait(Subject& subject) {
  Stream stream(subject);
  Flag flag;
  stream.host(Flag::raise_late, &flag, 20000);
  std::atomic<int> early{0};
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      if (DC_STATUS(subject, stream_wait, stream.get()) != HOIST_OK) ++failed;
      if (!flag.set.load()) ++early;
    });
  }
  for (std::thread& thread : threads) thread.join();
  require(failed == 0 && early == 0, "of 4 threads that waited " + std::to_string(early) + " went on too early, and " +
                                         std::to_string(failed) + " were refused");
  return "";
}

// A stream whose work is held up holds up no other.
std::string independent(Subject& subject) {
  if (!subject.runs_beside()) throw Skip("work does not run beside the calling thread in real time");
  const HostMemory host(subject, 65536);
  const Memory memory(subject, 65536);
  Gate gate;
  Stream busy(subject);
  Stream free(subject);
  busy.host(Gate::pass, &gate);
  for (int i = 0; i < 10; ++i) free.copy(HOIST_COPY_H2D, memory.at(), host.at(), 65536);
  free.wait();
  const bool blocked = gate.gave_up();
  gate.open();
  busy.wait();
  require(!blocked, "a stream's copies waited for another stream's host function");
  return "";
}

std::string many(Subject& subject) {
  constexpr int count = 32;
  const HostMemory host(subject, count * 4096);
  const Memory memory(subject, count * 4096);
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < count; ++i) streams.push_back(std::make_unique<Stream>(subject));
  for (int round = 0; round < 4; ++round) {
    for (std::uint64_t i = 0; i < count; ++i) {
      streams[i]->fill(memory.at(i * 4096), static_cast<std::uint8_t>(i + 1), 4096);
      streams[i]->copy(HOIST_COPY_D2H, host.at(i * 4096), memory.at(i * 4096), 4096);
    }
  }
  for (const auto& stream : streams) stream->wait();
  for (std::uint64_t i = 0; i < count * 4096 && subject.moves_bytes(); ++i) {
    require(host.at()[i] == i / 4096 + 1, "bytes of stream " + std::to_string(i / 4096) + " of 32 are wrong");
  }
  return std::to_string(count) + " at once";
}

std::string destroy_waits(Subject& subject) {
  Flag flag;
  {
    Stream stream(subject);
    stream.host(Flag::raise_late, &flag, 20000);
  }
  const bool ran = flag.set.load();
  // The flag is on this thread's stack: what is still to run must not outlive it.
  for (int i = 0; i < 1000 && !flag.set.load(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  require(ran, "stream_destroy returned while the stream's work had yet to run");
  return "";
}

std::string wrap(Subject& subject) {
  void* wrapped = nullptr;
  const hoist_status_t status = DC_STATUS(subject, stream_wrap, nullptr, &wrapped);
  if (status == HOIST_ERROR_INVALID_ARGUMENT)
    throw Skip("NULL is none of its native streams, and no other is known here");
  subject.expect("stream_wrap of NULL", status, HOIST_OK);
  const HostMemory host(subject, 4096);
  const Memory memory(subject, 4096);
  for (int turn = 0; turn < 2; ++turn) {
    Flag flag;
    DC_OK(subject, fill, wrapped, memory.at(), 7, 4096);
    DC_OK(subject, copy, wrapped, HOIST_COPY_D2H, host.at(), memory.at(), 4096);
    DC_OK(subject, host_function, wrapped, Flag::raise_late, &flag, 1);
    DC_OK(subject, stream_wait, wrapped);
    require(flag.set.load() && (host.at()[4095] == 7 || !subject.moves_bytes()), "a wrapped stream's work did not run");
    DC_CALL(subject, stream_destroy, wrapped);
    DC_OK(subject, stream_wrap, nullptr, &wrapped);  // the user's stream is still there
  }
  DC_CALL(subject, stream_destroy, wrapped);
  return "native stream NULL";
}

}  // namespace

void add_stream_checks(Checks& checks) {
  checks.push_back({"streams.wait",
                    "stream_create, stream_wait",
                    "blocks until all submitted work has run.",
                    wait,
                    {"identity.query"}});
  checks.push_back({"streams.several_wait",
                    "stream_wait",
                    "Several threads may wait for one stream.",
                    several_wait,
                    {"streams.wait"}});
  checks.push_back({"streams.independent",
                    "stream_create",
                    "Work runs beside the calling thread.",
                    independent,
                    {"copies.every_way"},
                    HOIST_CAPABILITY_ASYNC});
  checks.push_back({"streams.many",
                    "stream_create, stream_destroy",
                    "A queue of work that runs in order on a device.",
                    many,
                    {"copies.in_order", "fills.in_order"}});
  checks.push_back({"streams.destroy_waits",
                    "stream_destroy",
                    "Waits for the stream's work; a wrapped stream itself stays the user's.",
                    destroy_waits,
                    {"streams.wait"}});
  checks.push_back({"streams.wrap",
                    "stream_wrap",
                    "A handle for the user's native stream.",
                    wrap,
                    {"identity.claims", "copies.in_order"},
                    HOIST_CAPABILITY_WRAP});
}

}  // namespace device_check
