// SPDX-License-Identifier: Apache-2.0
// The calls of plan.h that need no manager: problems, plans, what they come to.
#include <algorithm>
#include <cmath>
#include <string>

#include "guard.hpp"
#include "options.hpp"
#include "plan/planner.hpp"
#include "plan_handle.hpp"
#include "trace/timeline.hpp"

using namespace hoist;
using namespace hoist::capi;

namespace {

// The buffer rules of every export: NULL asks for the size, a room too small leaves all as it was.
void write_text(const std::string& text_out, char* buffer, size_t* inout_bytes) {
  size_t& bytes = required(inout_bytes, "inout_bytes");
  if (buffer != nullptr && bytes < text_out.size()) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("the buffer has room for ", bytes, " bytes"),
         text(text_out.size(), " bytes would do"));
  }
  if (buffer != nullptr) std::copy(text_out.begin(), text_out.end(), buffer);
  bytes = text_out.size();
}

std::string_view read_text(const char* json, size_t bytes) { return {&required(json, "json"), bytes}; }

plan::SolveOptions read_solve_options(const hoist_plan_options_t* given) {
  const hoist_plan_options_t options = read_options(given, "options");
  if (options.reserved != 0) fail(HOIST_ERROR_INVALID_ARGUMENT, "options->reserved is not 0", "leave it 0");
  if (!std::isfinite(options.time_limit_seconds) || options.time_limit_seconds < 0) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("options->time_limit_seconds is ", options.time_limit_seconds),
         "give 0 for no limit, or a time above 0");
  }
  return {options.effort, options.time_limit_seconds};
}

TraceRow row_of(const plan::Problem& problem, const plan::Interval& interval) {
  switch (interval.kind) {
    case plan::Interval::Kind::compute:
      return TraceRow::compute;
    case plan::Interval::Kind::stall:
      return TraceRow::wait;
    case plan::Interval::Kind::store:
      return TraceRow::d2h;
    case plan::Interval::Kind::load:
      break;
  }
  return problem.items[interval.index].link == plan::LinkId::peer ? TraceRow::peer : TraceRow::h2d;
}

void write_simulated(const plan::Problem& problem, const std::vector<plan::Interval>& step, const std::string& path) {
  ChromeTrace trace("hoist simulation");
  name_rows(trace, true);
  for (const plan::Interval& interval : step) {
    const TraceRow row = row_of(problem, interval);
    const int id = static_cast<int>(row);
    if (is_of_units(row)) {
      trace.interval(id, problem.units[interval.index].name, interval.begin_us, interval.end_us);
    } else {
      const plan::Item& item = problem.items[interval.index];
      trace.interval(id, item.name, interval.begin_us, interval.end_us, {{"bytes", item.bytes}});
    }
  }
  trace.write(path);
}

hoist_plan_result_t to_result(const plan::Bound& bound) {
  hoist_plan_result_t result = HOIST_PLAN_RESULT_INIT;
  result.step_us = result.bound_us = bound.step_us;
  result.windowed_us = bound.windowed_us;
  result.h2d_bytes = bound.h2d_bytes;
  result.d2h_bytes = bound.d2h_bytes;
  result.peer_bytes = bound.peer_bytes;
  return result;
}

hoist_plan_result_t to_result(const plan::Simulation& simulation, const plan::Bound& bound) {
  hoist_plan_result_t result = to_result(bound);
  result.step_us = simulation.step_us;
  result.stall_us = simulation.stall_us;
  result.peak_bytes = simulation.peak_bytes;
  result.h2d_bytes = simulation.link_bytes[static_cast<size_t>(plan::LinkId::h2d)];
  result.d2h_bytes = simulation.link_bytes[static_cast<size_t>(plan::LinkId::d2h)];
  result.peer_bytes = simulation.link_bytes[static_cast<size_t>(plan::LinkId::peer)];
  return result;
}

}  // namespace

hoist_status_t hoist_problem_import(const char* json, size_t bytes, hoist_problem_t** out_problem) noexcept {
  return guarded("hoist_problem_import", [&] {
    required(out_problem, "out_problem");
    auto problem = std::make_shared<plan::Problem>(plan::problem_from_json(read_text(json, bytes)));
    plan::validate(*problem);
    *out_problem = create_handle<hoist_problem_t>(std::move(problem));
  });
}

