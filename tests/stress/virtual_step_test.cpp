// SPDX-License-Identifier: Apache-2.0
// On the virtual clock the executed step takes as long as the plan predicts, trust mode included: what the
// executor waits for is what the rules of execution say, and nothing else.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "support/model_rig.hpp"

namespace hoist::test {
namespace {

constexpr auto read = plan::Mode::read;
constexpr auto write = plan::Mode::write;
constexpr auto read_write = plan::Mode::read_write;
constexpr const char* device =
    "host:0?mode=virtual&bytes=none&h2d_gbps=0.5&d2h_gbps=0.4&latency_us=5&duplex_factor=0.85";

bool all_rounds() { return std::getenv("HOIST_TEST_ALL") != nullptr; }

struct Outcome {
  double predicted_us = 0;
  double executed_us = 0;
  double bound_us = 0;
};

// Ten steps back to back, in the steady state.
Outcome serve(const Model& model, const BudgetOptions& options) {
  ModelRig rig(device, model, options);
  rig.steps(8);
  Outcome outcome;
  EXPECT_EQ(rig.budget().phase(), Phase::serving);
  rig.steps(20);
  rig.wait();
  const double begin = rig.device().time_us();
  rig.steps(10);
  rig.wait();
  outcome.executed_us = (rig.device().time_us() - begin) / 10;
  const BudgetStatus status = rig.budget().status();
  outcome.predicted_us = status.predicted.step_us;
  outcome.bound_us = status.predicted.bound_us;
  EXPECT_EQ(status.counters.mispredictions, 0U);
  EXPECT_EQ(status.counters.demand_loads, 0U);
  EXPECT_EQ(status.counters.refused_ops, 0U);
  return outcome;
}

class RandomModel {
 public:
  explicit RandomModel(std::uint32_t seed) : random_(seed) {}

  Model make() {
    const std::uint32_t units = between(1, 12);
    const std::uint32_t states = between(0, 2);
    const bool transients = between(0, 1) == 1;
    const double ratio = between(2, 30) / 10.0;  // compute over what its weights take to load
    for (std::uint32_t unit = 0; unit < units; ++unit) {
      std::uint64_t bytes = 0;
      model_.units.emplace_back();
      for (std::uint32_t i = between(1, 4); i > 0; --i) bytes += use(unit, false, read);
      if (between(0, 2) < states) bytes += use(unit, false, read_write);
      if (transients && unit + 1 < units) use(unit, true, write);
      model_.units[unit].modelled_us = ratio * static_cast<double>(bytes) / 500;
    }
    // Each transient is read again by a later unit, as activations are in a backward pass.
    for (std::uint32_t item = 0; item < model_.items.size(); ++item) {
      if (model_.items[item].transient) model_.units[between(owner_[item] + 1, units - 1)].uses.push_back({item, read});
    }
    return model_;
  }
  std::uint32_t between(std::uint32_t least, std::uint32_t most) { return least + random_() % (most - least + 1); }

 private:
  std::uint64_t use(std::uint32_t unit, bool transient, plan::Mode mode) {
    const auto item = static_cast<std::uint32_t>(model_.items.size());
    const std::uint64_t bytes = between(50, 200'000);
    model_.items.push_back({"t" + std::to_string(item), bytes, transient, false});
    model_.units[unit].uses.push_back({item, mode});
    owner_.push_back(unit);
    return bytes;
  }

  std::mt19937 random_;
  Model model_;
  std::vector<std::uint32_t> owner_;
};

class VirtualStepTest : public testing::TestWithParam<bool> {};

TEST_P(VirtualStepTest, TakesAsLongAsPredicted) {
  const int rounds = all_rounds() ? 1000 : 150;
  int off = 0;
  for (int seed = 1; seed <= rounds; ++seed) {
    RandomModel random(static_cast<std::uint32_t>(seed));
    const Model model = random.make();
    BudgetOptions options;
    options.share = random.between(30, 100) / 100.0;
    options.trust = GetParam();
    options.plan_effort = 1;
    try {
      const Outcome outcome = serve(model, options);
      EXPECT_NEAR(outcome.executed_us, outcome.predicted_us, 0.01 * outcome.predicted_us) << "seed " << seed;
      EXPECT_GE(outcome.executed_us, outcome.bound_us * 0.999) << "seed " << seed;
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), HOIST_ERROR_INFEASIBLE) << error.what();
      ++off;
    }
  }
  EXPECT_LT(off, rounds / 2) << "too few of the models fitted";
}

TEST_P(VirtualStepTest, IsNearTheBoundForUniformLayers) {
  for (double share : {0.2, 0.3, 0.5, 0.75, 0.9}) {
    for (double ratio : {1.1, 1.5, 3.0}) {
      Model model;
      for (std::uint32_t unit = 0; unit < 24; ++unit) {
        model.units.emplace_back();
        for (int tensor = 0; tensor < 9; ++tensor) {
          const auto item = static_cast<std::uint32_t>(model.items.size());
          model.items.push_back({"t" + std::to_string(item), 200'000, false, false});
          model.units[unit].uses.push_back({item, read});
        }
        model.units[unit].modelled_us = ratio * 9 * (5 + 200'000 / 500.0) * (1 - share);
      }
      BudgetOptions options;
      options.share = share;
      options.trust = GetParam();
      const Outcome outcome = serve(model, options);
      EXPECT_LE(outcome.executed_us, 1.02 * outcome.bound_us) << share << " " << ratio;
      EXPECT_NEAR(outcome.executed_us, outcome.predicted_us, 0.01 * outcome.predicted_us) << share << " " << ratio;
    }
  }
}

// The place of a is free when the first unit ends, the place of s only when its slow store has: poison of the
// one must not wait for the other.
TEST_P(VirtualStepTest, IsNotHeldUpByPoison) {
  BudgetOptions options;
  options.bytes = 2 * 8192;
  options.trust = GetParam();
  options.profile_steps = 0;
  const Model model{{{"s", 8192}, {"a", 8192}, {"b", 8192}}, {{{{0, read_write}, {1}}}, {{{2}}}}};
  ModelRig rig("host:0?mode=virtual&h2d_gbps=1&d2h_gbps=0.05", model, options);
  rig.steps(2);
  const auto problem = rig.budget().problem();
  PlanBuilder builder(*problem);
  builder.home("s", 0).home("a", 8192).home("b", 8192).initial("s", 0).initial("a", 8192);
  builder.store("s", 0).drop("s", 0).drop("a", 0).load("b", 0, 1, 8192);
  builder.drop("b", 1).load("a", 1, 0, 8192).load("s", 1, 0, 0);
  const plan::Plan plan = builder.build();
  rig.budget().request_replan(problem.get(), &plan);
  rig.steps(5);
  rig.wait();
  const double begin = rig.device().time_us();
  rig.step_begin();
  rig.run(0);
  rig.run(1);
  rig.step_end();
  rig.wait();
  EXPECT_LT(rig.device().time_us() - begin, 400) << "b took as long as the store of s";
  rig.steps(9);
  rig.wait();
  const double predicted = plan::simulate(*problem, plan).step_us;
  EXPECT_NEAR((rig.device().time_us() - begin) / 10, predicted, 0.1 * predicted);
  EXPECT_EQ(rig.wrong(), 0U);
}

std::string trust_name(const testing::TestParamInfo<bool>& it) { return it.param ? "Trust" : "Plain"; }

INSTANTIATE_TEST_SUITE_P(Executor, VirtualStepTest, testing::Bool(), trust_name);

}  // namespace
}  // namespace hoist::test
