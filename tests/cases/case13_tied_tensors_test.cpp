// SPDX-License-Identifier: Apache-2.0
// Cases 13 and 14: embedding and head are one tensor, under two names: one item, moved once a step.
#include <gtest/gtest.h>

#include "support/model_rig.hpp"

namespace hoist::test {
namespace {

Model tied() {
  Model model{{{"embedding", 8192}}, {}};
  model.units.push_back({{{0}}, 100, 0});
  for (std::uint32_t layer = 1; layer < 4; ++layer) {
    model.items.push_back({"layer" + std::to_string(layer), 8192, false, false});
    model.units.push_back({{{layer}}, 100, 0});
  }
  model.units.push_back({{{0}}, 100, 0});  // the head
  return model;
}

TEST(Case13TiedTensors, AreOneItemThatIsMovedOnce) {
  BudgetOptions options;
  options.share = 1.0;
  ModelRig rig("host:0?mode=threaded", tied(), options);
  EXPECT_EQ(rig.budget().catalog().unique_bytes(), 4U * 8192);
  rig.step();
  rig.wait();
  EXPECT_EQ(rig.budget().status().h2d_bytes, 4U * 8192);
  rig.steps(4);
  rig.wait();
  EXPECT_EQ(rig.budget().status().last_step_h2d_bytes, 0U);
  EXPECT_EQ(rig.wrong(), 0U);
}

TEST(Case13TiedTensors, MoveAtMostOnceAStepUnderABudget) {
  BudgetOptions options;
  options.share = 0.75;
  ModelRig rig("host:0?mode=threaded", tied(), options);
  rig.steps(8);
  rig.wait();
  const std::uint64_t moved = rig.budget().status().last_step_h2d_bytes;
  EXPECT_GT(moved, 0U);
  EXPECT_LE(moved, 4U * 8192);
  EXPECT_EQ(rig.wrong(), 0U);
}

TEST(Case14TwoNames, AreOneItemWhoseUpdateBothSee) {
  BudgetOptions options;
  options.share = 0.75;
  ModelRig rig("host:0?mode=threaded", tied(), options, false);
  rig.manager().add_alias("head", 0);
  EXPECT_THROW(rig.manager().add_alias("embedding", 0), Error);
  rig.manager().commit();
  EXPECT_EQ(rig.manager().find_tensor("head"), rig.manager().find_tensor("embedding"));
  rig.steps(3);
  rig.update(0);
  rig.steps(2);
  rig.wait();
  EXPECT_EQ(rig.wrong(), 0U);
  EXPECT_EQ(rig.wrong_on_read_back(), 0U);
}

}  // namespace
}  // namespace hoist::test
