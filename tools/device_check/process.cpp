// SPDX-License-Identifier: Apache-2.0
// The process around the device: its threads, its children, what is left behind, other devices of the kind.
#include <malloc.h>

#include <algorithm>
#include <barrier>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include "device_check/check.hpp"

namespace device_check {
namespace {

// Runs the body on so many threads at once; the first failure is the check's.
void on_threads(int count, const std::function<void(int)>& body) {
  std::mutex mutex;
  std::string failure;
  std::barrier start(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      try {
        body(i);
      } catch (const std::exception& error) {
        const std::lock_guard lock(mutex);
        if (failure.empty()) failure = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (!failure.empty()) throw Failure("with several threads at once: " + failure);
}

void work_of_a_thread(Subject& subject, int thread) {
  constexpr std::uint64_t bytes = 50000;
  Stream stream(subject);
  Event event(subject);
  const HostMemory up(subject, bytes);
  const HostMemory down(subject, bytes);
  for (int round = 0; round < 25; ++round) {
    const Memory memory(subject, bytes);
    const int value = (thread * 31 + round) % 250 + 1;
    std::memset(up.at(), value, bytes);
    stream.copy(HOIST_COPY_H2D, memory.at(), up.at(), bytes);
    stream.copy(HOIST_COPY_D2H, down.at(), memory.at(), bytes);
    event.record(stream);
    if (round % 2 == 0)
      event.wait();
    else
      stream.wait();
    require(!subject.moves_bytes() || std::memcmp(up.at(), down.at(), bytes) == 0, "wrong bytes came back");
  }
}

std::string threads(Subject& subject) {
  subject.self();
  on_threads(6, [&](int thread) { work_of_a_thread(subject, thread); });
  return "6 threads, streams of their own";
}

std::string threads_make_and_destroy(Subject& subject) {
  subject.self();
  on_threads(6, [&](int) {
    std::uint64_t free = 0;
    std::uint64_t total = 0;
    for (int round = 0; round < 25; ++round) {
      const Memory memory(subject, 4096);
      const HostMemory pages(subject, 4096);
      Event event(subject);
      Stream stream(subject);
      stream.fill(memory.at(), 1, 4096);
      DC_OK(subject, query_memory, &free, &total);
    }
  });
  return "6 threads";
}

std::string child_uses_its_own(Subject& subject) {
  const auto& ops = subject.ops();
  std::uint32_t count = 0;
  if (ops.count(ops.driver, &count) != HOIST_OK) return "";
  hoist_device_properties_t facts{};
  facts.struct_size = sizeof facts;
  static_cast<void>(ops.describe(ops.driver, 0, &facts));
  void* self = nullptr;
  if (ops.open(ops.driver, subject.target().index, subject.target().options.c_str(), &self) != HOIST_OK) return "";
  void* stream = nullptr;
  void* memory = nullptr;
  std::uint8_t back[512] = {};
  const auto good = [](hoist_status_t status) { return status == HOIST_OK; };
  const bool ran = good(ops.memory_create(self, 512, &memory)) && good(ops.stream_create(self, &stream)) &&
                   good(ops.fill(self, stream, memory, 5, 512)) &&
                   good(ops.copy(self, stream, HOIST_COPY_D2H, back, memory, 512)) &&
                   good(ops.stream_wait(self, stream));
  if (!ran) return "a device that a child of fork opened does not work";
  ops.stream_destroy(self, stream);
  ops.memory_destroy(self, memory);
  ops.close(self);
  return back[511] == 5 || !subject.moves_bytes() ? "" : "a device that a child of fork opened gives wrong bytes";
}

std::string fork_while_busy(Subject& subject) {
  const Memory memory(subject, 4096);
  Flag flag;
  Stream stream(subject);
  stream.host(Flag::raise_late, &flag, 20000);
  const std::string words = in_child([&] { return child_uses_its_own(subject); }, 10);
  stream.fill(memory.at(), 1, 4096);
  stream.wait();
  if (!words.empty()) throw Failure(words);
  return "";
}

struct Held {
  std::size_t threads = 0;
  std::size_t files = 0;
  std::size_t heap = 0;
};

std::size_t entries_of(const char* folder) {
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++entries;
  return entries;
}

std::size_t heap_now() {
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

Held held_now() { return {entries_of("/proc/self/task"), entries_of("/proc/self/fd"), heap_now()}; }

void one_life(Subject& subject) {
  std::uint64_t free = 0;
  std::uint64_t total = 0;
  Flag flag;
  const HostMemory pages(subject, 65536);
  const Memory memory(subject, 65536);
  Event event(subject);
  Stream stream(subject);
  stream.copy(HOIST_COPY_H2D, memory.at(), pages.at(), 65536);
  stream.host(Flag::raise, &flag);
  event.record(stream);
  DC_OK(subject, stream_wait_event, stream.get(), event.get());
  event.record(stream);
  DC_CALL(subject, copy, stream.get(), HOIST_COPY_H2D, nullptr, pages.at(), 1);
  DC_OK(subject, query_memory, &free, &total);
  stream.wait();
}

// The same life again and again, the first times to warm up: what then still grows is lost.
std::string leaks(Subject& subject) {
  constexpr std::size_t rounds = 100;
  for (std::size_t i = 0; i < rounds; ++i) one_life(subject);
  const Held before = held_now();
  for (std::size_t i = 0; i < rounds; ++i) one_life(subject);
  const Held after = held_now();
  require(after.threads <= before.threads, std::to_string(after.threads - before.threads) + " threads are left");
  require(after.files <= before.files, std::to_string(after.files - before.files) + " open files are left");
  const std::size_t grown = after.heap > before.heap ? after.heap - before.heap : 0;
  require(grown < rounds * 16, "the heap grew by " + std::to_string(grown / rounds) +
                                   " bytes a round of one stream, one "
                                   "event, one copy");
  return "100 lives of a stream";
}

std::string steady(Subject& subject) {
  constexpr std::size_t rounds = 2000;
  const HostMemory pages(subject, 4096);
  const Memory memory(subject, 4096);
  Event event(subject);
  Stream stream(subject);
  Stream other(subject);
  const auto run = [&] {
    for (std::size_t i = 0; i < rounds; ++i) {
      stream.copy(HOIST_COPY_H2D, memory.at(), pages.at(), 4096);
      event.record(stream);
      DC_OK(subject, stream_wait_event, other.get(), event.get());
      if (i % 50 == 49) other.wait();
    }
    stream.wait();
  };
  run();
  const std::size_t before = heap_now();
  run();
  const std::size_t after = heap_now();
  const std::size_t grown = after > before ? after - before : 0;
  require(grown < rounds * 8, "the heap grew by " + std::to_string(grown / rounds) + " bytes a copy");
  return "2000 copies, records and waits";
}

// The device beside this one, open for a while.
class Neighbour {
 public:
  explicit Neighbour(Subject& subject) : subject_(subject) {
    std::uint32_t count = 0;
    subject.expect("count", subject.ops().count(subject.ops().driver, &count), HOIST_OK);
    if (count < 2) throw Skip("there is one device only");
    self_ = subject.open(subject.target().index == 0 ? 1 : 0);
  }
  ~Neighbour() { subject_.ops().close(self_); }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;
  void* self() const { return self_; }

 private:
  Subject& subject_;
  void* self_ = nullptr;
};

std::string peer_copies(Subject& subject) {
  constexpr std::uint64_t bytes = 100000;
  const Neighbour neighbour(subject);
  const auto& ops = subject.ops();
  const HostMemory host(subject, bytes);
  const Memory memory(subject, bytes);
  void* there = nullptr;
  void* stream_there = nullptr;
  subject.expect("memory_create", ops.memory_create(neighbour.self(), bytes, &there), HOIST_OK);
  subject.expect("stream_create", ops.stream_create(neighbour.self(), &stream_there), HOIST_OK);
  subject.expect("fill", ops.fill(neighbour.self(), stream_there, there, 0x3C, bytes), HOIST_OK);
  subject.expect("stream_wait", ops.stream_wait(neighbour.self(), stream_there), HOIST_OK);
  Stream stream(subject);
  const hoist_status_t status = DC_STATUS(subject, copy, stream.get(), HOIST_COPY_D2D, memory.at(), there, bytes);
  if (status == HOIST_OK) {
    stream.copy(HOIST_COPY_D2H, host.at(), memory.at(), bytes);
    stream.wait();
  }
  ops.stream_destroy(neighbour.self(), stream_there);
  ops.memory_destroy(neighbour.self(), there);
  if (status == HOIST_ERROR_UNSUPPORTED) throw Skip("devices of this kind cannot copy from each other");
  subject.expect("copy from another device", status, HOIST_OK);
  for (std::uint64_t i = 0; i < bytes && subject.moves_bytes(); ++i) {
    require(host.at()[i] == 0x3C, "byte " + std::to_string(i) + " from another device is wrong");
  }
  return "";
}

std::string peer_lives(Subject& subject) {
  Flag here;
  Flag there;
  Event event(subject);
  Stream stream(subject);
  {
    const Neighbour neighbour(subject);
    const auto& ops = subject.ops();
    void* other = nullptr;
    void* mark = nullptr;
    int ready = 0;
    subject.expect("stream_create", ops.stream_create(neighbour.self(), &other), HOIST_OK);
    subject.expect("event_create", ops.event_create(neighbour.self(), &mark), HOIST_OK);
    stream.host(Flag::raise_late, &here, 20000);
    event.record(stream);
    subject.expect("host_function", ops.host_function(neighbour.self(), other, Flag::raise, &there, 1), HOIST_OK);
    subject.expect("event_record", ops.event_record(neighbour.self(), mark, other), HOIST_OK);
    subject.expect("event_wait", ops.event_wait(neighbour.self(), mark), HOIST_OK);
    subject.expect("event_poll", ops.event_poll(neighbour.self(), mark, &ready), HOIST_OK);
    ops.event_destroy(neighbour.self(), mark);
    ops.stream_destroy(neighbour.self(), other);
    require(ready == 1 && there.set.load(), "another device's event was not reached");
  }
  event.wait();  // the other is closed
  const bool reached = here.set.load();
  stream.wait();
  require(reached, "an event was reached early, once another device had been closed");
  return "";
}

}  // namespace

void add_process_checks(Checks& checks) {
  const std::vector<const char*> basis = {"copies.in_order", "events.wait"};
  const char* left_behind = "What is destroyed leaves nothing behind, and neither does work that has run";
  const char* threaded =
      "A slot may be called from any thread, several at once, but never twice at once for the same "
      "stream or event, unless its text says otherwise.";
  checks.push_back({"threads.streams", "copy, event_record, event_wait, stream_wait", threaded, threads, basis});
  checks.push_back({"threads.make_and_destroy",
                    "memory_create, stream_create, event_create, host_register",
                    threaded,
                    threads_make_and_destroy,
                    {"threads.streams", "fills.exact", "memory.given_back", "streams.destroy_waits"}});
  checks.push_back({"process.fork",
                    "count, describe, open",
                    "In a child of fork nothing of the parent's is used, and no slot of the driver waits for a thread "
                    "that stayed behind: count, describe and open answer, be it with a failure.",
                    fork_while_busy,
                    {"copies.in_order", "fills.exact"}});
  checks.push_back({"leaks.steady",
                    "copy, event_record, stream_wait_event",
                    left_behind,
                    steady,
                    {"copies.every_way", "events.across_streams"}});
  checks.push_back({"leaks.lives",
                    "stream_destroy, event_destroy, memory_destroy, host_unregister",
                    left_behind,
                    leaks,
                    {"leaks.steady", "events.recording_of_the_call", "errors.stay"}});
  checks.push_back({"peers.copies",
                    "copy",
                    "`src` of HOIST_COPY_D2D may be memory of another device of this kind",
                    peer_copies,
                    {"copies.in_order", "fills.in_order"}});
  checks.push_back(
      {"peers.lives", "open, close", "Opens device `index`", peer_lives, {"events.wait", "host_functions.in_order"}});
}

}  // namespace device_check
