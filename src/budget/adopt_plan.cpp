// SPDX-License-Identifier: Apache-2.0
#include "budget/adopt_plan.hpp"

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "plan/planner.hpp"

namespace hoist {
namespace {

template <typename Value>
void require_equal(const std::string& what, const Value& given, const Value& own) {
  if (given == own) return;
  fail(HOIST_ERROR_INVALID_ARGUMENT, text("the problem is not the manager's: ", what, " is ", given, " and not ", own),
       "take the problem from the manager");
}

void require_same_units(const plan::Problem& own, const plan::Problem& given) {
  require_equal("alignment", given.alignment, own.alignment);
  require_equal("the number of units", given.units.size(), own.units.size());
  require_equal("the number of items", given.items.size(), own.items.size());
  require_equal("cyclic", given.cyclic, own.cyclic);
  if (given.budget_bytes > own.budget_bytes) require_equal("budget_bytes", given.budget_bytes, own.budget_bytes);
  for (std::size_t u = 0; u < own.units.size(); ++u) {
    require_equal(text("the name of unit ", u), given.units[u].name, own.units[u].name);
    require_equal(text("workspace_bytes of unit \"", own.units[u].name, "\""), given.units[u].workspace_bytes,
                  own.units[u].workspace_bytes);
  }
}

void require_same_item(const plan::Item& own, const plan::Item& given) {
  const std::string of = text(" of item \"", own.name, "\"");
  require_equal("bytes" + of, given.bytes, own.bytes);
  require_equal("transient" + of, given.transient, own.transient);
  require_equal("link" + of, static_cast<int>(given.link), static_cast<int>(own.link));
  require_equal("the number of uses" + of, given.uses.size(), own.uses.size());
  for (std::size_t k = 0; k < own.uses.size(); ++k) {
    require_equal("the unit of a use" + of, given.uses[k].unit, own.uses[k].unit);
    require_equal("the mode of a use" + of, static_cast<int>(given.uses[k].mode), static_cast<int>(own.uses[k].mode));
  }
}

// By number in `given`: the number in `own`.
std::vector<std::uint32_t> match_items(const plan::Problem& own, const plan::Problem& given) {
  std::vector<std::uint32_t> to_own = plan::numbers_in(own, given);
  for (std::size_t index = 0; index < to_own.size(); ++index) {
    const plan::Item& item = given.items[index];
    if (to_own[index] == UINT32_MAX) {
      fail(HOIST_ERROR_INVALID_ARGUMENT, text("the problem is not the manager's: it has no item \"", item.name, "\""),
           "take the problem from the manager");
    }
    require_same_item(own.items[to_own[index]], item);
  }
  return to_own;
}

}  // namespace

AdoptedPlan adopt_plan(const plan::Problem& own, const plan::Problem& given, const plan::Plan& plan) {
  require_same_units(own, given);
  const std::vector<std::uint32_t> to_own = match_items(own, given);
  plan::check(given, plan);
  AdoptedPlan adopted{given, plan::renumbered(plan, to_own)};
  for (std::size_t item = 0; item < to_own.size(); ++item) adopted.problem.items[to_own[item]] = given.items[item];
  return adopted;
}

}  // namespace hoist
