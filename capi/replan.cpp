// SPDX-License-Identifier: Apache-2.0
// The part of plan.h that concerns a manager.
#include "guard.hpp"
#include "hoist/plan.h"
#include "manager_handle.hpp"
#include "options.hpp"
#include "plan_handle.hpp"

using namespace hoist;
using namespace hoist::capi;

hoist_status_t hoist_manager_get_problem(hoist_manager_t* manager, hoist_problem_t** out_problem) noexcept {
  return guarded("hoist_manager_get_problem", [&] {
    const HeldManager held(manager);
    required(out_problem, "out_problem");
    *out_problem = create_handle<hoist_problem_t>(held.budget().problem());
  });
}

hoist_status_t hoist_manager_get_plan(hoist_manager_t* manager, hoist_plan_t** out_plan) noexcept {
  return guarded("hoist_manager_get_plan", [&] {
    const HeldManager held(manager);
    required(out_plan, "out_plan");
    *out_plan = create_handle<hoist_plan_t>(KeptPlan{held.budget().problem(), *held.budget().plan()});
  });
}

hoist_status_t hoist_replan_prepare(hoist_manager_t* manager, std::uint32_t steps) noexcept {
  return guarded("hoist_replan_prepare", [&] {
    const HeldManager held(manager);
    held.budget().prepare_replan(steps);
  });
}

hoist_status_t hoist_replan_request(hoist_manager_t* manager, const hoist_problem_t* problem,
                                    const hoist_plan_t* plan) noexcept {
  return guarded("hoist_replan_request", [&] {
    const HeldManager held(manager);
    if (problem == nullptr && plan == nullptr) return held.budget().request_replan(nullptr, nullptr);
    const auto& given = value_of(problem, "problem");
    const plan::Plan known = plan_for(given, value_of(plan, "plan"));
    held.budget().request_replan(given.get(), &known);
  });
}

hoist_status_t hoist_replan_query(const hoist_manager_t* manager, hoist_replan_status_t* out_status) noexcept {
  return guarded("hoist_replan_query", [&] {
    const HeldManager held(manager);
    check_out(out_status, "out_status");
    hoist_replan_status_t status = HOIST_REPLAN_STATUS_INIT;
    status.state = static_cast<hoist_replan_state_t>(held.budget().replan_state());
    status.can_request = held.budget().can_replan() ? 1 : 0;
    status.applied = held.budget().requests_applied();
    status.reason = held.budget().replan_reason().c_str();
    write_struct(*out_status, status);
  });
}
