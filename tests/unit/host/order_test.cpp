// SPDX-License-Identifier: Apache-2.0
// Bytes and order: what streams and events promise, in every mode.
#include <cstring>
#include <tuple>

#include "unit/host/bench.hpp"

namespace hoist {
namespace {

using Order = EachMode;
HOIST_EACH_MODE(Order);

std::vector<unsigned char> pattern(std::size_t bytes, unsigned seed) {
  std::vector<unsigned char> result(bytes);
  for (std::size_t i = 0; i < bytes; ++i) result[i] = static_cast<unsigned char>(i * 131 + seed * 17 + (i >> 8));
  return result;
}

TEST_P(Order, CopiesMoveBytesEachWay) {
  Bench bench(options());
  constexpr std::size_t bytes = 100'003;
  void* stream = bench.stream();
  void* one = bench.memory(bytes);
  void* two = bench.memory(bytes);
  const auto source = pattern(bytes, 1);
  std::vector<unsigned char> back(bytes);
  bench->copy(stream, HOIST_COPY_H2D, one, source.data(), bytes);
  bench->copy(stream, HOIST_COPY_D2D, two, one, bytes);
  bench->fill(stream, two, 0xab, 1000);
  bench->copy(stream, HOIST_COPY_D2H, back.data(), two, bytes);
  bench->stream_wait(stream);
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(back[i], 0xab);
  EXPECT_EQ(0, std::memcmp(back.data() + 1000, source.data() + 1000, bytes - 1000));
}

TEST_P(Order, ZeroBytesAreNothing) {
  Bench bench(options());
  void* stream = bench.stream();
  bench->copy(stream, HOIST_COPY_H2D, nullptr, nullptr, 0);
  bench->fill(stream, nullptr, 0, 0);
  bench->access_begin(stream, nullptr, 0);
  bench->stream_wait(stream);
}

// A chain over three streams, each link by an event; without any of the waits some round would read old bytes.
TEST_P(Order, EventsOrderStreams) {
  Bench bench(options("copy_delay_us=60&seed=7"));
  constexpr std::size_t bytes = 4096;
  void* load = bench.stream();
  void* compute = bench.stream();
  void* store = bench.stream();
  auto* place = static_cast<unsigned char*>(bench.memory(bytes));
  void* loaded = bench.event();
  void* computed = bench.event();
  void* stored = bench.event();
  constexpr int rounds = 50;
  std::vector<std::vector<unsigned char>> sources, results(rounds, std::vector<unsigned char>(bytes));
  for (int i = 0; i < rounds; ++i) sources.push_back(pattern(bytes, static_cast<unsigned>(i)));
  for (int i = 0; i < rounds; ++i) {
    if (i > 0) bench->stream_wait_event(load, stored);
    bench->copy(load, HOIST_COPY_H2D, place, sources[i].data(), bytes);
    bench->event_record(loaded, load);
    bench->stream_wait_event(compute, loaded);
    bench->access_begin(compute, place, bytes);
    bench.call(
        compute,
        [place] {
          for (std::size_t k = 0; k < bytes; ++k) place[k] ^= 0x5a;
        },
        3);
    bench->access_end(compute, place, bytes);
    bench->event_record(computed, compute);
    bench->stream_wait_event(store, computed);
    bench->copy(store, HOIST_COPY_D2H, results[i].data(), place, bytes);
    bench->event_record(stored, store);
  }
  bench->event_wait(stored);
  for (int i = 0; i < rounds; ++i) {
    for (std::size_t k = 0; k < bytes; ++k) ASSERT_EQ(results[i][k], sources[i][k] ^ 0x5a) << "round " << i;
  }
}

TEST_P(Order, AnEventNeverRecordedIsNotReadyAndCannotBeWaitedFor) {
  Bench bench(options());
  void* event = bench.event();
  void* other = bench.event();
  void* stream = bench.stream();
  EXPECT_FALSE(bench->event_poll(event));
  EXPECT_EQ(HOIST_ERROR_ORDER, status_of([&] { bench->event_wait(event); }));
  EXPECT_EQ(HOIST_ERROR_ORDER, status_of([&] { bench->stream_wait_event(stream, event); }));
  bench->event_record(other, stream);
  bench->event_wait(other);
  EXPECT_EQ(HOIST_ERROR_INVALID_STATE, status_of([&] { std::ignore = bench->event_elapsed_us(other, event); }));
}

TEST_P(Order, ReachedEventsAreReadyAndTimed) {
  Bench bench(options());
  void* stream = bench.stream();
  void* begin = bench.mark(stream);
  bench.call(
      stream, [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }, 2000);
  void* end = bench.mark(stream);
  bench->event_wait(end);
  EXPECT_TRUE(bench->event_poll(begin));
  EXPECT_TRUE(bench->event_poll(end));
  const double elapsed = bench->event_elapsed_us(begin, end);
  EXPECT_GE(elapsed, 2000);
  EXPECT_EQ(-elapsed, bench->event_elapsed_us(end, begin));
}

TEST_P(Order, AWaitOutlivesItsEvent) {
  Bench bench(options());
  void* first = bench.stream();
  void* second = bench.stream();
  int value = 0;
  int seen = 0;
  void* event = bench->event_create();
  bench.call(
      first,
      [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
        value = 1;
      },
      50);
  bench->event_record(event, first);
  bench->stream_wait_event(second, event);
  bench->event_destroy(event);
  bench.call(
      second, [&] { seen = value; }, 1);
  bench->stream_wait(second);
  EXPECT_EQ(1, seen);
}

TEST_P(Order, DestroyingAStreamWaitsForItsWork) {
  Bench bench(options());
  void* stream = bench->stream_create();
  void* other = bench.stream();
  int value = 0;
  int seen = 0;
  bench.call(
      stream,
      [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
        value = 1;
      },
      50);
  void* event = bench.mark(stream);
  bench->stream_wait_event(other, event);
  bench->stream_destroy(stream);
  EXPECT_EQ(1, value);
  bench.call(other, [&] { seen = value; });
  bench->event_wait(event);  // of a stream that is gone
  bench->stream_wait(other);
  EXPECT_EQ(1, seen);
}

// The wait is for the recording of its moment: the event moves on to a stream that is held up, the waiter does not.
TEST(Snapshot, ThreadedWaitsAreNotDisturbedByRecordingAgain) {
  Bench bench("mode=threaded");
  void* quick = bench.stream();
  void* held = bench.stream();
  void* waiter = bench.stream();
  void* event = bench.event();
  std::atomic<bool> go{false};
  bench.call(held, [&] {
    while (!go) std::this_thread::yield();
  });
  bench->event_record(event, quick);
  bench->stream_wait_event(waiter, event);
  bench->event_record(event, held);
  bench->stream_wait(waiter);  // would not end
  EXPECT_FALSE(bench->event_poll(event));
  EXPECT_EQ(HOIST_ERROR_INVALID_STATE, status_of([&] { std::ignore = bench->event_elapsed_us(event, event); }));
  go = true;
  bench->event_wait(event);
  EXPECT_TRUE(bench->event_poll(event));
}

TEST(Snapshot, VirtualWaitsAreNotDisturbedByRecordingAgain) {
  Bench bench("mode=virtual");
  void* quick = bench.stream();
  void* held = bench.stream();
  void* waiter = bench.stream();
  void* event = bench.event();
  bench.call(
      quick, [] {}, 10);
  bench.call(
      held, [] {}, 1000);
  bench->event_record(event, quick);
  bench->stream_wait_event(waiter, event);
  bench->event_record(event, held);
  bench->stream_wait(waiter);
  EXPECT_EQ(10, bench->time_us());
  bench->event_wait(event);
  EXPECT_EQ(1000, bench->time_us());
}

// Real asynchrony: submissions return while the device is held up, and two streams run beside each other.
TEST(Threaded, SubmissionsReturnAtOnceAndStreamsRunBesideEachOther) {
  Bench bench("mode=threaded");
  void* one = bench.stream();
  void* two = bench.stream();
  std::atomic<int> stage{0};
  bench.call(one, [&] {
    while (stage != 1) std::this_thread::yield();
    stage = 2;
  });
  EXPECT_EQ(0, stage);
  bench.call(two, [&] {
    stage = 1;
    while (stage != 2) std::this_thread::yield();
  });
  bench->stream_wait(one);
  bench->stream_wait(two);
  EXPECT_EQ(2, stage);
}

TEST_P(Order, SeveralThreadsWaitForOneStreamAndOneEvent) {
  Bench bench(options());
  void* stream = bench.stream();
  std::atomic<int> value{0};
  for (int i = 0; i < 20; ++i)
    bench.call(
        stream,
        [&] {
          ++value;
          std::this_thread::yield();
        },
        5);
  void* event = bench.mark(stream);
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      if (i % 2 == 0)
        bench->event_wait(event);
      else
        bench->stream_wait(stream);
      if (value == 20) ++right;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(4, right);
}

TEST_P(Order, ThreadsUseStreamsOfTheirOwnAtOnce) {
  Bench bench(options("copy_delay_us=5"));
  constexpr int count = 4;
  constexpr std::size_t bytes = 8192;
  std::vector<void*> streams, places, events;
  for (int i = 0; i < count; ++i) {
    streams.push_back(bench.stream());
    places.push_back(bench.memory(bytes));
    events.push_back(bench.event());
  }
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      const auto source = pattern(bytes, static_cast<unsigned>(i));
      std::vector<unsigned char> back(bytes);
      for (int round = 0; round < 30; ++round) {
        std::fill(back.begin(), back.end(), 0);
        bench->copy(streams[i], HOIST_COPY_H2D, places[i], source.data(), bytes);
        bench->copy(streams[i], HOIST_COPY_D2H, back.data(), places[i], bytes);
        bench->event_record(events[i], streams[i]);
        while (round % 3 == 0 && bench->event_poll(events[i])) break;
        bench->event_wait(events[i]);
        if (back == source) ++right;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(count * 30, right);
}

}  // namespace
}  // namespace hoist
