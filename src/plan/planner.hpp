// SPDX-License-Identifier: Apache-2.0
// The planner's calls: pure functions of their arguments, no device, no clock but the time limit.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "plan/problem.hpp"

namespace hoist::plan {

struct SolveOptions {
  std::uint32_t effort = 0;               // iterations of search; 0: the default
  double time_limit_seconds = 0;          // 0: none; past it: Error(ABORTED)
  std::function<void(Plan&)> found = {};  // for tests: called with what the search found, before it is checked
};

// A plan that passes check() and is never slower than naive(): should the search find another, which is a defect and
// logged as an error, the naive plan. Throws Error(INFEASIBLE) with the smallest budget that would do.
Plan solve(const Problem& problem, const SolveOptions& options = {});

// The floor: what fits from the front stays, the rest is loaded just before its unit and dropped after. It passes
// check(), too.
Plan naive(const Problem& problem);

struct Interval {  // one op or unit in the last simulated step, for timelines
  enum class Kind : std::uint8_t { compute, stall, load, store } kind = Kind::compute;
  std::uint32_t index = 0;  // unit or item
  double begin_us = 0;
  double end_us = 0;
};

struct Simulation {
  double step_us = 0;
  double stall_us = 0;
  std::uint64_t peak_bytes = 0;
  std::uint64_t link_bytes[link_count] = {0, 0, 0};
  std::vector<double> unit_stall_us;  // by unit, in the last step
  std::vector<Interval> timeline;     // filled on request
};

struct SimulateOptions {
  bool timeline = false;
  bool brief = false;  // ends at three equal steps, before a backlog can show: for comparing many plans
  // Where set: the compute time of a unit in a step, instead of the problem's (slow ranks, noise).
  std::function<double(std::uint32_t step, std::uint32_t unit)> compute_us;
};

// Runs the rules of execution. Throws Error(INVALID_PLAN) that names the op or unit and says why.
Simulation simulate(const Problem& problem, const Plan& plan, const SimulateOptions& options = {});

// Digest, homes and total order, then simulate(). Throws Error(INVALID_PLAN).
Simulation check(const Problem& problem, const Plan& plan);

struct Bound {
  double step_us = 0;      // the page's bound
  double windowed_us = 0;  // the tighter one over windows of units; at least step_us
  double compute_us = 0;
  std::uint64_t h2d_bytes = 0;  // bytes that must cross
  std::uint64_t d2h_bytes = 0;
  std::uint64_t peer_bytes = 0;
};
Bound bound(const Problem& problem);
Bound page_bound(const Problem& problem);  // without the windows: windowed_us is step_us

// The smallest budget by bytes under which every unit's items and workspace fit.
std::uint64_t smallest_budget(const Problem& problem);

// The smallest budget under which a plan was found: smallest_budget(), or more where fragmentation prevents that.
std::uint64_t workable_budget(const Problem& problem);

// One line an item: why it stays or moves. UTF-8 text.
std::string explain(const Problem& problem, const Plan& plan);

}  // namespace hoist::plan
