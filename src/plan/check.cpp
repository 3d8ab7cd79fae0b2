// SPDX-License-Identifier: Apache-2.0
// A plan against its problem: digest, homes, the total order, then the rules of execution.
#include <algorithm>

#include "base/error.hpp"
#include "plan/planner.hpp"
#include "plan/simulate.hpp"
#include "plan/sizes.hpp"

namespace hoist::plan {
namespace {

[[noreturn]] void refuse(const std::string& message) { fail(HOIST_ERROR_INVALID_PLAN, message); }

std::vector<std::uint64_t> read_homes(const Problem& problem, const Plan& plan) {
  constexpr std::uint64_t nowhere = UINT64_MAX;
  std::vector<std::uint64_t> homes(problem.items.size(), nowhere);
  const std::uint64_t arena = arena_of(problem);
  for (const Place& home : plan.homes) {
    if (home.item >= problem.items.size()) refuse(text("homes: item ", home.item, " of none"));
    const std::string& name = problem.items[home.item].name;
    if (homes[home.item] != nowhere) refuse(text("homes: \"", name, "\" stands twice"));
    const std::uint64_t size = problem.items[home.item].uses.empty() ? 0 : size_of(problem, home.item);
    if (home.offset > arena || size > arena - home.offset || home.offset % problem.alignment != 0) {
      refuse(text("homes: \"", name, "\", ", size, " bytes at ", home.offset, ": not a place of the arena of ", arena));
    }
    homes[home.item] = home.offset;
  }
  const auto missing = std::find(homes.begin(), homes.end(), nowhere);
  if (missing != homes.end()) {
    refuse(text("homes: \"", problem.items[static_cast<std::size_t>(missing - homes.begin())].name, "\" is missing"));
  }
  return homes;
}

void check_homes(const Problem& problem, const Rows<UnitUse>& uses, const Plan& plan) {
  const std::vector<std::uint64_t> homes = read_homes(problem, plan);
  std::vector<std::uint32_t> items;
  for (std::uint32_t unit = 0; unit < problem.units.size(); ++unit) {
    items.clear();
    for (std::uint32_t i = uses.begin[unit]; i < uses.begin[unit + 1]; ++i) {
      if (size_of(problem, uses.values[i].item) > 0) items.push_back(uses.values[i].item);
    }
    std::sort(items.begin(), items.end(), [&](std::uint32_t a, std::uint32_t b) { return homes[a] < homes[b]; });
    for (std::size_t i = 1; i < items.size(); ++i) {
      if (homes[items[i - 1]] + size_of(problem, items[i - 1]) <= homes[items[i]]) continue;
      refuse(text("homes: \"", problem.items[items[i - 1]].name, "\" and \"", problem.items[items[i]].name,
                  "\" overlap, and unit ", unit, " uses both"));
    }
  }
}

}  // namespace

Simulation check(const Problem& problem, const Plan& plan) {
  validate(problem);
  const std::string digest = problem_digest(problem);
  if (plan.problem_digest != digest) {
    refuse(text("the plan is for problem ", plan.problem_digest, "; this one is ", digest));
  }
  const Rows<UnitUse> uses = uses_by_unit(problem);
  check_homes(problem, uses, plan);
  return simulate(problem, compile(problem, uses, plan), {});
}

}  // namespace hoist::plan
