// SPDX-License-Identifier: Apache-2.0
#include "transfer/measure.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "base/log.hpp"
#include "unit/host/bench.hpp"

namespace hoist {
namespace {

void expect_close(double want, double got) { EXPECT_NEAR(1, got / want, 1e-9); }

std::uint64_t free_bytes(Bench& bench) {
  std::uint64_t free = 0;
  std::uint64_t total = 0;
  bench->query_memory(free, total);
  return free;
}

TEST(Measure, IsExactOnTheVirtualClock) {
  Bench bench("mode=virtual&h2d_gbps=55.4&d2h_gbps=20&latency_us=5.5&duplex_factor=0.87&bytes=none");
  const LinkCurve curve = measure_links(*bench);
  expect_close(55400, curve.h2d.bytes_per_us);
  expect_close(20000, curve.d2h.bytes_per_us);
  expect_close(5.5, curve.h2d.latency_us);
  expect_close(5.5, curve.d2h.latency_us);
  expect_close(0.87, curve.duplex_factor);
  EXPECT_EQ(free_bytes(bench), bench->properties().memory_bytes);
}

TEST(Measure, IsExactAtAnyScale) {
  for (const double gbps : {0.001, 1.0, 900.0}) {
    for (const double latency : {0.0, 1.0, 10000.0}) {
      Bench bench("mode=virtual&bytes=none&duplex_factor=0.5&h2d_gbps=" + std::to_string(gbps) +
                  "&d2h_gbps=" + std::to_string(gbps) + "&latency_us=" + std::to_string(latency));
      const LinkCurve curve = measure_links(*bench);
      EXPECT_NEAR(1, curve.h2d.bytes_per_us / (gbps * 1000), 1e-9) << gbps << " " << latency;
      EXPECT_NEAR(latency, curve.h2d.latency_us, 1e-9 * std::max(latency, 16e6 / (gbps * 1000)))
          << gbps << " " << latency;
      EXPECT_NEAR(0.5, curve.duplex_factor, 1e-9);
    }
  }
}

TEST(Measure, ALinkThatTakesNoTimeGivesFiniteNumbers) {
  Bench bench("mode=virtual&bytes=none");
  const LinkCurve curve = measure_links(*bench);
  EXPECT_EQ(0, curve.h2d.latency_us);
  EXPECT_TRUE(std::isfinite(curve.h2d.bytes_per_us) && curve.h2d.bytes_per_us > 1e6);
  EXPECT_EQ(1, curve.duplex_factor);
}

TEST(Measure, WorksInEveryModeAndIsQuick) {
  for (const char* mode : every_mode) {
    Bench bench(std::string("memory=256MiB&mode=") + mode);
    const auto begin = std::chrono::steady_clock::now();
    const LinkCurve curve = measure_links(*bench);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(took.count(), 2) << mode;  // 0.05 on a machine of one's own
    for (const LinkMeasure& link : {curve.h2d, curve.d2h}) {
      EXPECT_GE(link.latency_us, 0);
      EXPECT_GT(link.bytes_per_us, 1);
      EXPECT_TRUE(std::isfinite(link.bytes_per_us));
    }
    EXPECT_GT(curve.duplex_factor, 0);
    EXPECT_LE(curve.duplex_factor, 1);
    EXPECT_EQ(256u << 20, free_bytes(bench));
  }
}

TEST(Measure, SlowLinksAreFoundWithoutLongWaits) {
  Bench bench("mode=threaded&h2d_gbps=0.02&d2h_gbps=0.04");
  const auto begin = std::chrono::steady_clock::now();
  const LinkCurve curve = measure_links(*bench);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(took.count(), 2);
  for (const auto& [link, rate] : {std::pair(curve.h2d, 20.0), {curve.d2h, 40.0}}) {
    EXPECT_LT(link.bytes_per_us, 1.1 * rate);
    EXPECT_GT(link.bytes_per_us, rate / 20);  // a loaded machine wakes late
  }
}

// Copies that are held up at random, as on a busy machine: no link comes out as one that takes no time.
TEST(Measure, NoLinkIsInfinitelyFast) {
  for (int seed = 1; seed <= 40; ++seed) {
    Bench bench("mode=virtual&h2d_gbps=10&d2h_gbps=10&copy_delay_us=2000&seed=" + std::to_string(seed));
    const LinkCurve curve = measure_links(*bench);
    for (const LinkMeasure& link : {curve.h2d, curve.d2h}) EXPECT_LT(link.bytes_per_us, 1e9) << "seed " << seed;
  }
}

TEST(Measure, TakesLessWhereMemoryIsShort) {
  Bench bench("mode=virtual&memory=64KiB&h2d_gbps=10&d2h_gbps=10&latency_us=2");
  const LinkCurve curve = measure_links(*bench);
  expect_close(10000, curve.h2d.bytes_per_us);
  expect_close(2, curve.h2d.latency_us);
}

void count(void* warnings, hoist_log_level_t level, const char*) {
  if (level == HOIST_LOG_WARNING) ++*static_cast<int*>(warnings);
}

TEST(Measure, AFailureGivesGuessesAWarningAndLeavesNothingBehind) {
  for (const char* fault :
       {"memory_create@1", "memory_create@2", "host_register@2", "stream_create@2", "event_create@3", "copy@1",
        "copy@11", "event_record@9", "event_wait@5", "event_get_elapsed@4", "work@3"}) {
    Bench bench("mode=virtual&h2d_gbps=10&bytes=none");
    int warnings = 0;
    log_set(HOIST_LOG_WARNING, count, &warnings);
    bench->set("fail", fault);
    const LinkCurve curve = measure_links(*bench);
    log_set(HOIST_LOG_WARNING, nullptr, nullptr);
    EXPECT_EQ(1, warnings) << fault;
    EXPECT_EQ(10, curve.h2d.latency_us) << fault;
    EXPECT_GT(curve.d2h.bytes_per_us, 0);
    EXPECT_EQ(free_bytes(bench), bench->properties().memory_bytes) << fault;
  }
}

TEST(Measure, CurvesHaveTwelvePointsThatNeverFall) {
  Bench bench("mode=virtual&h2d_gbps=10&latency_us=5&bytes=none");
  const Curve curve = measure_curve(*bench, HOIST_COPY_H2D);
  for (std::size_t i = 0; i < curve.size(); ++i) {
    EXPECT_EQ(std::uint64_t{4096} << i, curve[i].bytes);
    expect_close(5 + static_cast<double>(curve[i].bytes) / 10000, curve[i].us);
  }
  Bench real("mode=threaded", 1);
  const Curve measured = measure_curve(*real, HOIST_COPY_D2H);
  for (std::size_t i = 1; i < measured.size(); ++i) EXPECT_GE(measured[i].us, measured[i - 1].us);
  EXPECT_GT(measured[0].us, 0);
}

}  // namespace
}  // namespace hoist
