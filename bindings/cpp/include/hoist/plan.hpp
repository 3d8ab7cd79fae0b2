// SPDX-License-Identifier: Apache-2.0
// Problems and plans, and replans of a manager.
#pragma once

#include <string>
#include <string_view>

#include "hoist/handle.hpp"
#include "hoist/manager.hpp"
#include "hoist/plan.h"

namespace hoist {

class Problem : public detail::Handle<hoist_problem_t, hoist_problem_destroy> {
 public:
  using Handle::Handle;
  explicit Problem(std::string_view json) : Handle(make(hoist_problem_import, json.data(), json.size())) {}
  // What the manager plans for now: measured units and links, its budget.
  explicit Problem(const Manager& manager) : Handle(make(hoist_manager_get_problem, manager.get())) {}

  [[nodiscard]] std::string json() const {
    return detail::text_of([&](char* to, std::size_t* bytes) { return hoist_problem_export(get(), to, bytes); });
  }
  // step_us is the bound, bytes are the least ones.
  [[nodiscard]] hoist_plan_result_t bound() const {
    hoist_plan_result_t result{};
    result.struct_size = sizeof result;
    check(hoist_plan_bound(get(), &result));
    return result;
  }
};

struct PlanOptions : hoist_plan_options_t {
  PlanOptions() : hoist_plan_options_t() {
    struct_size = sizeof(hoist_plan_options_t);
    check(hoist_plan_options_init(this));
  }
};

class Plan : public detail::Handle<hoist_plan_t, hoist_plan_destroy> {
 public:
  using Handle::Handle;
  // Solves.
  explicit Plan(const Problem& problem) : Handle(make(hoist_plan_solve, problem.get(), nullptr)) {}
  Plan(const Problem& problem, const hoist_plan_options_t& options)
      : Handle(make(hoist_plan_solve, problem.get(), &options)) {}
  // Reads JSON; check() says whether it is valid.
  Plan(const Problem& problem, std::string_view json)
      : Handle(make(hoist_plan_import, problem.get(), json.data(), json.size())) {}
  // What the manager serves.
  explicit Plan(const Manager& manager) : Handle(make(hoist_manager_get_plan, manager.get())) {}

  [[nodiscard]] std::string json() const {
    return detail::text_of([&](char* to, std::size_t* bytes) { return hoist_plan_export(get(), to, bytes); });
  }
  void check(const Problem& problem) const { hoist::check(hoist_plan_check(problem.get(), get())); }
  [[nodiscard]] hoist_plan_result_t simulate(const Problem& problem) const { return run(problem, nullptr); }
  // Writes a Chrome trace of the last simulated step.
  [[nodiscard]] hoist_plan_result_t simulate(const Problem& problem, const std::string& trace_path) const {
    return run(problem, detail::c_text(trace_path, "trace_path"));
  }
  // One line an item: why it stays or moves.
  [[nodiscard]] std::string explain(const Problem& problem) const {
    return detail::text_of(
        [&](char* to, std::size_t* bytes) { return hoist_plan_explain(problem.get(), get(), to, bytes); });
  }

 private:
  [[nodiscard]] hoist_plan_result_t run(const Problem& problem, const char* trace_path) const {
    hoist_plan_result_t result{};
    result.struct_size = sizeof result;
    hoist::check(hoist_plan_simulate(problem.get(), get(), trace_path, &result));
    return result;
  }
};

// Times the units of each of the next steps, for a plan that is asked for after them; 0: 8.
inline void replan_prepare(Manager& manager, std::uint32_t steps = 0) {
  check(hoist_replan_prepare(manager.get(), steps));
}
// The next step's begin swaps: a plan made anew from what was measured, or the caller's.
inline void replan(Manager& manager) { check(hoist_replan_request(manager.get(), nullptr, nullptr)); }
inline void replan(Manager& manager, const Problem& problem, const Plan& plan) {
  check(hoist_replan_request(manager.get(), problem.get(), plan.get()));
}
inline hoist_replan_status_t replan_query(const Manager& manager) {
  hoist_replan_status_t status = HOIST_REPLAN_STATUS_INIT;
  check(hoist_replan_query(manager.get(), &status));
  return status;
}

}  // namespace hoist
