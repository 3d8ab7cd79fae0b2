// SPDX-License-Identifier: Apache-2.0
#include "hoist/budget.h"

#include "guard.hpp"
#include "manager_handle.hpp"
#include "options.hpp"
#include "plan/planner.hpp"

using namespace hoist;
using namespace hoist::capi;

namespace {

using Options = hoist_budget_options_t;

void set_budget_option(Options& options, std::string_view what, std::string_view value) {
  constexpr const char* would_do = "give bytes (24GiB) or a share (60%) above 0";
  if (value.empty()) fail(HOIST_ERROR_INVALID_ARGUMENT, text(what, " is ''"), would_do);
  const bool share = is_share(value);
  if ((share ? parse_share(what, value) : static_cast<double>(parse_bytes(what, value))) == 0) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text(what, " is '", value, "': nothing fits into no bytes"), would_do);
  }
  options.budget_share = share ? parse_share(what, value) : 0;
  options.budget_bytes = share ? 0 : parse_bytes(what, value);
}

hoist_placement_t parse_placement(std::string_view what, std::string_view value) {
  if (value == "arena") return HOIST_PLACEMENT_ARENA;
  if (value == "slots") return HOIST_PLACEMENT_SLOTS;
  fail(HOIST_ERROR_INVALID_ARGUMENT, text(what, " is '", value, "'"), "give arena or slots");
}

constexpr std::uint64_t most_count = 0xffffffffU;

const Field<Options> fields[] = {
    {"budget", set_budget_option,
     [](const Options& options) { return options.budget_bytes == 0 && options.budget_share == 0; }},
    {"budget_bytes",
     [](Options& o, std::string_view what, std::string_view v) { o.budget_bytes = parse_bytes(what, v); },
     [](const Options& o) { return o.budget_bytes == 0 && o.budget_share == 0; }},
    {"budget_share",
     [](Options& o, std::string_view what, std::string_view v) { o.budget_share = parse_share(what, v); },
     [](const Options& o) { return o.budget_bytes == 0 && o.budget_share == 0; }},
    {"pinned_limit_bytes",
     [](Options& o, std::string_view what, std::string_view v) { o.pinned_limit_bytes = parse_bytes(what, v); },
     [](const Options& o) { return o.pinned_limit_bytes == 0; }},
    {"profile_steps",
     [](Options& o, std::string_view what, std::string_view v) {
       const std::uint64_t steps = parse_count(what, v, most_count);
       o.profile_steps = steps == 0 ? HOIST_PROFILE_STEPS_NONE : static_cast<std::uint32_t>(steps);
     },
     [](const Options& o) { return o.profile_steps == 0; }},
    {"run_ahead_steps",
     [](Options& o, std::string_view what, std::string_view v) {
       o.run_ahead_steps = static_cast<std::uint32_t>(parse_count(what, v, most_count));
     },
     [](const Options& o) { return o.run_ahead_steps == 0; }},
    {"plan_effort",
     [](Options& o, std::string_view what, std::string_view v) {
       o.plan_effort = static_cast<std::uint32_t>(parse_count(what, v, most_count));
     },
     [](const Options& o) { return o.plan_effort == 0; }},
    {"placement", [](Options& o, std::string_view what, std::string_view v) { o.placement = parse_placement(what, v); },
     [](const Options& o) { return o.placement == HOIST_PLACEMENT_DEFAULT; }},
    {"trust",
     [](Options& o, std::string_view what, std::string_view v) {
       o.trust = parse_switch(what, v) ? HOIST_SWITCH_ON : HOIST_SWITCH_OFF;
     },
     [](const Options& o) { return o.trust == HOIST_SWITCH_DEFAULT; }},
};

Placement core_placement(hoist_placement_t placement) {
  if (placement >= HOIST_PLACEMENT_DEFAULT && placement <= HOIST_PLACEMENT_SLOTS) {
    return placement == HOIST_PLACEMENT_SLOTS ? Placement::slots : Placement::arena;
  }
  fail(HOIST_ERROR_INVALID_ARGUMENT, text("placement is ", static_cast<int>(placement)), "give a hoist_placement_t");
}

// Checked against each other and against what a budget takes.
BudgetOptions core_options(const Options& options) {
  if (options.budget_bytes != 0 && options.budget_share != 0) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, "budget_bytes and budget_share are both set", "set one of them");
  }
  if (options.trust < HOIST_SWITCH_DEFAULT || options.trust > HOIST_SWITCH_ON) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("trust is ", static_cast<int>(options.trust)), "give a hoist_switch_t");
  }
  BudgetOptions core;
  core.bytes = options.budget_bytes;
  if (options.budget_share != 0) core.share = options.budget_share;
  core.pinned_limit_bytes = options.pinned_limit_bytes;
  if (options.profile_steps != 0) core.profile_steps = options.profile_steps;
  if (options.profile_steps == HOIST_PROFILE_STEPS_NONE) core.profile_steps = 0;
  if (options.run_ahead_steps != 0) core.run_ahead_steps = options.run_ahead_steps;
  core.plan_effort = options.plan_effort;
  core.placement = core_placement(options.placement);
  require_valid(core);
  return core;
}

}  // namespace

