// SPDX-License-Identifier: Apache-2.0
// What hoist/device_ops.h promises of addresses that are mapped, of words and of graphs, on any device that has them.
// One that has them not refuses.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include "support/device_objects.hpp"
#include "support/devices.hpp"

namespace hoist {
namespace {

using test::DeviceMemory;
using test::EventOf;
using test::HostMemory;
using test::StreamOf;

class GraphConformance : public test::OnDevice {
 protected:
  static hoist_status_t status_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_STRNE("", error.what());
      return error.code();
    }
    return HOIST_OK;
  }
  [[nodiscard]] std::uint64_t granule() const { return device->properties().granularity; }
  static void store(std::uint32_t* word, std::uint32_t value) { std::atomic_ref(*word).store(value); }
  static std::uint32_t load(std::uint32_t* word) { return std::atomic_ref(*word).load(); }
  void set(void* stream, void* memory, std::uint8_t value, std::uint64_t bytes) {
    device->fill(stream, memory, value, bytes);
    device->stream_wait(stream);
  }
  std::uint8_t byte_at(void* stream, const void* memory) {
    HostMemory host(device, 64, true);
    device->copy(stream, HOIST_COPY_D2H, host.bytes(), memory, 64);
    device->stream_wait(stream);
    return host.bytes()[63];
  }
};

#define NEEDS(capability) \
  if (!device->has(capability)) GTEST_SKIP() << device->name() << " does not claim " #capability

TEST_P(GraphConformance, WhatIsNotClaimedIsRefused) {
  if (!device->has(HOIST_CAPABILITY_REMAP)) {
    EXPECT_EQ(HOIST_ERROR_UNSUPPORTED, status_of([&] { device->handle_create(1 << 21); }));
    EXPECT_EQ(HOIST_ERROR_UNSUPPORTED, status_of([&] { device->address_reserve(1 << 21); }));
  }
  if (!device->has(HOIST_CAPABILITY_WORDS)) {
    EXPECT_EQ(HOIST_ERROR_UNSUPPORTED, status_of([&] { device->words_create(4); }));
  }
  if (!device->has(HOIST_CAPABILITY_GRAPH)) {
    StreamOf stream(device);
    EXPECT_EQ(HOIST_ERROR_UNSUPPORTED, status_of([&] { device->capture_begin(stream.get()); }));
  }
}

TEST_P(GraphConformance, AddressesStayAndMemoryBehindThemChanges) {
  NEEDS(HOIST_CAPABILITY_REMAP);
  const std::uint64_t g = granule();
  StreamOf stream(device);
  char* base = static_cast<char*>(device->address_reserve(4 * g));
  EXPECT_EQ(0U, reinterpret_cast<std::uintptr_t>(base) % g);
  void* one = device->handle_create(g);
  void* two = device->handle_create(g);
  device->memory_map(base, g, one);
  device->memory_map(base + g, g, two);
  set(stream.get(), base, 1, 2 * g);  // across the two
  set(stream.get(), base + g, 2, g);
  device->memory_unmap(base, g);
  device->memory_map(base, g, two);  // behind two addresses at once
  EXPECT_EQ(2, byte_at(stream.get(), base));
  set(stream.get(), base, 3, g);
  EXPECT_EQ(3, byte_at(stream.get(), base + g));
  device->memory_map(base + 3 * g, g, one);  // what a handle held stays with it
  EXPECT_EQ(1, byte_at(stream.get(), base + 3 * g));
  for (std::uint64_t at : {std::uint64_t{0}, g, 3 * g}) device->memory_unmap(base + at, g);
  device->handle_destroy(one);
  device->handle_destroy(two);
  device->address_release(base, 4 * g);
}

