// SPDX-License-Identifier: Apache-2.0
#include "plan/candidates.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "plan/launch.hpp"
#include "plan/simulate.hpp"

namespace hoist::plan {

Workshop::Workshop(const Model& of, const SolveOptions& options) : model(of), options_(options) {}

void Workshop::check_time() const {
  if (options_.time_limit_seconds <= 0) return;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
  if (taken.count() > options_.time_limit_seconds) {
    fail(HOIST_ERROR_ABORTED, text("planning took more than the limit of ", options_.time_limit_seconds, " seconds"),
         "a longer limit, or less effort");
  }
}

std::optional<double> Workshop::try_draft(Draft draft, const std::vector<std::uint32_t>& most,
                                          const PlaceOptions& options) {
  check_time();
  if (!place(model, draft, options)) return std::nullopt;
  if (options.grow) grow_in_place(model, draft, most);
  return try_placed(std::move(draft), options);
}

double Workshop::try_placed(Draft draft, const PlaceOptions& options) {
  check_time();
  Plan plan = emit(model, draft, stays_of(model, draft), options.by_offset);
  SimulateOptions brief;
  brief.brief = true;
  Simulation run = simulate(model.problem, compile(model.problem, model.uses, plan), brief);
  last_stalls_ = std::move(run.unit_stall_us);
  // Three equal steps can pass before a link's backlog shows. Tiny problems are measured by the rule alone.
  const double step_us = model.is_tiny() ? run.step_us : std::max(run.step_us, copies_us(model, draft));
  if (step_us < best_us_) {
    best_us_ = step_us;
    best_plan_ = std::move(plan);
    best_draft_ = std::move(draft);
    best_options_ = options;
  }
  return step_us;
}

double Workshop::try_plan(Plan plan) {
  const Simulation run = simulate(model.problem, compile(model.problem, model.uses, plan), {});
  if (run.step_us < best_us_) {
    best_us_ = run.step_us;
    best_plan_ = std::move(plan);
    best_draft_ = {};
  }
  return run.step_us;
}

}  // namespace hoist::plan
