// SPDX-License-Identifier: Apache-2.0
#include "transfer/loaded_links.hpp"

#include <gtest/gtest.h>

namespace hoist {
namespace {

const LinkCurve idle{{5, 1000}, {10, 500}, 0.9};

double idle_us(double bytes) { return 5 + bytes / 1000; }

TEST(LoadedLinks, TheCurveTakesTheScaleThatWasSeen) {
  LoadedLinks seen;
  double now = 0;
  for (int i = 0; i < 12; ++i) {
    const double bytes = i % 2 == 0 ? 100'000 : 1'000'000;
    const double us = 2 * idle_us(bytes) * (i == 7 ? 50 : 1);  // one that was held up decides nothing
    seen.add(true, static_cast<std::uint64_t>(bytes), now, now + us);
    now += us + 3;
  }
  const LinkCurve curve = seen.refine(idle);
  EXPECT_NEAR(10, curve.h2d.latency_us, 1e-9);
  EXPECT_NEAR(500, curve.h2d.bytes_per_us, 1e-6);
  EXPECT_EQ(10, curve.d2h.latency_us);  // never seen
  EXPECT_EQ(500, curve.d2h.bytes_per_us);
  EXPECT_EQ(0.9, curve.duplex_factor);
}

TEST(LoadedLinks, CopiesBesideTheOtherWayAreNoMeasure) {
  LoadedLinks seen;
  for (int i = 0; i < 8; ++i) {
    seen.add(true, 1'000'000, i * 5000.0, i * 5000.0 + 3 * idle_us(1'000'000));
    seen.add(false, 1'000'000, i * 5000.0 + 1000, i * 5000.0 + 4500);
  }
  EXPECT_EQ(1000, seen.refine(idle).h2d.bytes_per_us);
  // Four that were alone say more than eight that were not.
  for (int i = 10; i < 14; ++i) seen.add(true, 1'000'000, i * 5000.0, i * 5000.0 + 1.5 * idle_us(1'000'000));
  EXPECT_NEAR(1000 / 1.5, seen.refine(idle).h2d.bytes_per_us, 1e-6);
}

TEST(LoadedLinks, AFewCopiesOrAHairsBreadthChangeNothing) {
  LoadedLinks few;
  for (int i = 0; i < 3; ++i) few.add(true, 1'000'000, i * 1e5, i * 1e5 + 9e4);
  EXPECT_EQ(1000, few.refine(idle).h2d.bytes_per_us);
  LoadedLinks close;
  for (int i = 0; i < 9; ++i) close.add(true, 1'000'000, i * 1e5, i * 1e5 + 1.005 * idle_us(1'000'000));
  EXPECT_EQ(1000, close.refine(idle).h2d.bytes_per_us);
}

}  // namespace
}  // namespace hoist
