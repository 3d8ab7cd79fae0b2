// SPDX-License-Identifier: Apache-2.0
// Units of a thousand tensors each: what a step of placing costs must not grow with the square of them.
#include <gtest/gtest.h>

#include <string>

#include "plan/planner.hpp"

namespace hoist::plan {
namespace {

Problem thousand_items_a_unit(std::uint64_t bytes) {
  Problem problem;
  problem.alignment = 512;
  problem.links[0] = {5, 55000};
  problem.links[1] = {5, 55000};
  problem.links[2] = {5, 55000};
  problem.duplex_factor = 0.87;
  std::uint64_t all = 0;
  for (std::uint32_t unit = 0; unit < 100; ++unit) {
    problem.units.push_back({"model.layers." + std::to_string(unit), 5000, 0});
    for (std::uint32_t t = 0; t < 1000; ++t) {
      Item item;
      item.name = problem.units.back().name + ".t" + std::to_string(t);
      item.bytes = bytes;
      item.uses = {{unit, Mode::read}};
      all += (bytes + 511) / 512 * 512;
      problem.items.push_back(item);
    }
  }
  problem.budget_bytes = all / 2 / 512 * 512;
  return problem;
}

// 100,000 items are solved in 2 s on one core where 10,000 units share them; the limit leaves room for a
// busy machine and for sanitizers, not for the square.
TEST(ManyItems, AreSolvedWithinTheTimeLimit) {
  SolveOptions options;
  options.time_limit_seconds = 60;
  for (std::uint64_t bytes : {3U, 4096U}) {
    const Problem problem = thousand_items_a_unit(bytes);
    const Plan plan = solve(problem, options);
    check(problem, plan);
    EXPECT_GT(plan.predicted.h2d_bytes, 0U);
  }
}

}  // namespace
}  // namespace hoist::plan
