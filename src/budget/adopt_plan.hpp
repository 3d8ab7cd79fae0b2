// SPDX-License-Identifier: Apache-2.0
// A plan that came from outside, brought to the budget's own numbering.
#pragma once

#include "plan/plan.hpp"
#include "plan/problem.hpp"

namespace hoist {

struct AdoptedPlan {
  plan::Problem problem;
  plan::Plan plan;
};

// `given` must have the units, items, sizes, uses and alignment of `own`, and a budget within its; times
// and the order of items may differ. Throws Error(INVALID_ARGUMENT) naming the first difference, or
// Error(INVALID_PLAN) where the plan is not valid for the given problem.
AdoptedPlan adopt_plan(const plan::Problem& own, const plan::Problem& given, const plan::Plan& plan);

}  // namespace hoist
