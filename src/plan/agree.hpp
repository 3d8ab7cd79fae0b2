// SPDX-License-Identifier: Apache-2.0
// How ranks agree: one problem from all of theirs, the same plan on each, an error that names a rank otherwise.
// Pure: the caller gathers what the ranks say; nullptr or an empty digest stands for a rank that said nothing.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "plan/problem.hpp"

namespace hoist::plan {

// The problem that every rank plans from: the longest times, the slowest links, the smallest budget. Throws
// Error(ABORTED) that names the first rank that is lost, Error(INVALID_ARGUMENT) that names the first rank whose
// problem is not rank 0's but for these, and what differs.
Problem agreed_problem(const std::vector<const Problem*>& of_ranks);

// SHA-256 over the plan as JSON.
std::string plan_digest(const Problem& problem, const Plan& plan);

// Throws Error(ABORTED) that names the first rank that is lost, Error(INVALID_PLAN) that names the first rank whose
// digest is not rank 0's.
void compare_digests(const std::vector<std::string>& of_ranks);

}  // namespace hoist::plan
