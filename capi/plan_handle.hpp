// SPDX-License-Identifier: Apache-2.0
// What hoist_problem_t and hoist_plan_t point to; shared with the calls that take them from a manager.
#pragma once

#include <memory>
#include <vector>

#include "base/error.hpp"
#include "handle.hpp"
#include "hoist/plan.h"
#include "plan/plan.hpp"

namespace hoist::capi {

// A plan names items by index in its own problem, which it keeps: exporting needs the names.
struct KeptPlan {
  std::shared_ptr<const plan::Problem> problem;
  plan::Plan plan;
};

}  // namespace hoist::capi

struct hoist_problem_t : hoist::capi::Handle<std::shared_ptr<const hoist::plan::Problem>> {
  static constexpr const char* type = "hoist_problem_t";
};
struct hoist_plan_t : hoist::capi::Handle<hoist::capi::KeptPlan> {
  static constexpr const char* type = "hoist_plan_t";
};

namespace hoist::capi {

// The plan with its items counted as in another problem: items may stand in another order there. Throws
// Error(INVALID_PLAN) for an item that the other one lacks.
inline plan::Plan plan_for(const std::shared_ptr<const plan::Problem>& problem, const KeptPlan& kept) {
  if (kept.problem == problem) return kept.plan;
  const std::vector<std::uint32_t> numbers = plan::numbers_in(*problem, *kept.problem);
  for (std::size_t item = 0; item < numbers.size(); ++item) {
    if (numbers[item] != UINT32_MAX) continue;
    fail(HOIST_ERROR_INVALID_PLAN,
         text("the plan is for another problem: this one has no item \"", kept.problem->items[item].name, "\""),
         "give the problem that the plan was made for");
  }
  return plan::renumbered(kept.plan, numbers);
}

}  // namespace hoist::capi