TEST_P(GraphConformance, HandlesAreWholeAndCounted) {
  NEEDS(HOIST_CAPABILITY_REMAP);
  const std::uint64_t g = granule();
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  std::uint64_t total = 0;
  device->query_memory(before, total);
  void* handle = device->handle_create(32 * g);
  device->query_memory(after, total);
  EXPECT_LE(after + 32 * g, before);
  char* base = static_cast<char*>(device->address_reserve(64 * g));
  EXPECT_NE(HOIST_OK, status_of([&] { device->memory_map(base, g, handle); })) << "a part of a handle";
  device->memory_map(base, 32 * g, handle);
  EXPECT_NE(HOIST_OK, status_of([&] { device->memory_map(base, 32 * g, handle); })) << "there is memory already";
  device->memory_unmap(base, 32 * g);
  device->handle_destroy(handle);
  device->address_release(base, 64 * g);
  EXPECT_EQ(HOIST_ERROR_OUT_OF_MEMORY, status_of([&] { device->handle_create((total / g + 1) * g); }));
}

TEST_P(GraphConformance, AStreamWaitsForAWordThatAnotherWrites) {
  NEEDS(HOIST_CAPABILITY_WORDS);
  StreamOf one(device);
  StreamOf other(device);
  DeviceMemory memory(device, 4096);
  std::uint32_t* words = device->words_create(3);
  EXPECT_EQ(0U, words[0] + words[1] + words[2]);
  set(one.get(), memory.get(), 1, 4096);
  const hoist_word_op_t consume[] = {{&words[0], 5, HOIST_WORD_WAIT}, {&words[0], 0, HOIST_WORD_WRITE}};
  const hoist_word_op_t produce[] = {{&words[0], 7, HOIST_WORD_WRITE}};
  device->words_submit(one.get(), 2, consume);
  HostMemory back(device, 4096, true);
  device->copy(one.get(), HOIST_COPY_D2H, back.bytes(), memory.get(), 4096);
  device->fill(other.get(), memory.get(), 9, 4096);
  device->words_submit(other.get(), 1, produce);
  device->stream_wait(one.get());
  EXPECT_EQ(9, back.bytes()[4095]);
  EXPECT_EQ(0U, load(&words[0]));
  device->stream_wait(other.get());
  device->words_destroy(words);
}

TEST_P(GraphConformance, TheHostLetsAWaitGo) {
  NEEDS(HOIST_CAPABILITY_WORDS);
  StreamOf stream(device);
  std::uint32_t* words = device->words_create(2);
  const hoist_word_op_t ops[] = {{&words[0], 1, HOIST_WORD_WAIT}, {&words[1], 42, HOIST_WORD_WRITE}};
  device->words_submit(stream.get(), 2, ops);
  EXPECT_EQ(0U, load(&words[1]));
  store(&words[0], 1);
  device->stream_wait(stream.get());
  EXPECT_EQ(42U, load(&words[1]));
  store(&words[0], 0x80000001U);  // behind 1, as differences go
  device->words_submit(stream.get(), 1, ops);
  store(&words[0], 3);
  device->stream_wait(stream.get());
  device->words_destroy(words);
}

// Captures what `body` submits, and launches it.
class Captured {
 public:
  Captured(Device& device, void* stream, const std::function<void()>& body) : device_(device) {
    device_.capture_begin(stream);
    body();
    graph_ = device_.capture_end(stream);
  }
  ~Captured() { device_.graph_destroy(graph_); }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  void launch(void* stream) { device_.graph_launch(graph_, stream); }

 private:
  Device& device_;
  void* graph_ = nullptr;
};

