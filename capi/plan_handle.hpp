// SPDX-License-Identifier: Apache-2.0
// What hoist_problem_t and hoist_plan_t point to; shared with the calls that take them from a manager.
#pragma once

#include <memory>

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
  return plan::plan_from_json(*problem, plan::plan_to_json(*kept.problem, kept.plan));
}

}  // namespace hoist::capi
