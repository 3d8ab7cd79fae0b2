// SPDX-License-Identifier: Apache-2.0
// Cases 27 to 29: odd sizes pin no more than they are, memory that others take changes no plan, and sizes
// that are multiples of nothing come back equal.
#include <gtest/gtest.h>

#include <random>

#include "support/model_rig.hpp"

namespace hoist::test {
namespace {

// 77 MiB stand for the 1.2 GiB of the report: what is rounded up is a page a unit, whatever the size.
TEST(Case27OddSizes, PinWithinOnePercent) {
  std::mt19937 random(7);
  Model model;
  std::uint64_t bytes = 0;
  for (std::uint32_t unit = 0; unit < 20; ++unit) {
    model.units.emplace_back();
    for (int tensor = 0; tensor < 9; ++tensor) {
      const auto item = static_cast<std::uint32_t>(model.items.size());
      model.items.push_back({"t" + std::to_string(item), 200'000 + random() % 500'000 * 1, false, false});
      model.units[unit].uses.push_back({item});
      bytes += model.items.back().bytes;
    }
  }
  BudgetOptions options;
  options.share = 0.5;
  ModelRig rig("host:0?mode=threaded", model, options);
  EXPECT_GE(rig.budget().pinned().pinned_bytes(), bytes);
  EXPECT_LE(rig.budget().pinned().pinned_bytes(), bytes + bytes / 100);
}

TEST(Case28MemoryOfOthers, ChangesNoPlan) {
  Model model;
  for (std::uint32_t unit = 0; unit < 6; ++unit) {
    model.items.push_back({"w" + std::to_string(unit), 8192, false, false});
    model.units.push_back({{{unit}}, 100, 0});
  }
  BudgetOptions options;
  options.bytes = 4 * 8192;
  ModelRig rig("host:0?mode=threaded&memory=1MiB", model, options);
  rig.step();
  rig.device().set("memory_taken", "900KiB");  // while units are measured
  rig.steps(2);
  rig.device().set("memory_taken", "0");
  rig.steps(5);
  rig.wait();
  EXPECT_EQ(rig.budget().phase(), Phase::serving);
  EXPECT_EQ(rig.budget().status().budget_bytes, 4U * 8192);
  EXPECT_EQ(rig.wrong(), 0U);
}

TEST(Case29OddSizes, ComeBackEqual) {
  const std::uint64_t sizes[] = {0, 1, 2, 511, 512, 513, 1000, 4095, 4096, 4097, 12345, 65537};
  Model model;
  for (std::uint64_t bytes : sizes) {
    const auto item = static_cast<std::uint32_t>(model.items.size());
    model.items.push_back({"t" + std::to_string(item), bytes, false, item % 3 == 1});
    model.units.push_back({{{item, item % 2 == 0 ? plan::Mode::read_write : plan::Mode::read}}, 100, 0});
  }
  model.units.emplace_back();  // an empty unit
  BudgetOptions options;
  options.share = 0.8;
  options.trust = true;
  ModelRig rig("host:0?mode=threaded", model, options);
  rig.steps(9);
  rig.wait();
  EXPECT_EQ(rig.wrong(), 0U);
  EXPECT_EQ(rig.wrong_on_read_back(), 0U);
}

TEST(OneUnit, OfOneTensorRuns) {
  BudgetOptions options;
  options.trust = true;
  ModelRig rig("host:0?mode=threaded", {{{"t", 100}}, {{{{0, plan::Mode::read_write}}}}}, options);
  rig.steps(9);
  rig.wait();
  EXPECT_EQ(rig.wrong() + rig.wrong_on_read_back(), 0U);
}

TEST(NoTensor, AtAllRuns) {
  BudgetOptions options;
  ModelRig rig("host:0?mode=threaded", {{}, {{}, {}}}, options);
  rig.steps(9);
  EXPECT_EQ(rig.budget().status().counters.steps, 9U);
}

TEST(ManyTensors, AHundredThousandAreServed) {
  constexpr std::uint32_t units = 1000;
  constexpr std::uint32_t tensors = 100;  // of each
  Model model;
  for (std::uint32_t unit = 0; unit < units; ++unit) {
    model.units.emplace_back();
    for (std::uint32_t tensor = 0; tensor < tensors; ++tensor) {
      const std::uint32_t item = unit * tensors + tensor;
      model.items.push_back({"t" + std::to_string(item), 1 + item % 64, false, false});
      model.units.back().uses.push_back({item, tensor % 10 == 0 ? plan::Mode::read_write : plan::Mode::read});
    }
  }
  BudgetOptions options;
  options.share = 0.5;
  options.profile_steps = 1;
  ModelRig rig("host:0?mode=threaded", std::move(model), options);
  rig.steps(4);
  rig.wait();
  EXPECT_EQ(rig.budget().phase(), Phase::serving);
  EXPECT_EQ(rig.budget().status().counters.mispredictions, 0U);
  EXPECT_EQ(rig.wrong(), 0U);
  EXPECT_EQ(rig.wrong_on_read_back(), 0U);
}

}  // namespace
}  // namespace hoist::test
