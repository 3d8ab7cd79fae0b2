// SPDX-License-Identifier: Apache-2.0
// The solver: the naive floor, recipes, local search; always over items in the order of their names, so that the
// order in which they were given decides nothing.
#include <algorithm>
#include <numeric>

#include "plan/naive.hpp"
#include "plan/rearrange.hpp"
#include "plan/recipe.hpp"
#include "plan/repack.hpp"
#include "plan/search.hpp"
#include "plan/tiny.hpp"

namespace hoist::plan {
namespace {

// Whether some unit takes half of the arena or more: then places decide what fits.
bool is_tight(const Model& model) {
  std::uint64_t most = 0;
  for (std::uint32_t u = 0; u < model.units; ++u) {
    std::uint64_t used = 0;
    for (std::uint32_t i = model.uses.begin[u]; i < model.uses.begin[u + 1]; ++i) {
      used += model.size[model.uses.values[i].item];
    }
    most = std::max(most, used);
  }
  return 2 * most > model.arena;
}

Plan solve_sorted(const Problem& problem, const SolveOptions& options) {
  const Model model(problem);
  Workshop workshop(model, options);
  workshop.try_plan(naive_plan(problem));
  if (!problem.cyclic) workshop.try_plan(naive_plan(problem, true));
  const double bound_us = page_bound(problem).step_us;
  // Work, not time: the same on every machine. A plan takes about a microsecond for each gap and unit.
  const auto tries = [&](std::uint64_t work, std::uint64_t least, std::uint64_t most) {
    return options.effort > 0 ? options.effort : std::clamp(work / model.work(), least, most);
  };
  Cook cook(workshop, bound_us);
  cook.descend(tries(600'000, 3, 900));
  if (is_tight(model)) repack(workshop, tries(400'000, 4, 48));
  const bool all = model.is_tiny() && try_all(workshop, bound_us, 40'000);
  if (!all && model.is_tiny()) refine(workshop, bound_us, tries(100'000, 1, 3000));
  if (!all && !cook.is_good()) search(workshop, bound_us, tries(cook.is_large() ? 100'000 : 800'000, 1, 1500));
  // Of large stacks, whose items have one use each, single changes are not worth their time.
  const bool rearranges = !all && !(cook.is_large() && cook.has_single_uses()) && !cook.is_good();
  if (rearranges) rearrange(workshop, bound_us, tries(cook.is_large() ? 500'000 : 2'000'000, 1, 4000));
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
