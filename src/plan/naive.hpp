// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/plan.hpp"
#include "plan/program.hpp"

namespace hoist::plan {

// The naive plan without digest, homes and prediction. The problem fits by bytes. `early`: in a single shot, what stays
// is loaded at the start instead of just before its first use.
Plan naive_plan(const Problem& problem, bool early = false);

// Items in the order of first use, then name.
std::vector<std::uint32_t> first_use_order(const Problem& problem);

// Throws Error(INFEASIBLE) where some unit's items and the workspace do not fit the budget.
void refuse_if_too_small(const Problem& problem);

// Adds the digest, the homes and the prediction. Throws Error(INFEASIBLE) where no homes were found.
void complete(const Problem& problem, const Rows<UnitUse>& uses, Plan& plan);

}  // namespace hoist::plan
