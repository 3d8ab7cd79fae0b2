// SPDX-License-Identifier: Apache-2.0
#include "plan/candidates.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "plan/launch.hpp"
#include "plan/pack.hpp"
#include "plan/simulate.hpp"

namespace hoist::plan {
namespace {

constexpr std::array shares = {1.0, 0.99, 0.98, 0.97, 0.955, 0.94, 0.92, 0.895};

}  // namespace

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

std::optional<double> Workshop::time_of(Draft draft, const std::vector<std::uint32_t>& most) const {
  check_time();
  const std::optional<Timetable> table = run_in_time(model, draft, most, cap_of(packed_));
  return table ? std::optional(table->step_us) : std::nullopt;
}

std::uint64_t Workshop::cap_of(std::size_t nth) const {
  return static_cast<std::uint64_t>(shares[nth] * static_cast<double>(model.arena));
}

std::optional<double> Workshop::try_timed(const Draft& draft, const std::vector<std::uint32_t>& most) {
  check_time();
  // What was packed last says where packing begins to succeed.
  for (std::size_t i = packed_ > 0 ? packed_ - 1 : 0; i < shares.size(); ++i) {
    Draft timed = draft;
    const std::optional<Timetable> table = run_in_time(model, timed, most, cap_of(i));
    if (!table) return std::nullopt;
    if (table->step_us >= best_us_) return table->step_us;
    if (!pack(model, *table, timed, packing_)) continue;
    packed_ = i;
    return try_placed(std::move(timed), PlaceOptions{});
  }
  return std::nullopt;
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
