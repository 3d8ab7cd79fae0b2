// SPDX-License-Identifier: Apache-2.0
// What the times of a step say: whether units take other times than they had.
#include "budget/measure.hpp"

#include <gtest/gtest.h>

namespace hoist {
namespace {

class MeasureTest : public testing::Test {
 protected:
  static constexpr std::uint32_t units = 4;

  void SetUp() override { measure_.resize(units); }
  // One step in which each unit computes so long.
  void step(double compute_us) {
    ++step_;
    for (std::uint32_t unit = 0; unit < units; ++unit) {
      UnitSample sample;
      sample.unit = unit;
      sample.step = step_;
      sample.compute_us = compute_us;
      measure_.on_unit(sample);
    }
  }
  void steps(int count, double compute_us) {
    for (int i = 0; i < count; ++i) step(compute_us);
  }

  Measure measure_;
  std::uint64_t step_ = 0;
};

TEST_F(MeasureTest, FirstTimesAreNoNews) {
  EXPECT_FALSE(measure_.is_news());
  step(500);
  EXPECT_FALSE(measure_.is_news());
}

TEST_F(MeasureTest, AQuarterMoreOrLessIsNewsUntilTheMedianHasIt) {
  steps(8, 1000);
  step(1200);
  EXPECT_FALSE(measure_.is_news());
  step(1300);
  EXPECT_TRUE(measure_.is_news());
  steps(4, 1300);
  EXPECT_FALSE(measure_.is_news());
  step(700);
  EXPECT_TRUE(measure_.is_news());
}

TEST_F(MeasureTest, WhatTheHostsCallsTakeIsNoNews) {
  steps(8, 4);
  step(20);
  EXPECT_FALSE(measure_.is_news());
  step(40);
  EXPECT_TRUE(measure_.is_news());
}

}  // namespace
}  // namespace hoist
