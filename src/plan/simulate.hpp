// SPDX-License-Identifier: Apache-2.0
// The rules of execution over a compiled plan.
#pragma once

#include "plan/planner.hpp"
#include "plan/program.hpp"

namespace hoist::plan {

Simulation simulate(const Problem& problem, const Program& program, const SimulateOptions& options);

}  // namespace hoist::plan
