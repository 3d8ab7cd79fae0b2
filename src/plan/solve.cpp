// SPDX-License-Identifier: Apache-2.0
// The solver: the naive floor, recipes, local search; always over items in the order of their names, so that the
// order in which they were given decides nothing. What it finds is checked as a stranger's plan is.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/log.hpp"
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

// Local search over what leaves, by bytes in time and by places, for as long as it pays.
template <typename Tries>
void improve(Workshop& workshop, const Cook& cook, double bound_us, const Tries& tries) {
  const bool in_time = workshop.model.problem.cyclic && !cook.is_large();
  workshop.allow_packing();
  if (in_time) search_in_time(workshop, bound_us, tries(600'000, 1, 2000), 0);
  // Of large stacks, whose items have one use each, single changes are not worth their time.
  if (cook.is_large() && cook.has_single_uses()) return;
  constexpr double pays = 0.002;
  for (int round = 1; round <= (cook.is_large() ? 1 : 3) && !cook.is_good(); ++round) {
    const double before = workshop.best_us();
    if (in_time) search_in_time(workshop, bound_us, tries(1'200'000, 1, 4000), 0.002 * round);
    rearrange(workshop, bound_us, tries(cook.is_large() ? 500'000 : 2'000'000, 1, 4000));
    if (workshop.best_us() > (1 - pays) * before) return;
  }
}

// The best plan found, the naive one among the candidates, whose time is `floor_us`.
Plan solve_sorted(const Problem& problem, const SolveOptions& options, double& floor_us) {
  const Model model(problem);
  Workshop workshop(model, options);
  floor_us = workshop.try_plan(naive_plan(problem));
  if (!problem.cyclic) workshop.try_plan(naive_plan(problem, true));
  const double bound_us = page_bound(problem).step_us;
  // Work, not time: the same on every machine. A plan takes about a microsecond for each gap and unit.
  const auto tries = [&](std::uint64_t work, std::uint64_t least, std::uint64_t most) {
    return options.effort > 0 ? options.effort : std::clamp(work / model.work(), least, most);
  };
  Cook cook(workshop, bound_us);
  workshop.allow_packing();
  cook.descend(tries(600'000, 3, 900));
  if (is_tight(model)) repack(workshop, tries(400'000, 4, 48));
  const bool all = model.is_tiny() && try_all(workshop, bound_us, 40'000);
  if (!all && model.is_tiny()) refine(workshop, bound_us, tries(100'000, 1, 3000));
  if (!all && !cook.is_good()) search(workshop, bound_us, tries(cook.is_large() ? 100'000 : 800'000, 1, 1500));
  if (!all && !cook.is_good()) improve(workshop, cook, bound_us, tries);
  Plan plan = workshop.take_best();
  complete(problem, model.uses, plan);
  if (plan.predicted.step_us <= floor_us) return plan;
  // Candidates are compared by their first steps: a backlog can have shown since.
  Plan floor = naive_plan(problem);
  complete(problem, model.uses, floor);
  return floor;
}

// Throws Error(INVALID_PLAN) unless the plan passes check(), comes to what it predicts and is no slower than the floor.
void require_sound(const Problem& problem, const Plan& plan, double floor_us) {
  const double step_us = check(problem, plan).step_us;
  if (std::abs(step_us - plan.predicted.step_us) > 1e-9 * step_us) {
    fail(HOIST_ERROR_INVALID_PLAN,
         text("a step of ", plan.predicted.step_us, " us is predicted, but by the rules it takes ", step_us));
  }
  if (plan.predicted.step_us > floor_us) {
    fail(HOIST_ERROR_INVALID_PLAN, text("a step takes ", step_us, " us, the naive plan's ", floor_us));
  }
}

}  // namespace

Plan solve(const Problem& problem, const SolveOptions& options) {
  validate(problem);
  refuse_if_too_small(problem);
  try {
    double floor_us = 0;
    Plan plan = over_sorted(problem, [&](const Problem& sorted) { return solve_sorted(sorted, options, floor_us); });
    if (options.found) options.found(plan);
    require_sound(problem, plan, floor_us);
    return plan;
  } catch (const Error& error) {
    if (error.code() != HOIST_ERROR_INVALID_PLAN) throw;
    log(HOIST_LOG_ERROR, "the plan that was found for ", problem.units.size(), " units and ", problem.items.size(),
        " items is not sound: ", error.what(), "; the naive plan takes its place; please report the problem");
  }
  return naive(problem);
}

}  // namespace hoist::plan