TEST_P(GraphConformance, AGraphDoesAgainWhatWasCaptured) {
  NEEDS(HOIST_CAPABILITY_GRAPH);
  StreamOf stream(device);
  DeviceMemory memory(device, 8192);
  HostMemory host(device, 8192, true);
  set(stream.get(), memory.get(), 1, 8192);
  std::atomic<int> calls{0};
  auto* half = static_cast<char*>(memory.get()) + 4096;
  {
    Captured graph(*device, stream.get(), [&] {
      EXPECT_TRUE(device->is_capturing(stream.get()));
      device->fill(stream.get(), half, 6, 4096);
      device->copy(stream.get(), HOIST_COPY_D2D, memory.get(), half, 4096);
      device->copy(stream.get(), HOIST_COPY_D2H, host.bytes(), memory.get(), 8192);
      device->host_function(
          stream.get(), [](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &calls, 0);
    });
    EXPECT_FALSE(device->is_capturing(stream.get()));
    device->stream_wait(stream.get());
    EXPECT_EQ(0, calls) << "nothing has run yet";
    EXPECT_EQ(1, byte_at(stream.get(), memory.get()));
    StreamOf other(device);
    for (int i = 0; i < 3; ++i) graph.launch(i == 1 ? other.get() : stream.get());
    device->stream_wait(other.get());
    device->stream_wait(stream.get());
  }
  EXPECT_EQ(3, calls);
  EXPECT_EQ(6, host.bytes()[0]);
}

// An event that is recorded in a capture is never reached: it is refused, and the capture goes on.
TEST_P(GraphConformance, EventsAreNotRecordedInACapture) {
  NEEDS(HOIST_CAPABILITY_GRAPH);
  StreamOf stream(device);
  EventOf event(device);
  std::atomic<int> calls{0};
  Captured graph(*device, stream.get(), [&] {
    EXPECT_EQ(HOIST_ERROR_UNSUPPORTED, status_of([&] { device->event_record(event.get(), stream.get()); }));
    device->host_function(
        stream.get(), [](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &calls, 0);
  });
  EXPECT_FALSE(device->event_poll(event.get()));
  graph.launch(stream.get());
  device->stream_wait(stream.get());
  EXPECT_EQ(1, calls);
}

// A stream aside feeds a graph of which many launches wait, and is told by it when a place is free.
TEST_P(GraphConformance, AStreamAsideFeedsLaunchesThatWait) {
  NEEDS(HOIST_CAPABILITY_GRAPH);
  NEEDS(HOIST_CAPABILITY_WORDS);
  constexpr int launches = 100;
  static constexpr std::uint64_t bytes = 1 << 16;
  StreamOf stream(device);
  void* aside = device->stream_create_aside();
  DeviceMemory memory(device, bytes);
  HostMemory host(device, bytes, true);
  std::uint32_t* words = device->words_create(2);
  struct Sum {
    const std::uint8_t* seen;
    std::atomic<int> total{0};
  };
  HostMemory back(device, bytes, true);
  Sum sum{back.bytes()};
  std::memset(host.bytes(), 1, bytes);
  {
    Captured graph(*device, stream.get(), [&] {
      const hoist_word_op_t take[] = {{&words[0], 1, HOIST_WORD_WAIT}, {&words[0], 0, HOIST_WORD_WRITE}};
      const hoist_word_op_t give[] = {{&words[1], 1, HOIST_WORD_WRITE}};
      device->words_submit(stream.get(), 2, take);
      device->copy(stream.get(), HOIST_COPY_D2H, back.bytes(), memory.get(), bytes);
      const auto add = [](void* data) {
        auto* it = static_cast<Sum*>(data);
        it->total += it->seen[0] + it->seen[bytes - 1];
      };
      device->host_function(stream.get(), add, &sum, 0);
      device->fill(stream.get(), memory.get(), 0, bytes);
      device->words_submit(stream.get(), 1, give);
    });
    std::thread feeder([&] {
      const hoist_word_op_t taken[] = {{&words[1], 1, HOIST_WORD_WAIT}, {&words[1], 0, HOIST_WORD_WRITE}};
      const hoist_word_op_t full[] = {{&words[0], 1, HOIST_WORD_WRITE}};
      for (int i = 0; i < launches; ++i) {
        if (i != 0) device->words_submit(aside, 2, taken);
        device->copy(aside, HOIST_COPY_H2D, memory.get(), host.bytes(), bytes);
        device->words_submit(aside, 1, full);
      }
    });
    for (int i = 0; i < launches; ++i) graph.launch(stream.get());
    feeder.join();
    device->stream_wait(stream.get());
    device->stream_wait(aside);
  }
  EXPECT_EQ(2 * launches, sum.total);
  device->stream_destroy(aside);
  device->words_destroy(words);
}

INSTANTIATE_TEST_SUITE_P(All, GraphConformance, ::testing::ValuesIn(test::device_names_to_test()), test::test_name);

}  // namespace
}  // namespace hoist
