// SPDX-License-Identifier: Apache-2.0
// Words that streams wait for, and work that is captured into graphs.
#include <atomic>
#include <cstring>
#include <functional>
#include <thread>

#include "device_check/check.hpp"

namespace device_check {
namespace {

class Words {
 public:
  Words(Subject& subject, std::uint64_t count) : subject_(subject) { DC_OK(subject_, words_create, count, &words_); }
  ~Words() { subject_.ops().words_destroy(subject_.self(), words_); }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  uint32_t* at(std::uint64_t index) const { return words_ + index; }
  void store(std::uint64_t index, std::uint32_t value) { std::atomic_ref(words_[index]).store(value); }
  [[nodiscard]] std::uint32_t load(std::uint64_t index) const { return std::atomic_ref(words_[index]).load(); }
  hoist_word_op_t wait(std::uint64_t index, std::uint32_t value) const { return {at(index), value, HOIST_WORD_WAIT}; }
  hoist_word_op_t write(std::uint64_t index, std::uint32_t value) const { return {at(index), value, HOIST_WORD_WRITE}; }

 private:
  Subject& subject_;
  uint32_t* words_ = nullptr;
};

std::string words_between_streams(Subject& subject) {
  const HostMemory back(subject, 4096);
  const Memory memory(subject, 4096);
  Words words(subject, 3);
  require((words.load(0) | words.load(1) | words.load(2)) == 0, "words are not 0 at first");
  Stream one(subject);
  Stream other(subject);
  one.fill(memory.at(), 1, 4096);
  one.wait();
  const hoist_word_op_t consume[] = {words.wait(0, 5), words.write(0, 0)};
  const hoist_word_op_t produce[] = {words.write(0, 7)};
  DC_OK(subject, words_submit, one.get(), 2, consume);
  one.copy(HOIST_COPY_D2H, back.at(), memory.at(), 4096);
  other.fill(memory.at(), 9, 4096);
  DC_OK(subject, words_submit, other.get(), 1, produce);
  one.wait();
  other.wait();
  require(!subject.moves_bytes() || back.at()[4095] == 9,
          "a stream went on before the word that it waits for was written");
  require(words.load(0) == 0, "a word that a stream wrote is " + std::to_string(words.load(0)) + " instead of 0");
  return "";
}

std::string words_of_the_host(Subject& subject) {
  Words words(subject, 2);
  Stream stream(subject);
  const hoist_word_op_t ops[] = {words.wait(0, 1), words.write(1, 42)};
  DC_OK(subject, words_submit, stream.get(), 2, ops);
  const bool early = words.load(1) != 0;
  words.store(0, 1);
  stream.wait();
  require(!early, "a stream did not wait for the host's word");
  require(words.load(1) == 42, "a word that a stream wrote is " + std::to_string(words.load(1)) + " instead of 42");
  words.store(0, 0x80000001U);  // behind 1, as differences go
  words.store(1, 0);
  DC_OK(subject, words_submit, stream.get(), 2, ops);
  words.store(0, 3);
  stream.wait();
  return "";
}

// Captures what `body` submits, ends the capture however that ends, and launches it.
class Captured {
 public:
  Captured(Subject& subject, Stream& stream, const std::function<void()>& body) : subject_(subject) {
    DC_OK(subject_, capture_begin, stream.get());
    std::string failure;
    try {
      body();
    } catch (const std::exception& error) {
      failure = error.what();
    }
    DC_OK(subject_, capture_end, stream.get(), &graph_);
    if (failure.empty()) return;
    subject_.ops().graph_destroy(subject_.self(), graph_);
    throw Failure(failure);
  }
  ~Captured() { subject_.ops().graph_destroy(subject_.self(), graph_); }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  void launch(Stream& stream) { DC_OK(subject_, graph_launch, graph_, stream.get()); }

