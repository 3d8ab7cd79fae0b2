// SPDX-License-Identifier: Apache-2.0
// Every slot ring of 1 to 9 units over 2 to 5 places, as imported plans, through everything that can
// happen to them: no unit ever sees a byte that is not its own. Case 1 is the small core.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <thread>

#include "base/error.hpp"
#include "support/rig.hpp"
#include "support/ring_plan.hpp"

namespace hoist::test {
namespace {

bool all_rounds() { return std::getenv("HOIST_TEST_ALL") != nullptr; }

struct Shape {
  std::uint32_t units;
  std::uint32_t slots;
};

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (std::uint32_t units = 1; units <= 9; ++units) {
    for (std::uint32_t slots = 2; slots <= 5; ++slots) all.push_back({units, slots});
  }
  return all;
}

RigOptions rig_options(const Shape& shape, bool states, bool transients) {
  RigOptions options;
  options.units = shape.units;
  options.bytes = 700;  // no multiple of anything
  options.states = states;
  options.transients = transients;
  options.budget.bytes = Ring::budget(options.bytes, shape.slots, states, transients);
  options.budget.profile_steps = 1;
  options.budget.plan_effort = 1;
  options.budget.trust = true;
  return options;
}

class Driver {
 public:
  Driver(const Shape& shape, bool states, bool transients, std::uint32_t seed)
      : shape_(shape), transients_(transients), rig_(rig_options(shape, states, transients)), random_(seed) {}

  Rig& rig() { return rig_; }

  // The ring, once the order of units is known and the planned one.
  void request_ring() {
    const auto problem = rig_.budget().problem();
    if (!in_order(*problem) || !rig_.budget().can_replan()) return;
    const std::uint32_t slots = 2 + random_() % (shape_.slots - 1);
    rig_.budget().request_replan(problem.get(), std::make_unique<plan::Plan>(Ring(*problem, slots).plan()).get());
  }

  void surprise() {
    between_steps();
    const std::uint32_t kind = random_() % 8;
    alive_.assign(shape_.units, false);
    try {
      rig_.step_begin();
      if (kind < 4) run_mostly_in_order(kind);
      if (kind == 4) run_anyhow();
      if (kind >= 5) run_in_order();
      if (kind == 7) return abort();
      rig_.step_end();
    } catch (const Error& error) {
      // A unit may be refused where what it reads was never written, or has been read for the last time.
      const bool there = refused_ > 0 && alive_[refused_ - 1];
      if (error.code() != HOIST_ERROR_STALE || !transients_ || there) throw;
      rig_.budget().step_abort(rig_.stream());
    }
  }

 private:
  bool in_order(const plan::Problem& problem) const {
    if (problem.units.size() != shape_.units) return false;
    for (std::uint32_t unit = 0; unit < shape_.units; ++unit) {
      if (problem.units[unit].name != "u" + std::to_string(unit)) return false;
    }
    return true;
  }

  void between_steps() {
    switch (random_() % 12) {
      case 0:
      case 1:
        return request_ring();
      case 2:
        if (rig_.budget().can_replan()) rig_.budget().request_replan(nullptr, nullptr);
        return;
      case 3:
        rig_.budget().suspend();
        EXPECT_EQ(rig_.wrong_on_read_back(), 0U);
        return rig_.budget().resume();
      case 4:
        return rig_.update_weight(random_() % shape_.units, static_cast<std::uint8_t>(random_()));
      case 5:
        EXPECT_EQ(rig_.wrong_on_read_back(), 0U);
        return;
      case 6:
        return rig_.device().set("copy_delay_us", delays_[random_() % 3]);
      default:
        return;
    }
  }

  void between_units() {
    const std::uint32_t chance = random_() % 64;
    if (chance == 0) {
      EXPECT_EQ(rig_.wrong_on_read_back(), 0U);
    }
    if (chance == 1) rig_.update_weight(random_() % shape_.units, static_cast<std::uint8_t>(random_()));
  }

  void run(std::uint32_t unit) {
    between_units();
    refused_ = unit;
    rig_.run_unit_on(unit, random_() % 8 == 0 ? rig_.other_stream() : rig_.stream());
    ran(unit);
  }

  // Unit u writes what unit u + 1 reads.
  void ran(std::uint32_t unit) {
    alive_[unit] = true;
    if (unit > 0) alive_[unit - 1] = false;
  }

