// SPDX-License-Identifier: Apache-2.0
// Times on the virtual clock against sums by hand. 10 GB/s is 10,000 bytes a µs.
#include "unit/host/bench.hpp"

namespace hoist {
namespace {

constexpr std::uint64_t mega = 1'000'000;

struct Clock : testing::Test {
  Bench bench{"mode=virtual&h2d_gbps=10&d2h_gbps=20&latency_us=5&duplex_factor=0.8&memory=1GiB"};
  std::vector<char> host = std::vector<char>(8 * mega);
  char* device = static_cast<char*>(bench.memory(8 * mega));
  void* a = bench.stream();
  void* b = bench.stream();
  void* c = bench.stream();

  void up(void* stream, std::uint64_t bytes) { bench->copy(stream, HOIST_COPY_H2D, device, host.data(), bytes); }
  void down(void* stream, std::uint64_t bytes) {
    bench->copy(stream, HOIST_COPY_D2H, host.data() + 4 * mega, device + 4 * mega, bytes);
  }
  void compute(void* stream, double us) {
    bench.call(
        stream, [] {}, us);
  }
};

TEST_F(Clock, HostCallsTakeNoTimeAndPollsAdvanceNothing) {
  up(a, mega);
  void* end = bench.mark(a);
  EXPECT_FALSE(bench->event_poll(end));
  EXPECT_EQ(0, bench->time_us());
  bench->event_wait(end);
  EXPECT_EQ(105, bench->time_us());
  EXPECT_TRUE(bench->event_poll(end));
}

TEST_F(Clock, ARecordOnAnIdleStreamIsReachedAtOnce) {
  EXPECT_TRUE(bench->event_poll(bench.mark(a)));
  bench->fill(a, device, 1, mega);  // takes no time
  EXPECT_TRUE(bench->event_poll(bench.mark(a)));
  EXPECT_EQ(0, bench->time_us());
}

TEST_F(Clock, ALinkCarriesOneCopyAtATimeInOrderOfSubmission) {
  up(a, mega);
  up(b, 2 * mega);
  void* first = bench.mark(a);
  void* second = bench.mark(b);
  EXPECT_EQ(105, bench.wait_us(first));
  EXPECT_EQ(105 + 205, bench.wait_us(second));
}

TEST_F(Clock, TheLinkGoesToWhoeverWasReadyFirst) {
  compute(a, 50);
  up(a, mega);  // submitted first, ready at 50
  compute(b, 20);
  up(b, mega);  // ready at 20
  void* late = bench.mark(a);
  void* early = bench.mark(b);
  EXPECT_EQ(20 + 105, bench.wait_us(early));
  EXPECT_EQ(20 + 105 + 105, bench.wait_us(late));
}

TEST_F(Clock, CopiesRunBesideCompute) {
  compute(a, 1000);
  up(b, mega);
  compute(a, 500);
  void* copied = bench.mark(b);
  void* computed = bench.mark(a);
  bench->stream_wait_event(c, copied);
  bench->stream_wait_event(c, computed);
  compute(c, 7);
  EXPECT_EQ(1507, bench.wait_us(bench.mark(c)));
  EXPECT_EQ(1395, bench->event_elapsed_us(copied, computed));
}

// h2d: 105 of work. d2h: 5 + 2e6 / 20e3 = 105. Both at 0.8: 131.25 each.
TEST_F(Clock, BothLinksAtOnceWorkAtTheDuplexFactor) {
  up(a, mega);
  down(b, 2 * mega);
  EXPECT_DOUBLE_EQ(131.25, bench.wait_us(bench.mark(a)));
  EXPECT_DOUBLE_EQ(131.25, bench.wait_us(bench.mark(b)));
}

// d2h (55 of work) joins at 40: until 40 h2d works alone. Then 55 / 0.8 = 68.75 together, to 108.75; h2d has
// 105 - 40 - 55 = 10 left and ends at 118.75.
TEST_F(Clock, DuplexAppliesToTheOverlapOnly) {
  up(a, mega);
  compute(b, 40);
  down(b, mega);
  void* stored = bench.mark(b);
  void* loaded = bench.mark(a);
  EXPECT_DOUBLE_EQ(108.75, bench.wait_us(stored));
  EXPECT_DOUBLE_EQ(118.75, bench.wait_us(loaded));
}

// One link's next copy begins at the instant at which its last one ends: the other link never sees it idle.
TEST_F(Clock, BackToBackCopiesKeepTheOtherLinkSlow) {
  up(a, mega);        // 105
  up(a, mega);        // 105
  down(b, 4 * mega);  // 205
  EXPECT_NEAR(205 / 0.8, bench.wait_us(bench.mark(b)), 1e-9);
  EXPECT_NEAR(205 / 0.8 + 5, bench.wait_us(bench.mark(a)), 1e-9);  // 210 of work, 205 of it slowed
}

TEST_F(Clock, WaitsStopTheClockAtTheirInstant) {
  compute(a, 10);
  void* early = bench.mark(a);
  compute(a, 100);
  up(b, mega);
  EXPECT_EQ(10, bench.wait_us(early));
  up(c, mega);  // submitted at 10, behind b's
  EXPECT_EQ(210, bench.wait_us(bench.mark(c)));
  bench->stream_wait(a);
  EXPECT_EQ(210, bench->time_us());  // reached long ago
}

TEST_F(Clock, BytesMoveWhenTheCopyEndsAndFunctionsRunAtTheirStart) {
  host[0] = 42;
  bench->fill(a, device, 0, 16);
  bench->stream_wait(a);
  up(a, mega);
  void* copied = bench.mark(a);
  char during = -1;
  char after = -1;
  compute(b, 104);
  bench.call(
      b, [&] { during = device[0]; }, 50);
  bench->stream_wait_event(c, copied);
  bench.call(c, [&] { after = device[0]; });
  bench->stream_wait(b);
  bench->stream_wait(c);
  EXPECT_EQ(0, during);
  EXPECT_EQ(42, after);
}

TEST_F(Clock, CopiesWithinTheDeviceUseNoLink) {
  bench->copy(a, HOIST_COPY_D2D, device, device + 4 * mega, mega);
  up(b, mega);
  EXPECT_EQ(1, bench.wait_us(bench.mark(a)));
  EXPECT_EQ(105, bench.wait_us(bench.mark(b)));
}

TEST(VirtualClock, RandomDelaysRepeatWithTheirSeed) {
  const auto run = [](const std::string& seed) {
    Bench bench("mode=virtual&h2d_gbps=10&latency_us=5&copy_delay_us=50&seed=" + seed);
    std::vector<char> host(1000);
    void* device = bench.memory(1000);
    void* streams[2] = {bench.stream(), bench.stream()};
    for (int i = 0; i < 20; ++i) bench->copy(streams[i % 2], HOIST_COPY_H2D, device, host.data(), 1000);
    bench->stream_wait(streams[0]);
    bench->stream_wait(streams[1]);
    return bench->time_us();
  };
  EXPECT_EQ(run("1"), run("1"));
  EXPECT_NE(run("1"), run("2"));
  EXPECT_GT(run("1"), 10 * 5.1);
}

TEST(VirtualClock, ThousandsOfOperationsAddUpExactly) {
  Bench bench("mode=virtual&h2d_gbps=8&latency_us=0.5&bytes=none");
  void* device = bench.memory(4096);
  std::vector<char> host(4096);
  void* stream = bench.stream();
  void* begin = bench.mark(stream);
  for (int i = 0; i < 10'000; ++i) bench->copy(stream, HOIST_COPY_H2D, device, host.data(), 4096);
  void* end = bench.mark(stream);
  bench->event_wait(end);
  EXPECT_NEAR(10'000 * (0.5 + 0.512), bench->event_elapsed_us(begin, end), 1e-6);
}

}  // namespace
}  // namespace hoist
