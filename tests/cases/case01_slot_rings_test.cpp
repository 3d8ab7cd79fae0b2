// SPDX-License-Identifier: Apache-2.0
// Case 1: 1 to 9 streamed units in 2 to 5 slots, unit i's bytes all i, five steps: unit i reads i, always.
#include <gtest/gtest.h>

#include "support/rig.hpp"
#include "support/ring_plan.hpp"

namespace hoist::test {
namespace {

TEST(Case01SlotRings, UnitIReadsI) {
  for (std::uint32_t units = 1; units <= 9; ++units) {
    for (std::uint32_t slots = 2; slots <= 5; ++slots) {
      RigOptions options;
      options.device = "host:0?mode=threaded&copy_delay_us=300";
      options.units = units;
      options.budget.bytes = Ring::budget(options.bytes, slots, false, false);
      options.budget.profile_steps = 1;
      options.budget.plan_effort = 1;
      Rig rig(options);
      rig.run_steps(2);
      const auto problem = rig.budget().problem();
      const plan::Plan plan = Ring(*problem, slots).plan();
      rig.budget().request_replan(problem.get(), &plan);
      rig.run_steps(5);
      rig.wait();
      EXPECT_EQ(rig.wrong(), 0U) << units << " units, " << slots << " slots";
      EXPECT_EQ(rig.checked(), 7U * units * options.bytes);
      EXPECT_EQ(rig.budget().status().last_step_h2d_bytes > 0, units > slots);
    }
  }
}

}  // namespace
}  // namespace hoist::test
