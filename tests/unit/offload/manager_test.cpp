// SPDX-License-Identifier: Apache-2.0
// The manager on every mode of the host device: bytes right, bytes moved, surprises served.
#include "offload/manager.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/rig.hpp"

namespace hoist::test {
namespace {

class ManagerModes : public testing::TestWithParam<const char*> {
 protected:
  RigOptions options(double share) const {
    RigOptions rig;
    rig.device = std::string("host:0?mode=") + GetParam();
    rig.states = true;
    rig.transients = true;
    rig.budget.share = share;
    rig.budget.trust = true;
    return rig;
  }
};

TEST_P(ManagerModes, StreamsUnderHalfOfTheBytes) {
  Rig rig(options(0.5));
  rig.run_steps(12);
  rig.wait();
  EXPECT_EQ(rig.wrong(), 0U);
  EXPECT_GT(rig.checked(), 0U);
  EXPECT_EQ(rig.budget().phase(), Phase::serving);
  const BudgetStatus status = rig.budget().status();
  EXPECT_GT(status.last_step_h2d_bytes, 0U);
  EXPECT_EQ(status.counters.mispredictions, 0U);
  EXPECT_EQ(status.counters.demand_loads, 0U);
  EXPECT_EQ(status.counters.refused_ops, 0U);
  EXPECT_EQ(rig.wrong_on_read_back(), 0U);
}

TEST_P(ManagerModes, NothingMovesAfterTheFirstStepWhenEverythingFits) {
  Rig rig(options(1.0));
  rig.run_step();
  rig.wait();
  rig.run_steps(8);
  rig.wait();
  EXPECT_EQ(rig.wrong(), 0U);
  const BudgetStatus status = rig.budget().status();
  EXPECT_EQ(status.last_step_h2d_bytes, 0U);
  EXPECT_EQ(status.last_step_d2h_bytes, 0U);
}

// Case 19: A, B, C; then A, C; then A, B, B, C.
TEST_P(ManagerModes, ServesAnyOrderAndCounts) {
  RigOptions rigged = options(0.5);
  rigged.transients = false;
  Rig rig(rigged);
  rig.run_steps(6);
  EXPECT_EQ(rig.budget().status().counters.mispredictions, 0U);
  const std::vector<std::vector<std::uint32_t>> orders{{0, 2}, {0, 1, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}, {3}, {}};
  for (const auto& order : orders) {
    rig.step_begin();
    for (std::uint32_t unit : order) rig.run_unit(unit);
    rig.step_end();
  }
  rig.run_steps(3);
  rig.wait();
  EXPECT_EQ(rig.wrong(), 0U);
  EXPECT_EQ(rig.wrong_on_read_back(), 0U);
  EXPECT_GT(rig.budget().status().counters.mispredictions, 0U);
}

TEST_P(ManagerModes, LearnsAnOrderThatComesTwice) {
  RigOptions rigged = options(0.5);
  rigged.transients = false;
  Rig rig(rigged);
  rig.run_steps(6);
  const auto reversed = [&] {
    rig.step_begin();
    for (std::uint32_t unit = rig.units(); unit-- > 0;) rig.run_unit(unit);
    rig.step_end();
  };
  reversed();
  reversed();
  const std::uint64_t counted = rig.budget().status().counters.mispredictions;
  EXPECT_GT(counted, 0U);
  for (int i = 0; i < 4; ++i) reversed();
  rig.wait();
  EXPECT_EQ(rig.budget().status().counters.mispredictions, counted);
  EXPECT_EQ(rig.wrong(), 0U);
}

TEST_P(ManagerModes, AbortsAndRecovers) {
  Rig rig(options(0.5));
  rig.run_steps(6);
  rig.step_begin();
  rig.run_unit(0);
  rig.begin_unit(1, rig.stream());
  rig.budget().step_abort(rig.stream());
  rig.run_steps(3);
  rig.wait();
  EXPECT_EQ(rig.wrong(), 0U);
  EXPECT_EQ(rig.wrong_on_read_back(), 0U);
  EXPECT_EQ(rig.budget().status().counters.aborted_steps, 1U);
  EXPECT_EQ(rig.budget().status().counters.mispredictions, 0U);
}

TEST_P(ManagerModes, SuspendsAndResumes) {
  Rig rig(options(0.5));
  rig.run_steps(6);
  rig.budget().suspend();
  EXPECT_EQ(rig.budget().status().arena_bytes, 0U);
  EXPECT_THROW(rig.step_begin(), Error);
  EXPECT_EQ(rig.wrong_on_read_back(), 0U);
  rig.budget().resume();
  rig.run_steps(3);
  rig.wait();
  EXPECT_EQ(rig.wrong(), 0U);
  EXPECT_EQ(rig.wrong_on_read_back(), 0U);
}

TEST_P(ManagerModes, ChangesTheBudgetWhileRunning) {
  Rig rig(options(0.5));
  rig.run_steps(6);
  for (double share : {0.75, 1.0, 0.4, 0.6}) {
    rig.budget().set_budget(0, share);
    rig.run_steps(3);
    EXPECT_EQ(rig.wrong_on_read_back(), 0U);
  }
  rig.wait();
  EXPECT_EQ(rig.wrong(), 0U);
  EXPECT_EQ(rig.budget().replan_state(), ReplanState::applied);
}

TEST_P(ManagerModes, UpdatesBytes) {
  Rig rig(options(0.5));
  rig.run_steps(5);
  for (std::uint32_t unit = 0; unit < rig.units(); ++unit) {
    rig.update_weight(unit, static_cast<std::uint8_t>(0x80 + unit));
    rig.run_step();
  }
  rig.step_begin();
  for (std::uint32_t unit = 0; unit < rig.units(); ++unit) {
    rig.update_weight((unit + 3) % rig.units(), static_cast<std::uint8_t>(0xA0 + unit));
    rig.run_unit(unit);
  }
  rig.step_end();
  rig.wait();
  EXPECT_EQ(rig.wrong(), 0U);
  EXPECT_EQ(rig.wrong_on_read_back(), 0U);
}

TEST_P(ManagerModes, NamesTheSmallestBudget) {
  RigOptions rigged = options(0.5);
  rigged.budget.share = 0;
  rigged.budget.bytes = 4096;
  try {
    Rig rig(rigged);
    FAIL() << "a budget below the smallest was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), HOIST_ERROR_INFEASIBLE);
    EXPECT_NE(std::string(error.what()).find("16384"), std::string::npos) << error.what();
  }
}

std::string mode_name(const testing::TestParamInfo<const char*>& it) {
  const std::string device = it.param;
  const std::string mode = device.substr(0, device.find('&'));
  return mode == device ? mode : mode + "_delayed";
}

INSTANTIATE_TEST_SUITE_P(Host, ManagerModes, testing::Values("inline", "threaded", "guarded", "virtual"), mode_name);
// A random delay on each copy; where copies do not run beside units it changes no order and only takes long.
INSTANTIATE_TEST_SUITE_P(Delayed, ManagerModes,
                         testing::Values("threaded&copy_delay_us=5000", "virtual&copy_delay_us=5000"), mode_name);

}  // namespace
}  // namespace hoist::test
