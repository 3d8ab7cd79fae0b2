// SPDX-License-Identifier: Apache-2.0
// Drafts run in time by bytes alone, on times that can be worked out by hand; and plans whose places are packed for
// these times take what the run took.
#include "plan/timeline.hpp"

#include <gtest/gtest.h>

#include "../../../bench/plan/problems.hpp"
#include "plan/choose.hpp"
#include "plan/pack.hpp"
#include "plan/simulate.hpp"

namespace hoist::plan {
namespace {

// Units of 100 us; links of 10 bytes a us without latency; items of 1000 bytes, 100 us a copy.
Problem units_of_100_us(std::initializer_list<const char*> names) {
  Problem problem;
  problem.budget_bytes = 3000;
  problem.alignment = 1;
  problem.links = {Link{0, 10}, Link{0, 10}, Link{0, 10}};
  problem.duplex_factor = 0.5;
  problem.cyclic = true;
  for (const char* name : names) problem.units.push_back({name, 100, 0});
  return problem;
}

// With every gap evicted that can be.
std::optional<Timetable> run(const Problem& problem, std::uint64_t cap) {
  const Model model(problem);
  Draft draft = keep_everything(model);
  for (std::uint32_t g = 0; g < model.gaps.size(); ++g) {
    if (model.can_evict(model.gaps[g])) draft.evicted[g] = 1;
  }
  return run_in_time(model, draft, std::vector<std::uint32_t>(model.gaps.size(), model.units), cap);
}

double step_us(const Problem& problem, std::uint64_t cap) {
  const std::optional<Timetable> table = run(problem, cap);
  return table ? table->step_us : 0;
}

TEST(Timeline, ALoadBeginsAsSoonAsItsBytesAreFree) {
  Problem problem = units_of_100_us({"a", "b", "c"});
  for (std::uint32_t u = 0; u < 3; ++u) {
    problem.items.push_back(
        {std::string(1, static_cast<char>('x' + u)), 1000, ItemClass::weight, LinkId::h2d, false, {{u, Mode::read}}});
  }
  EXPECT_DOUBLE_EQ(step_us(problem, 2000), 300);  // one is used while the next one comes
  EXPECT_DOUBLE_EQ(step_us(problem, 1999), 600);  // each waits for the unit before to end
  EXPECT_DOUBLE_EQ(step_us(problem, 999), 0);     // not one fits
}

TEST(Timeline, ABirthWaitsForAStoreOnlyWhereBytesAreShort) {
  Problem problem = units_of_100_us({"a", "b", "c"});
  problem.items.push_back({"x", 1000, ItemClass::activation, LinkId::h2d, true, {{0, Mode::write}, {2, Mode::read}}});
  problem.items.push_back({"y", 1000, ItemClass::activation, LinkId::h2d, true, {{1, Mode::write}}});
  // a, the store of x beside b, its load, c.
  EXPECT_DOUBLE_EQ(step_us(problem, 2000), 400);
  // a, the store of x, b, the load of x, c.
  EXPECT_DOUBLE_EQ(step_us(problem, 1000), 500);
}

TEST(Timeline, AStoreAndALoadSlowEachOther) {
  Problem problem = units_of_100_us({"a", "b"});
  problem.items.push_back({"x", 1000, ItemClass::state, LinkId::h2d, false, {{0, Mode::read_write}}});
  problem.items.push_back({"y", 1000, ItemClass::state, LinkId::h2d, false, {{1, Mode::read_write}}});
  // With room for two, a store frees the bytes that the load of the same item takes: one after the other.
  const std::optional<Timetable> table = run(problem, 2000);
  ASSERT_TRUE(table);
  ASSERT_EQ(table->spans.size(), 2U);
  EXPECT_GE(table->step_us, 2 * 200 - 1e-9) << "each link carries two copies of 100 us at half its rate, or alone";
  for (const Span& span : table->spans) EXPECT_GE(span.end - span.begin, 300 - 1e-9) << "load, unit, store";
}

void expect_as_long_as_its_run(const Problem& problem, double share) {
  const Model model(problem);
  Draft draft = keep_everything(model);
  const auto cap = static_cast<std::uint64_t>(share * static_cast<double>(model.arena));
  const std::vector<double> weight(model.units, 1);
  ASSERT_TRUE(choose(model, {cap, weight, {}}, draft));
  const std::vector<std::uint32_t> most(model.gaps.size(), model.units);
  // Places need a little more than bytes.
  const std::optional<Timetable> table = run_in_time(model, draft, most, model.arena / 100 * 95);
  ASSERT_TRUE(table);
  std::uint64_t none_left = 0;
  EXPECT_FALSE(pack(model, *table, draft, none_left));
  std::uint64_t work = 1'000'000'000;
  ASSERT_TRUE(pack(model, *table, draft, work));
  EXPECT_LT(work, 1'000'000'000U);
  Plan plan = emit(model, draft, stays_of(model, draft));
  const double step = simulate(problem, compile(problem, model.uses, plan), {}).step_us;
  EXPECT_NEAR(step, table->step_us, 1e-6 * step);
}

// A step of next to nothing after a first one of hours: where a time lies on the cycle is not found step by step.
TEST(Timeline, PackingEndsHoweverLongTheFirstStepWas) {
  Problem problem = units_of_100_us({"a", "b", "c"});
  for (std::uint32_t u = 0; u < 3; ++u) {
    problem.items.push_back(
        {std::string(1, static_cast<char>('x' + u)), 1000, ItemClass::weight, LinkId::h2d, false, {{u, Mode::read}}});
  }
  std::optional<Timetable> table = run(problem, 3000);
  ASSERT_TRUE(table);
  ASSERT_EQ(table->spans.size(), 3U);
  table->spans = {{0, 1e10}, {-1e10, 0}, {1e10, 2e10}};
  const Model model(problem);
  Draft draft = keep_everything(model);
  for (std::uint32_t g = 0; g < model.gaps.size(); ++g) draft.evicted[g] = 1;
  for (const double step : {1e-3, 0.0}) {
    table->step_us = step;
    std::uint64_t work = 1'000'000;
    EXPECT_EQ(pack(model, *table, draft, work), step > 0) << "all three have room beside each other";
  }
}

TEST(Timeline, APackedPlanTakesWhatItsRunTook) {
  expect_as_long_as_its_run(problems::stack(12, 0.5, 1.0), 0.9);
  expect_as_long_as_its_run(problems::stack(12, 0.5, 0.7, true), 0.85);
  expect_as_long_as_its_run(problems::experts(8, 0.4, 1.0), 0.9);
  expect_as_long_as_its_run(problems::gathers(12, 0.6, 1.0), 0.9);
}

}  // namespace
}  // namespace hoist::plan
