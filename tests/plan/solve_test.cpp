// SPDX-License-Identifier: Apache-2.0
// What the planner must reach, on the families of bench/plan and on random small problems.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <regex>

#include "../../bench/plan/problems.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "plan/agree.hpp"
#include "plan/small_problems.hpp"

namespace hoist::plan {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Gt;
using testing::HasSubstr;
using testing::Pair;

bool all() { return std::getenv("HOIST_TEST_ALL") != nullptr; }

Error refusal(const Problem& problem, const SolveOptions& options = {}) {
  try {
    (void)solve(problem, options);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "solved";
  return {HOIST_OK, ""};
}

// The errors that are logged while it lives.
struct LogLines {
  LogLines() { log_set(HOIST_LOG_ERROR, &LogLines::keep, this); }
  ~LogLines() { log_set(HOIST_LOG_WARNING, nullptr, nullptr); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;
  static void keep(void* lines, hoist_log_level_t, const char* message) {
    static_cast<LogLines*>(lines)->errors.emplace_back(message);
  }
  std::vector<std::string> errors;
};

Problem shuffled(Problem problem, std::uint32_t seed) {
  small::Random random(seed);
  for (std::size_t i = problem.items.size(); i > 1; --i) {
    std::swap(problem.items[i - 1], problem.items[random.below(static_cast<std::uint32_t>(i))]);
  }
  return problem;
}

// Whether the links carry a step's copies within it: by rule 7 three equal steps can pass before a backlog shows, and
// then the time is that of the first steps, which no bound of the steady state holds for.
bool carries(const Problem& problem, const Plan& plan) {
  double time[link_count] = {0, 0, 0};
  for (const Op& op : plan.ops) {
    if (op.kind == OpKind::drop) continue;
    const Item& item = problem.items[op.item];
    const auto link = static_cast<std::size_t>(op.kind == OpKind::load ? item.link : LinkId::d2h);
    time[link] += problem.links[link].latency_us + static_cast<double>(item.bytes) / problem.links[link].bytes_per_us;
  }
  const double both = std::min(time[0], time[1]) / problem.duplex_factor + std::abs(time[0] - time[1]);
  return std::max(both, time[2]) <= plan.predicted.step_us * (1 + 1e-6);
}

// Valid, never slower than naive, never below the bounds, the same for any order of the items.
void expect_sound(const Problem& problem, const Plan& plan) {
  check(problem, plan);
  const Bound least = bound(problem);
  EXPECT_LE(plan.predicted.step_us, naive(problem).predicted.step_us);
  const double floor_us = carries(problem, plan) ? least.windowed_us : 0;
  EXPECT_GE(plan.predicted.step_us, floor_us * (1 - 1e-9));
  EXPECT_GE(least.windowed_us, least.step_us);
  EXPECT_LE(plan.predicted.peak_bytes, problem.budget_bytes);
  const Problem other = shuffled(problem, 7);
  EXPECT_EQ(plan_to_json(problem, plan), plan_to_json(other, solve(other)));
  const Plan read = plan_from_json(problem, plan_to_json(problem, plan));
  EXPECT_EQ(plan_to_json(problem, read), plan_to_json(problem, plan));
}

TEST(Solve, StacksExpertsAndGathersReachTheBars) {
  double sum = 0;
  int count = 0;
  for (const double share : {0.2, 0.5, 0.9}) {
    for (const double ratio : {0.7, 1.2}) {
      const auto n = static_cast<std::uint32_t>(24 + 16 * share);
      for (const Problem& problem : {problems::stack(n, share, ratio), problems::stack(n + 12, share, ratio, true),
                                     problems::experts(n, share, ratio), problems::gathers(n, share, ratio)}) {
        const Plan plan = solve(problem);
        expect_sound(problem, plan);
        const double over = plan.predicted.step_us / bound(problem).step_us;
        EXPECT_LE(over, ratio > 1.1 ? 1.02 : 1.08) << problem.units.size() << " units, " << share << ", " << ratio;
        sum += std::log(naive(problem).predicted.step_us / plan.predicted.step_us);
        ++count;
      }
    }
  }
  EXPECT_GE(std::exp(sum / count), 1.3);
}

TEST(Solve, TrainingAndStatesReachTheBars) {
  for (const double share : {0.3, 0.6}) {
    for (const Problem& problem : {problems::training(12, share, 1), problems::states(32, share, 1)}) {
      const Plan plan = solve(problem);
      expect_sound(problem, plan);
      EXPECT_LE(plan.predicted.step_us, 1.1 * bound(problem).windowed_us)
          << problem.units.size() << " units, " << share;
    }
  }
}

TEST(Solve, EverythingStaysWhereItFits) {
  Problem problem = problems::stack(8, 0.5, 1);
  problem.budget_bytes = problems::total_bytes(problem);
  const Plan plan = solve(problem);
  EXPECT_TRUE(plan.ops.empty());
  EXPECT_EQ(plan.predicted.stall_us, 0);
}

TEST(Solve, ItsSizesTakeTheirTime) {
  struct Case {
    Problem problem;
    double seconds;
  };
  std::vector<Case> cases = {{problems::large(1000, 0.5, 1), 0.1}};
  if (all()) {
    cases.push_back({problems::large(10'000, 0.5, 1), 2});
    cases.push_back({problems::training(200, 0.5, 1), 5});
  }
  for (const Case& one : cases) {
    const std::clock_t begin = std::clock();
    const Plan plan = solve(one.problem);
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    check(one.problem, plan);
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_LE(seconds, 2 * one.seconds) << one.problem.items.size()
                                        << " items; twice the bar: others use the cores too";
#else
    (void)seconds;
#endif
  }
}

TEST(Solve, RandomProblemsAreSound) {
  const std::uint64_t seeds = all() ? 5'000 : 300;
  int refused = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Problem problem = small::problem(seed, 7, 9);
    SCOPED_TRACE(seed);
    try {
      expect_sound(problem, solve(problem));
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), HOIST_ERROR_INFEASIBLE) << error.what();
      ASSERT_THAT(error.what(), HasSubstr("fragmentation"));
      Problem larger = problem;
      const std::string words = error.hint();
      larger.budget_bytes = std::stoull(words.substr(words.find_first_of("0123456789")));
      check(larger, solve(larger));  // the budget that it names works
      ++refused;
    }
    if (HasFatalFailure() || HasNonfatalFailure()) break;
  }
  EXPECT_LE(refused, static_cast<int>(seeds / 12));  // tight budgets, and homes that do not fit them
}

TEST(Solve, AnImpossibleBudgetNamesTheSmallestOne) {
  Problem problem = problems::stack(4, 0.5, 1);
  problem.units[2].workspace_bytes = 1 << 20;
  const std::uint64_t smallest = smallest_budget(problem);
  problem.budget_bytes = smallest - 512;
  const Error error = refusal(problem);
  EXPECT_EQ(error.code(), HOIST_ERROR_INFEASIBLE);
  EXPECT_THAT(error.what(), HasSubstr("the smallest budget is " + std::to_string(smallest)));
  EXPECT_THAT(error.what(), HasSubstr("unit 0 (\"layers.0\")"));
  problem.budget_bytes = smallest;
  check(problem, solve(problem));
}

// A valid plan, but of a smaller budget.
Plan slower_than_naive(const Problem& problem) {
  Problem smaller = problem;
  smaller.budget_bytes = smallest_budget(problem);
  Plan plan = naive(smaller);
  plan.problem_digest = problem_digest(problem);
  check(problem, plan);
  return plan;
}

// What a defect of the search could do to its plan: each is found by the check, told, and answered with the naive plan.
TEST(Solve, WhatBreaksARuleGoesToNobody) {
  const Problem problem = shuffled(problems::training(4, 0.4, 1), 3);
  const auto first_of = [](Plan& plan, OpKind kind) {
    return std::find_if(plan.ops.begin(), plan.ops.end(), [&](const Op& op) { return op.kind == kind; });
  };
  const std::vector<std::pair<const char*, std::function<void(Plan&)>>> defects = {
      {"overlap, and unit",
       [](Plan& plan) {
         for (Place& home : plan.homes) home.offset = 0;
       }},
      {"homes: ", [](Plan& plan) { plan.homes.pop_back(); }},
      {"not a place of the arena", [&](Plan& plan) { plan.homes[0].offset = problem.budget_bytes; }},
      {"the plan is for problem", [](Plan& plan) { plan.problem_digest.back() ^= 1; }},
      {"dirty", [&](Plan& plan) { plan.ops.erase(first_of(plan, OpKind::store)); }},
      {"", [&](Plan& plan) { plan.ops.erase(first_of(plan, OpKind::drop)); }},
      {"", [&](Plan& plan) { plan.ops.erase(first_of(plan, OpKind::load)); }},
      {"", [&](Plan& plan) { first_of(plan, OpKind::load)->offset = problem.budget_bytes; }},
      {"is predicted", [](Plan& plan) { plan.predicted.step_us *= 0.999; }},
      {"the naive plan's", [&](Plan& plan) { plan = slower_than_naive(problem); }},
  };
  const std::string naive_json = plan_to_json(problem, naive(problem));
  for (const auto& [words, spoil] : defects) {
    const LogLines lines;
    SolveOptions options;
    options.found = spoil;
    EXPECT_EQ(plan_to_json(problem, solve(problem, options)), naive_json) << words;
    ASSERT_EQ(lines.errors.size(), 1U) << words;
    EXPECT_THAT(lines.errors[0], AllOf(HasSubstr("not sound"), HasSubstr(words)));
  }
  const LogLines lines;
  const Plan plan = solve(problem, {0, 0, [](Plan&) {}});
  EXPECT_LT(plan.predicted.step_us, naive(problem).predicted.step_us);
  EXPECT_TRUE(lines.errors.empty());
}

TEST(Solve, ATimeLimitOnlyAborts) {
  const Problem problem = problems::training(24, 0.4, 1);
  EXPECT_EQ(refusal(problem, {0, 1e-6}).code(), HOIST_ERROR_ABORTED);
  const Problem quick = problems::stack(6, 0.5, 1);
  EXPECT_EQ(plan_to_json(quick, solve(quick, {0, 600})), plan_to_json(quick, solve(quick)));
}

TEST(Solve, ZeroBytesAndNoItems) {
  Problem problem = problems::stack(3, 0.5, 1);
  for (Item& item : problem.items) item.bytes = 0;
  problem.budget_bytes = 0;
  expect_sound(problem, solve(problem));
  problem.cyclic = false;
  expect_sound(problem, solve(problem));
  problem.items.clear();
  expect_sound(problem, solve(problem));
}

TEST(Explain, HasALineForEveryItem) {
  const Problem problem = problems::training(4, 0.4, 1);
  const std::string text = explain(problem, solve(problem));
  EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), problem.items.size());
  for (const Item& item : problem.items) EXPECT_THAT(text, HasSubstr(item.name + ": "));
  EXPECT_THAT(text, HasSubstr("to make room: unit"));
  // Units by their names; a step can have a name twice, so by their numbers too.
  EXPECT_THAT(text, HasSubstr("after unit 0 (\"" + problem.units[0].name + "\")"));
}

// A reason that speaks of room names more bytes than there are, and one that speaks of places no more than that.
TEST(Explain, TheBytesOfAReasonBearItOut) {
  const std::regex reason(" to (make room|free its place)[^;]* would hold ([0-9]+) of ([0-9]+) bytes");
  std::map<std::string, int> seen;
  for (const Problem& problem : {problems::training(4, 0.4, 1), problems::stack(12, 0.6, 2)}) {
    const std::string text = explain(problem, solve(problem));
    for (std::sregex_iterator at(text.begin(), text.end(), reason), end; at != end; ++at) {
      ++seen[(*at)[1]];
      EXPECT_EQ(std::stoll((*at)[2]) > std::stoll((*at)[3]), (*at)[1] == "make room") << at->str();
    }
  }
  EXPECT_THAT(seen, ElementsAre(Pair("free its place", Gt(0)), Pair("make room", Gt(0))));
}

TEST(Agree, RanksPlanTheSameOrAreNamed) {
  std::vector<Problem> of_ranks(50, problems::stack(6, 0.5, 1));
  of_ranks[3].units[2].compute_us *= 2;
  of_ranks[9].budget_bytes -= 1 << 20;
  of_ranks[11].links[0].bytes_per_us = 40000;
  std::vector<const Problem*> asked;
  for (const Problem& problem : of_ranks) asked.push_back(&problem);
  const Problem agreed = agreed_problem(asked);
  EXPECT_EQ(agreed.units[2].compute_us, of_ranks[3].units[2].compute_us);
  EXPECT_EQ(agreed.budget_bytes, of_ranks[9].budget_bytes);
  EXPECT_EQ(agreed.links[0].bytes_per_us, 40000);
  std::vector<std::string> digests;
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) digests.push_back(plan_digest(agreed, solve(agreed)));
  compare_digests(digests);

  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  digests[7] = "sha256:0";
  EXPECT_THAT(message([&] { compare_digests(digests); }), HasSubstr("rank 7 has plan sha256:0, but rank 0"));
  digests[5].clear();
  EXPECT_THAT(message([&] { compare_digests(digests); }), HasSubstr("rank 5 of 50 did not answer"));
  of_ranks[4].items[2].bytes += 1;
  EXPECT_THAT(message([&] { (void)agreed_problem(asked); }), HasSubstr("rank 4 is not that of rank 0: item"));
  asked[2] = nullptr;
  EXPECT_THAT(message([&] { (void)agreed_problem(asked); }), HasSubstr("rank 2 of 50 did not answer"));
}

}  // namespace
}  // namespace hoist::plan
