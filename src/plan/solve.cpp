// SPDX-License-Identifier: Apache-2.0
// The solver: the naive floor, recipes, local search; always over items in the order of their names, so that the
// order in which they were given decides nothing.
#include <algorithm>
#include <numeric>

#include "plan/naive.hpp"
#include "plan/recipe.hpp"
#include "plan/search.hpp"
#include "plan/tiny.hpp"

namespace hoist::plan {
namespace {

Plan solve_sorted(const Problem& problem, const SolveOptions& options) {
  const Model model(problem);
  Workshop workshop(model, options);
  workshop.try_plan(naive_plan(problem));
  const double bound_us = page_bound(problem).step_us;
  // Work, not time: the same on every machine. A plan takes about a microsecond for each gap and unit.
  const std::uint64_t size = model.gaps.size() + model.units;
  const auto tries = [&](std::uint64_t work, std::uint64_t least, std::uint64_t most) {
    return options.effort > 0 ? options.effort : std::clamp(work / size, least, most);
  };
  Cook cook(workshop, bound_us);
  cook.descend(tries(600'000, 3, 900));
  const bool all = size <= 64 && try_all(workshop, bound_us, 40'000);
  if (!all && size <= 64) refine(workshop, bound_us, tries(100'000, 1, 3000));
  if (!all && !cook.is_good()) search(workshop, bound_us, tries(cook.is_large() ? 300'000 : 800'000, 1, 1500));
  Plan plan = workshop.take_best();
  complete(problem, model.uses, plan);
  return plan;
}

}  // namespace

Plan solve(const Problem& problem, const SolveOptions& options) {
  validate(problem);
  refuse_if_too_small(problem);
  std::vector<std::uint32_t> order(problem.items.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto by_name = [&](std::uint32_t a, std::uint32_t b) { return problem.items[a].name < problem.items[b].name; };
  if (std::is_sorted(order.begin(), order.end(), by_name)) return solve_sorted(problem, options);
  std::sort(order.begin(), order.end(), by_name);
  Problem sorted = problem;
  for (std::size_t i = 0; i < order.size(); ++i) sorted.items[i] = problem.items[order[i]];
  return renumbered(solve_sorted(sorted, options), order);
}

}  // namespace hoist::plan