namespace hoist::capi {

BudgetOptions budget_options(const hoist_budget_options_t* given) {
  Options options = read_options(given, "options");
  apply_environment(options, std::span<const Field<Options>>(fields));
  BudgetOptions core = core_options(options);
  core.trust = options.trust == HOIST_SWITCH_DEFAULT ? trust_mode() : options.trust == HOIST_SWITCH_ON;
  return core;
}

static void copy_counts(const BudgetStatus& core, hoist_budget_status_t& out) {
  out.steps = core.counters.steps;
  out.steps_before_serving = core.steps_before_serving;
  out.aborted_steps = core.counters.aborted_steps;
  out.mispredictions = core.counters.mispredictions;
  out.demand_loads = core.counters.demand_loads;
  out.replans = core.replans;
  out.refused_ops = core.counters.refused_ops;
  out.h2d_bytes = core.h2d_bytes;
  out.d2h_bytes = core.d2h_bytes;
  out.last_step_h2d_bytes = core.last_step_h2d_bytes;
  out.last_step_d2h_bytes = core.last_step_d2h_bytes;
}

static void copy_host_memory(const PinnedArena::Held& held, hoist_budget_status_t& out) {
  out.pinned_bytes = held.pinned;
  out.adopted_bytes = held.adopted;
  out.pageable_bytes = held.pageable;
}

static void fill_status(Budget& budget, const BudgetStatus& core, hoist_budget_status_t& out) {
  out.phase = static_cast<hoist_phase_t>(core.phase);
  out.unit_count = static_cast<std::uint32_t>(budget.catalog().units().size());
  out.tensor_count = budget.catalog().items().size();
  out.tensor_bytes = budget.catalog().unique_bytes();
  out.budget_bytes = core.budget_bytes;
  out.reserved_bytes = core.reserved_bytes;
  out.arena_bytes = core.arena_bytes;
  out.peak_bytes = core.peak_bytes;
  copy_host_memory(budget.pinned().held(), out);
  copy_counts(core, out);
  out.predicted_step_us = core.predicted.step_us;
  out.bound_us = core.predicted.bound_us;
  out.last_step_us = core.last_step_us;
  out.last_stall_us = core.last_stall_us;
}

void write_status(Budget& budget, hoist_budget_status_t& out) {
  const BudgetStatus core = budget.status();
  fill_struct(out, [&](hoist_budget_status_t& status) { fill_status(budget, core, status); });
}

}  // namespace hoist::capi

hoist_status_t hoist_budget_options_init(hoist_budget_options_t* out_options) noexcept {
  return guarded("hoist_budget_options_init", [&] {
    const hoist_budget_options_t defaults = HOIST_BUDGET_OPTIONS_INIT;
    write_struct(check_out(out_options, "out_options"), defaults);
  });
}

hoist_status_t hoist_budget_options_set(hoist_budget_options_t* options, const char* key, const char* value) noexcept {
  return guarded("hoist_budget_options_set", [&] {
    Options known = read_struct(options, "options");
    set_option(known, std::span<const Field<Options>>(fields), &required(key, "key"), &required(value, "value"));
    core_options(known);
    write_struct(*options, known);
  });
}

hoist_status_t hoist_budget_create(hoist_device_t* device, const hoist_budget_options_t* options,
                                   hoist_budget_t** out_budget) noexcept {
  return guarded("hoist_budget_create", [&] {
    const auto& target = device_of(device);
    required(out_budget, "out_budget");
    *out_budget = create_handle<hoist_budget_t>(std::make_shared<Budget>(target, budget_options(options)));
  });
}

void hoist_budget_destroy(hoist_budget_t* budget) noexcept { destroy_handle(budget, "hoist_budget_destroy"); }

hoist_status_t hoist_budget_set(hoist_budget_t* budget, std::uint64_t budget_bytes, double budget_share) noexcept {
  return guarded("hoist_budget_set", [&] {
    Budget& target = *value_of(budget, "budget");
    const Busy busy(target.busy(), "budget");
    if ((budget_bytes == 0) == (budget_share == 0)) {
      fail(HOIST_ERROR_INVALID_ARGUMENT, text("budget_bytes is ", budget_bytes, " and budget_share ", budget_share),
           "give one of them, the other 0");
    }
    target.set_budget(budget_bytes, budget_share);
  });
}

hoist_status_t hoist_budget_reserve(hoist_budget_t* budget, std::uint64_t bytes) noexcept {
  return guarded("hoist_budget_reserve", [&] {
    Budget& target = *value_of(budget, "budget");
    const Busy busy(target.busy(), "budget");
    target.reserve(bytes);
  });
}

hoist_status_t hoist_budget_release(hoist_budget_t* budget, std::uint64_t bytes) noexcept {
  return guarded("hoist_budget_release", [&] {
    Budget& target = *value_of(budget, "budget");
    target.release(bytes);
    const BusyIfFree busy(target.busy());
    if (busy && bytes != 0) target.plan_with_released();
  });
}

hoist_status_t hoist_budget_query(const hoist_budget_t* budget, hoist_budget_status_t* out_status) noexcept {
  return guarded("hoist_budget_query", [&] {
    Budget& target = *value_of(budget, "budget");
    const Busy busy(target.busy(), "budget");
    check_out(out_status, "out_status");
    write_status(target, *out_status);
  });
}
