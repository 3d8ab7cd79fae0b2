// SPDX-License-Identifier: Apache-2.0
#include "plan/naive.hpp"
#include "plan/planner.hpp"

namespace hoist::plan {

Plan solve(const Problem& problem, const SolveOptions&) { return naive(problem); }

}  // namespace hoist::plan