hoist_status_t hoist_problem_export(const hoist_problem_t* problem, char* buffer, size_t* inout_bytes) noexcept {
  return guarded("hoist_problem_export",
                 [&] { write_text(plan::problem_to_json(*value_of(problem, "problem")), buffer, inout_bytes); });
}

void hoist_problem_destroy(hoist_problem_t* problem) noexcept { destroy_handle(problem, "hoist_problem_destroy"); }

hoist_status_t hoist_plan_options_init(hoist_plan_options_t* out_options) noexcept {
  return guarded("hoist_plan_options_init", [&] {
    const hoist_plan_options_t defaults = HOIST_PLAN_OPTIONS_INIT;
    write_struct(check_out(out_options, "out_options"), defaults);
  });
}

hoist_status_t hoist_plan_solve(const hoist_problem_t* problem, const hoist_plan_options_t* options,
                                hoist_plan_t** out_plan) noexcept {
  return guarded("hoist_plan_solve", [&] {
    const auto& target = value_of(problem, "problem");
    required(out_plan, "out_plan");
    *out_plan = create_handle<hoist_plan_t>(KeptPlan{target, plan::solve(*target, read_solve_options(options))});
  });
}

hoist_status_t hoist_plan_import(const hoist_problem_t* problem, const char* json, size_t bytes,
                                 hoist_plan_t** out_plan) noexcept {
  return guarded("hoist_plan_import", [&] {
    const auto& target = value_of(problem, "problem");
    required(out_plan, "out_plan");
    plan::Plan read = plan::plan_from_json(*target, read_text(json, bytes));
    *out_plan = create_handle<hoist_plan_t>(KeptPlan{target, std::move(read)});
  });
}

hoist_status_t hoist_plan_export(const hoist_plan_t* plan, char* buffer, size_t* inout_bytes) noexcept {
  return guarded("hoist_plan_export", [&] {
    const KeptPlan& kept = value_of(plan, "plan");
    write_text(plan::plan_to_json(*kept.problem, kept.plan), buffer, inout_bytes);
  });
}

void hoist_plan_destroy(hoist_plan_t* plan) noexcept { destroy_handle(plan, "hoist_plan_destroy"); }

hoist_status_t hoist_plan_check(const hoist_problem_t* problem, const hoist_plan_t* plan) noexcept {
  return guarded("hoist_plan_check", [&] {
    const auto& target = value_of(problem, "problem");
    plan::check(*target, plan_for(target, value_of(plan, "plan")));
  });
}

hoist_status_t hoist_plan_simulate(const hoist_problem_t* problem, const hoist_plan_t* plan, const char* trace_path,
                                   hoist_plan_result_t* out_result) noexcept {
  return guarded("hoist_plan_simulate", [&] {
    const auto& target = value_of(problem, "problem");
    const plan::Plan wanted = plan_for(target, value_of(plan, "plan"));
    hoist_plan_result_t& out = check_out(out_result, "out_result");
    plan::SimulateOptions options;
    options.timeline = trace_path != nullptr;
    const plan::Simulation simulation = plan::simulate(*target, wanted, options);
    if (trace_path != nullptr) write_simulated(*target, simulation.timeline, trace_path);
    write_struct(out, to_result(simulation, plan::bound(*target)));
  });
}

hoist_status_t hoist_plan_bound(const hoist_problem_t* problem, hoist_plan_result_t* out_result) noexcept {
  return guarded("hoist_plan_bound", [&] {
    const auto& target = value_of(problem, "problem");
    hoist_plan_result_t& out = check_out(out_result, "out_result");
    write_struct(out, to_result(plan::bound(*target)));
  });
}

hoist_status_t hoist_plan_explain(const hoist_problem_t* problem, const hoist_plan_t* plan, char* buffer,
                                  size_t* inout_bytes) noexcept {
  return guarded("hoist_plan_explain", [&] {
    const auto& target = value_of(problem, "problem");
    write_text(plan::explain(*target, plan_for(target, value_of(plan, "plan"))), buffer, inout_bytes);
  });
}