 private:
  Subject& subject_;
  void* graph_ = nullptr;
};

bool captures(Subject& subject, Stream& stream) {
  int capturing = -1;
  DC_OK(subject, capture_query, stream.get(), &capturing);
  return capturing == 1;
}

void count_up(void* count) { ++*static_cast<std::atomic<int>*>(count); }

std::string graphs_again(Subject& subject) {
  const HostMemory host(subject, 8192);
  const Memory memory(subject, 8192);
  std::atomic<int> calls{0};
  Stream stream(subject);
  Stream other(subject);
  std::memset(host.at(), 0, 8192);
  {
    Captured graph(subject, stream, [&] {
      require(captures(subject, stream), "capture_query gives 0 within a capture");
      stream.fill(memory.at(4096), 6, 4096);
      stream.copy(HOIST_COPY_D2D, memory.at(), memory.at(4096), 4096);
      stream.copy(HOIST_COPY_D2H, host.at(), memory.at(), 8192);
      stream.host(count_up, &calls);
    });
    require(!captures(subject, stream), "capture_query gives 1 after the capture");
    stream.wait();
    require(calls == 0, "work ran when it was captured");
    for (int i = 0; i < 3; ++i) {
      graph.launch(i == 1 ? other : stream);
      (i == 1 ? other : stream).wait();
    }
  }
  require(calls == 3, "three launches ran a host function " + std::to_string(calls.load()) + " times");
  require(!subject.moves_bytes() || (host.at()[0] == 6 && host.at()[8191] == 6), "a launch left wrong bytes");
  return "";
}

std::string graphs_and_events(Subject& subject) {
  std::atomic<int> calls{0};
  Event event(subject);
  Stream stream(subject);
  hoist_status_t recorded = HOIST_OK;
  Captured graph(subject, stream, [&] {
    recorded = DC_STATUS(subject, event_record, event.get(), stream.get());
    stream.host(count_up, &calls);
  });
  subject.expect("event_record in a capture", recorded, HOIST_ERROR_UNSUPPORTED);
  require(!event.poll(), "an event that was refused in a capture is called reached");
  graph.launch(stream);
  stream.wait();
  require(calls == 1, "a refused event spoiled the capture");
  return "";
}

// The graph takes what the stream aside brings, and tells it when the place is free.
std::string graphs_and_aside(Subject& subject) {
  if (!subject.has(HOIST_CAPABILITY_WORDS)) throw Skip("it does not claim HOIST_CAPABILITY_WORDS");
  constexpr int launches = 50;
  constexpr std::uint64_t bytes = 1 << 16;
  const HostMemory host(subject, bytes);
  const HostMemory back(subject, bytes);
  const Memory memory(subject, bytes);
  Words words(subject, 2);
  struct Sum {
    const std::uint8_t* seen;
    std::atomic<int> total{0};
    static void add(void* data) {
      auto* sum = static_cast<Sum*>(data);
      sum->total += sum->seen[0] + sum->seen[bytes - 1];
    }
  } sum{back.at()};
  std::memset(host.at(), 1, bytes);
  Stream stream(subject);
  void* aside = nullptr;
  DC_OK(subject, stream_create_aside, &aside);
  {
    Captured graph(subject, stream, [&] {
      const hoist_word_op_t take[] = {words.wait(0, 1), words.write(0, 0)};
      const hoist_word_op_t give[] = {words.write(1, 1)};
      DC_OK(subject, words_submit, stream.get(), 2, take);
      stream.copy(HOIST_COPY_D2H, back.at(), memory.at(), bytes);
      stream.host(Sum::add, &sum);
      stream.fill(memory.at(), 0, bytes);
      DC_OK(subject, words_submit, stream.get(), 1, give);
    });
    std::atomic<int> refused{0};
    std::thread feeder([&] {
      const hoist_word_op_t taken[] = {words.wait(1, 1), words.write(1, 0)};
      const hoist_word_op_t full[] = {words.write(0, 1)};
      const auto& ops = subject.ops();
      for (int i = 0; i < launches; ++i) {
        if (i != 0 && ops.words_submit(subject.self(), aside, 2, taken) != HOIST_OK) ++refused;
        if (ops.copy(subject.self(), aside, HOIST_COPY_H2D, memory.at(), host.at(), bytes) != HOIST_OK) ++refused;
        if (ops.words_submit(subject.self(), aside, 1, full) != HOIST_OK) ++refused;
      }
    });
    for (int i = 0; i < launches; ++i) graph.launch(stream);
    feeder.join();
    stream.wait();
    DC_OK(subject, stream_wait, aside);
    require(refused == 0, std::to_string(refused.load()) + " calls on the stream aside failed");
  }
  DC_CALL(subject, stream_destroy, aside);
  require(!subject.moves_bytes() || sum.total == 2 * launches,
          "a graph that was launched 50 times saw " + std::to_string(sum.total.load() / 2) + " loads");
  return "50 launches fed from beside";
}

}  // namespace

void add_graph_checks(Checks& checks) {
  const std::vector<const char*> basis = {"identity.claims", "copies.in_order", "fills.in_order"};
  checks.push_back({"words.between_streams", "words_create, words_destroy, words_submit",
                    "Streams wait for words of memory and write them.", words_between_streams, basis,
                    HOIST_CAPABILITY_WORDS});
  checks.push_back({"words.of_the_host",
                    "words_submit",
                    "Words that streams and the host read and write, all 0 at first.",
                    words_of_the_host,
                    {"words.between_streams"},
                    HOIST_CAPABILITY_WORDS});
  checks.push_back({"graphs.again", "capture_query, capture_begin, capture_end, graph_launch, graph_destroy",
                    "The graph's work, in its order, at the stream's end.", graphs_again, basis,
                    HOIST_CAPABILITY_GRAPH});
  checks.push_back({"graphs.events",
                    "capture_begin, event_record",
                    "From here on copies, fills, host functions and words of the stream go into a graph.",
                    graphs_and_events,
                    {"graphs.again"},
                    HOIST_CAPABILITY_GRAPH});
  checks.push_back({"graphs.aside",
                    "stream_create_aside, words_submit, graph_launch",
                    "A stream of its own that takes work whatever launches of graphs wait for on other threads",
                    graphs_and_aside,
                    {"graphs.again"},
                    HOIST_CAPABILITY_GRAPH});
}

}  // namespace device_check
