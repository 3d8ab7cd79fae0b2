// SPDX-License-Identifier: Apache-2.0
// The rules of execution, one at a time, on plans whose times can be worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "plan/planner.hpp"

namespace hoist::plan {
namespace {

using testing::HasSubstr;

// Three units of 100 us; links of 10 bytes a us without latency; items of 1000 bytes, 100 us a copy.
Problem three_units(std::uint64_t budget, bool cyclic = true) {
  Problem problem;
  problem.budget_bytes = budget;
  problem.alignment = 1;
  problem.links = {Link{0, 10}, Link{0, 10}, Link{0, 10}};
  problem.duplex_factor = 0.5;
  problem.cyclic = cyclic;
  for (const char* name : {"a", "b", "c"}) problem.units.push_back({name, 100, 0});
  return problem;
}

void add(Problem& problem, const char* name, std::vector<Use> uses, bool transient = false) {
  problem.items.push_back({name, 1000, ItemClass::weight, LinkId::h2d, transient, std::move(uses)});
}

Op load(std::uint32_t item, std::int32_t after, std::int32_t before, std::uint64_t offset) {
  return {OpKind::load, item, after, before, offset};
}
Op drop(std::uint32_t item, std::int32_t after) { return {OpKind::drop, item, after, 0, 0}; }
Op store(std::uint32_t item, std::int32_t after) { return {OpKind::store, item, after, 0, 0}; }

std::string refusal(const Problem& problem, const Plan& plan) {
  try {
    (void)simulate(problem, plan);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), HOIST_ERROR_INVALID_PLAN);
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return "";
}

TEST(Rules, AUnitWaitsForItsLoad) {
  Problem problem = three_units(1000);
  add(problem, "x", {{0, Mode::read}});
  add(problem, "y", {{1, Mode::read}});
  Plan plan;
  plan.initial_resident = {{0, 0}};
  plan.ops = {drop(0, 0), load(1, 0, 1, 0), drop(1, 1), load(0, 1, 0, 0)};
  const Simulation run = simulate(problem, plan);
  EXPECT_DOUBLE_EQ(run.step_us, 400);  // y's load is waited for, x's hides behind c
  EXPECT_DOUBLE_EQ(run.stall_us, 100);
  EXPECT_EQ(run.peak_bytes, 1000U);
  EXPECT_EQ(run.link_bytes[0], 2000U);
}

TEST(Rules, BothHostLinksSlowDown) {
  Problem problem = three_units(2000);
  add(problem, "x", {{0, Mode::read_write}});
  add(problem, "y", {{2, Mode::read}});
  Plan plan;
  plan.initial_resident = {{0, 0}};
  // At the end of a both copies begin, each at half its rate: 200 us, as long as b and half of the stall before c.
  plan.ops = {store(0, 0), load(1, 0, 2, 1000), drop(1, 2)};
  const Simulation run = simulate(problem, plan);
  EXPECT_DOUBLE_EQ(run.step_us, 400);
  problem.duplex_factor = 1;
  EXPECT_DOUBLE_EQ(simulate(problem, plan).step_us, 300);
}

TEST(Rules, APlaceIsFreeAfterTheStoreEnds) {
  Problem problem = three_units(1000);
  problem.duplex_factor = 1;
  add(problem, "x", {{0, Mode::read_write}});
  add(problem, "y", {{1, Mode::read}});
  Plan plan;
  plan.initial_resident = {{0, 0}};
  plan.ops = {store(0, 0), drop(0, 0), load(1, 0, 1, 0), drop(1, 1), load(0, 1, 0, 0)};
  EXPECT_DOUBLE_EQ(simulate(problem, plan).step_us, 500);  // store, then load, before b
}

TEST(Rules, AWriterWaitsForStoresOfItsItem) {
  Problem problem = three_units(1000);
  add(problem, "x", {{0, Mode::write}, {1, Mode::write}});
  Plan plan;
  plan.initial_resident = {{0, 0}};
  plan.ops = {store(0, 0)};
  EXPECT_DOUBLE_EQ(simulate(problem, plan).step_us, 400);
}

TEST(Rules, ABirthWaitsForItsPlace) {
  Problem problem = three_units(1000);
  add(problem, "x", {{0, Mode::read_write}});
  add(problem, "t", {{1, Mode::write}}, true);
  Plan plan;
  plan.initial_resident = {{0, 0}};
  plan.births = {{1, 0}};
  plan.ops = {store(0, 0), drop(0, 0), load(0, 1, 0, 0)};
  EXPECT_DOUBLE_EQ(simulate(problem, plan).step_us, 400);  // the store before b; the load behind c
}

TEST(Rules, ASingleShotEndsWithItsLastOp) {
  Problem problem = three_units(1000, false);
  add(problem, "x", {{0, Mode::read}, {2, Mode::read_write}});
  Plan plan;
  plan.ops = {load(0, -1, 0, 0), store(0, 2)};
  EXPECT_DOUBLE_EQ(simulate(problem, plan).step_us, 500);
  plan.ops.pop_back();
  EXPECT_THAT(refusal(problem, plan), HasSubstr("\"x\" is dirty at the end"));
}

TEST(Rules, SlowerUnitsOnRequest) {
  Problem problem = three_units(1000);
  SimulateOptions options;
  options.compute_us = [](std::uint32_t, std::uint32_t unit) { return unit == 1 ? 250.0 : 100.0; };
  options.timeline = true;
  const Simulation run = simulate(problem, {}, options);
  EXPECT_DOUBLE_EQ(run.step_us, 450);
  ASSERT_EQ(run.timeline.size(), 3U);
  EXPECT_DOUBLE_EQ(run.timeline[1].begin_us, 100);
  EXPECT_DOUBLE_EQ(run.timeline[1].end_us, 350);
}

TEST(Rules, WhatBreaksThemIsNamed) {
  Problem problem = three_units(2000);
  add(problem, "x", {{0, Mode::read_write}});
  add(problem, "y", {{1, Mode::read}});
  const auto with = [](std::vector<Place> initial, std::vector<Op> ops) {
    Plan plan;
    plan.initial_resident = std::move(initial);
    plan.ops = std::move(ops);
    return plan;
  };
  EXPECT_THAT(refusal(problem, with({}, {})), HasSubstr("unit 0 (\"a\") uses \"x\", which is not on the device"));
  EXPECT_THAT(refusal(problem, with({{0, 0}, {1, 500}}, {})), HasSubstr("overlap"));
  EXPECT_THAT(refusal(problem, with({{0, 0}, {1, 1500}}, {})), HasSubstr("outside the arena of 2000"));
  EXPECT_THAT(refusal(problem, with({{0, 0}, {1, 1000}}, {drop(0, 0)})), HasSubstr("dirty"));
  EXPECT_THAT(refusal(problem, with({{0, 0}, {1, 1000}}, {drop(1, 1), drop(1, 1)})),
              HasSubstr("op 1 (drop \"y\" after 1)"));
  EXPECT_THAT(refusal(problem, with({{0, 0}, {1, 1000}}, {drop(1, 1)})), HasSubstr("\"y\" is absent at the end"));
  EXPECT_THAT(refusal(problem, with({{0, 0}, {1, 1000}}, {load(1, 1, 1, 1000)})), HasSubstr("on the device already"));
  EXPECT_THAT(refusal(problem, with({{0, 0}, {1, 1000}}, {drop(1, 1), load(1, 1, 2, 1000)})),
              HasSubstr("before is 2, but its next use is by unit 1"));
  EXPECT_THAT(refusal(problem, with({{0, 0}, {1, 1000}}, {drop(1, 1), load(1, 1, 1, 0)})), HasSubstr("overlaps"));
  EXPECT_THAT(refusal(problem, with({{0, 0}, {1, 1000}}, {drop(1, 2), load(1, 1, 1, 1000)})),
              HasSubstr("stands after a later"));
  EXPECT_THAT(refusal(problem, with({{0, 0}, {1, 1000}}, {store(1, -1)})), HasSubstr("no such unit"));
}

TEST(Check, HomesAndDigest) {
  Problem problem = three_units(2000);
  add(problem, "x", {{0, Mode::read}});
  add(problem, "y", {{0, Mode::read}});
  Plan plan = solve(problem);
  check(problem, plan);
  const auto refused = [&](const Plan& bad) -> std::string {
    try {
      check(problem, bad);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  Plan bad = plan;
  bad.homes[1].offset = bad.homes[0].offset;
  EXPECT_THAT(refused(bad), HasSubstr("overlap, and unit 0 uses both"));
  bad = plan;
  bad.homes.pop_back();
  EXPECT_THAT(refused(bad), HasSubstr("is missing"));
  bad = plan;
  bad.problem_digest = "sha256:0";
  EXPECT_THAT(refused(bad), HasSubstr("the plan is for problem sha256:0"));
}

}  // namespace
}  // namespace hoist::plan