  void run_in_order() {
    for (std::uint32_t unit = 0; unit < shape_.units; ++unit) run(unit);
  }
  // 0: one is left out; 1: one comes twice; 2: a jump ahead; 3: the first half only.
  void run_mostly_in_order(std::uint32_t kind) {
    const std::uint32_t odd = random_() % shape_.units;
    for (std::uint32_t unit = 0; unit < shape_.units; ++unit) {
      if (kind == 0 && unit == odd) continue;
      if (kind == 2 && unit == odd) unit += random_() % (shape_.units - unit);
      if (kind == 3 && unit > odd) break;
      run(unit);
      if (kind == 1 && unit == odd) run(unit);
    }
  }
  void run_anyhow() {
    for (std::uint32_t i = random_() % (shape_.units + 2); i > 0; --i) run(random_() % shape_.units);
  }
  void abort() {
    refused_ = random_() % shape_.units;
    if (random_() % 2 == 0) rig_.begin_unit(refused_, rig_.stream());
    rig_.budget().step_abort(rig_.stream());
  }

  Shape shape_;
  bool transients_;
  Rig rig_;
  std::mt19937 random_;
  std::vector<bool> alive_;  // by unit: what it wrote in this step has not been read
  std::uint32_t refused_ = 0;
  const char* delays_[3] = {"0", "100", all_rounds() ? "5000" : "250"};
};

class RingTest : public testing::TestWithParam<std::tuple<Shape, int>> {
 protected:
  Shape shape() const { return std::get<0>(GetParam()); }
  bool states() const { return std::get<1>(GetParam()) >= 1; }
  bool transients() const { return std::get<1>(GetParam()) == 2; }
};

TEST_P(RingTest, ServesInOrderWithoutOneMisprediction) {
  Driver driver(shape(), states(), transients(), 1);
  Rig& rig = driver.rig();
  rig.run_steps(3);
  const auto problem = rig.budget().problem();
  const plan::Plan plan = Ring(*problem, shape().slots).plan();
  rig.budget().request_replan(problem.get(), &plan);
  rig.device().set("copy_delay_us", "200");
  rig.run_steps(5);
  rig.wait();
  EXPECT_EQ(rig.wrong(), 0U);
  EXPECT_GT(rig.checked(), 0U);
  EXPECT_EQ(rig.wrong_on_read_back(), 0U);
  const BudgetStatus status = rig.budget().status();
  EXPECT_EQ(rig.budget().replan_state(), ReplanState::applied);
  EXPECT_EQ(status.counters.mispredictions, 0U);
  EXPECT_EQ(status.counters.demand_loads, 0U);
  EXPECT_EQ(status.counters.refused_ops, 0U);
  std::uint64_t streamed = 0;  // units that share their slot
  for (std::uint32_t unit = 0; unit < shape().units; ++unit) {
    const std::uint32_t next = unit + shape().slots < shape().units ? unit + shape().slots : unit % shape().slots;
    streamed += next == unit ? 0 : 700;
  }
  EXPECT_EQ(status.last_step_h2d_bytes, streamed * (states() ? 2 : 1));
  EXPECT_EQ(status.last_step_d2h_bytes, states() ? shape().units * 700U : 0U);
}

void survive_surprises(const Shape& shape, bool states, bool transients, std::uint32_t seed) {
  Driver driver(shape, states, transients, seed * 7919);
  Rig& rig = driver.rig();
  rig.run_steps(3);
  driver.request_ring();
  for (int step = 0; step < 100; ++step) driver.surprise();
  rig.device().set("copy_delay_us", "0");
  rig.run_steps(4);  // the order is known again
  const ExecutorCounters before = rig.budget().status().counters;
  driver.request_ring();
  rig.run_steps(3);
  rig.wait();
  EXPECT_EQ(rig.wrong(), 0U) << "seed " << seed;
  EXPECT_EQ(rig.wrong_on_read_back(), 0U) << "seed " << seed;
  const ExecutorCounters after = rig.budget().status().counters;
  EXPECT_EQ(after.mispredictions, before.mispredictions) << "seed " << seed;
  EXPECT_EQ(after.demand_loads, before.demand_loads) << "seed " << seed;
  EXPECT_EQ(after.refused_ops, 0U) << "seed " << seed;
}

// Rounds run beside each other on one device, since most of their time is the copies' delays.
TEST_P(RingTest, GivesNoStaleByteWhateverHappens) {
  const std::uint32_t rounds = all_rounds() ? 5 : 1;
  std::vector<std::thread> beside;
  for (std::uint32_t seed = 2; seed <= rounds; ++seed) {
    beside.emplace_back(survive_surprises, shape(), states(), transients(), seed);
  }
  survive_surprises(shape(), states(), transients(), 1);
  for (std::thread& round : beside) round.join();
}

std::string ring_name(const testing::TestParamInfo<std::tuple<Shape, int>>& it) {
  constexpr const char* variants[] = {"Weights", "States", "Transients"};
  const Shape& shape = std::get<0>(it.param);
  return "U" + std::to_string(shape.units) + "S" + std::to_string(shape.slots) + variants[std::get<1>(it.param)];
}

INSTANTIATE_TEST_SUITE_P(Rings, RingTest, testing::Combine(testing::ValuesIn(shapes()), testing::Values(0, 1, 2)),
                         ring_name);

}  // namespace
}  // namespace hoist::test
