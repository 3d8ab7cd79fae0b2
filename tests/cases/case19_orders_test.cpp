// SPDX-License-Identifier: Apache-2.0
// Cases 19 and 20: units in another order than planned, and steps that are given up, are served and counted;
// nothing is left in flight and no restart is needed.
#include <gtest/gtest.h>

#include "support/model_rig.hpp"

namespace hoist::test {
namespace {

constexpr auto read = plan::Mode::read;
constexpr auto write = plan::Mode::write;
constexpr auto read_write = plan::Mode::read_write;

Model three() { return {{{"a"}, {"b"}, {"c"}}, {{{{0, read_write}}}, {{{1, read_write}}}, {{{2, read_write}}}}}; }

// What is on the device is what the plan begins a step with.
bool rests_as_planned(ModelRig& rig) {
  rig.residency().wait_all();
  std::vector<bool> planned(rig.residency().items().size(), false);
  for (const plan::Place& place : rig.budget().plan()->initial_resident) planned[place.item] = true;
  for (std::uint32_t item = 0; item < planned.size(); ++item) {
    if (rig.residency().items()[item].place.set != planned[item]) return false;
  }
  return true;
}

TEST(Case19Orders, AreServedCountedAndPutBack) {
  BudgetOptions options;
  options.bytes = 2 * 4096;
  options.trust = true;
  ModelRig rig("host:0?mode=threaded&copy_delay_us=1000", three(), options);
  rig.steps(6);
  EXPECT_EQ(rig.budget().status().counters.mispredictions, 0U);
  rig.step({0, 2});
  EXPECT_EQ(rig.budget().status().counters.mispredictions, 1U);
  EXPECT_TRUE(rests_as_planned(rig));
  rig.step({0, 1, 1, 2});
  EXPECT_EQ(rig.budget().status().counters.mispredictions, 2U);
  EXPECT_TRUE(rests_as_planned(rig));
  rig.step();
  EXPECT_EQ(rig.budget().status().counters.mispredictions, 2U);
  EXPECT_EQ(rig.wrong(), 0U);
  EXPECT_EQ(rig.wrong_on_read_back(), 0U);
}

// Forward units write activations that backward units read.
Model training() {
  Model model;
  for (std::uint32_t layer = 0; layer < 3; ++layer) {
    const std::string name = "l" + std::to_string(layer);
    model.items.push_back({name + ".weight", 4096, false, false});
    model.items.push_back({name + ".act", 4096, true, false});
    model.units.push_back({{{2 * layer, read}, {2 * layer + 1, write}}, 100, 0});
  }
  for (std::uint32_t layer = 3; layer-- > 0;) {
    model.units.push_back({{{2 * layer, read_write}, {2 * layer + 1, read}}, 200, 0});
  }
  return model;
}

TEST(Case20Exceptions, AForwardWithoutGradientsAndATrainingStepFollow) {
  BudgetOptions options;
  options.bytes = 4 * 4096;
  options.trust = true;
  ModelRig rig("host:0?mode=threaded&copy_delay_us=500", training(), options);
  rig.steps(6);
  rig.step_begin();  // an exception in the middle of a forward
  rig.run(0);
  rig.begin(1);
  rig.budget().step_abort(rig.stream());
  rig.step({0, 1, 2});
  rig.step();
  // Evaluation for a while, so that its order is learned, and back.
  for (int i = 0; i < 4; ++i) rig.step({0, 1, 2});
  EXPECT_EQ(rig.budget().problem()->units.size(), 3U);
  for (int i = 0; i < 4; ++i) rig.step();
  EXPECT_EQ(rig.budget().problem()->units.size(), 6U);
  EXPECT_EQ(rig.budget().status().counters.aborted_steps, 1U);
  rig.wait();
  EXPECT_EQ(rig.wrong(), 0U);
  EXPECT_EQ(rig.wrong_on_read_back(), 0U);
}

}  // namespace
}  // namespace hoist::test
