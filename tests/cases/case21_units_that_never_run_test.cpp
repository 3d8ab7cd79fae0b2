// SPDX-License-Identifier: Apache-2.0
// Case 21: units that are registered and never run cost no slot and no stall.
#include <gtest/gtest.h>

#include "support/model_rig.hpp"

namespace hoist::test {
namespace {

constexpr const char* device = "host:0?mode=virtual&h2d_gbps=0.1&d2h_gbps=0.1";

Model model(std::uint32_t units) {
  Model model;
  for (std::uint32_t unit = 0; unit < units; ++unit) {
    model.items.push_back({"w" + std::to_string(unit), 40960, false, false});
    model.units.push_back({{{unit}}, 500, 0});
  }
  return model;
}

struct Outcome {
  double step_us;
  std::uint64_t moved;
};

Outcome serve(std::uint32_t registered) {
  BudgetOptions options;
  options.bytes = 4 * 40960;
  ModelRig rig(device, model(registered), options);
  for (int i = 0; i < 20; ++i) rig.step({0, 1, 2, 3, 4, 5});
  rig.wait();
  EXPECT_EQ(rig.wrong(), 0U);
  const double begin = rig.device().time_us();
  for (int i = 0; i < 10; ++i) rig.step({0, 1, 2, 3, 4, 5});
  rig.wait();
  return {(rig.device().time_us() - begin) / 10, rig.budget().status().last_step_h2d_bytes};
}

TEST(Case21UnitsThatNeverRun, CostNothing) {
  const Outcome alone = serve(6);
  const Outcome among_others = serve(30);
  EXPECT_GT(alone.moved, 0U);
  EXPECT_EQ(among_others.moved, alone.moved);
  EXPECT_NEAR(among_others.step_us, alone.step_us, 1e-3);
}

TEST(Case21UnitsThatNeverRun, AreThereWhenTheyDoRun) {
  BudgetOptions options;
  options.bytes = 4 * 40960;
  ModelRig rig(device, model(10), options);
  for (int i = 0; i < 8; ++i) rig.step({0, 1, 2, 3});
  rig.step({0, 1, 7, 2, 3});
  rig.wait();
  EXPECT_EQ(rig.wrong(), 0U);
  EXPECT_EQ(rig.budget().status().counters.mispredictions, 1U);
}

}  // namespace
}  // namespace hoist::test
