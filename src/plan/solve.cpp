// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "plan/naive.hpp"
#include "plan/recipe.hpp"
#include "plan/search.hpp"

namespace hoist::plan {
namespace {

Plan solve_sorted(const Problem& problem, const SolveOptions& options) {
  const Model model(problem);
  Workshop workshop(model, options);
  workshop.try_plan(naive_plan(problem));
  const double bound_us = page_bound(problem).step_us;
  Cook cook(workshop, bound_us);
  const std::uint64_t size = model.gaps.size() + model.units;
  cook.descend(options.effort > 0 ? options.effort : std::clamp<std::uint64_t>(1'000'000 / size, 3, 300));
  const double before = workshop.best_us();
  if (!cook.is_good()) search(workshop, bound_us, options.effort > 0 ? options.effort : std::clamp<std::uint64_t>(1'500'000 / size, 1, 1000));
  if (getenv("DBG")) fprintf(stderr, "tries %lu best %g then %g\n", cook.tries(), before, workshop.best_us());
  return workshop.take_best();
}

}  // namespace

Plan solve(const Problem& problem, const SolveOptions& options) {
  validate(problem);
  refuse_if_too_small(problem);
  std::vector<std::uint32_t> order(problem.items.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return problem.items[a].name < problem.items[b].name; });
  Problem sorted = problem;
  for (std::size_t i = 0; i < order.size(); ++i) sorted.items[i] = problem.items[order[i]];
  Plan plan = solve_sorted(sorted, options);
  complete(sorted, uses_by_unit(sorted), plan);
  for (Op& op : plan.ops) op.item = order[op.item];
  for (auto* places : {&plan.initial_resident, &plan.births, &plan.homes}) {
    for (Place& p : *places) p.item = order[p.item];
  }
  return plan;
}

}  // namespace hoist::plan
