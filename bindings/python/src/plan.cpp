// SPDX-License-Identifier: Apache-2.0
// Problems, plans, replans.
#include "hoist/plan.h"

#include <optional>

#include "manager.hpp"

namespace hoist_python {
namespace {

hoist::Plan solve(const hoist::Problem& problem, std::optional<std::uint32_t> effort, std::optional<double> limit) {
  hoist::PlanOptions options;
  if (effort) options.effort = *effort;
  if (limit) options.time_limit_seconds = *limit;
  return without_gil([&] { return hoist::Plan(problem, options); });
}

hoist_plan_result_t simulate(const hoist::Plan& plan, const hoist::Problem& problem, const py::object& trace_path) {
  if (trace_path.is_none()) return without_gil([&] { return plan.simulate(problem); });
  const std::string path = path_of("trace_path", trace_path);
  return without_gil([&] { return plan.simulate(problem, path); });
}

void replan(Manager& self, const hoist::Problem* problem, const hoist::Plan* plan) {
  if ((problem == nullptr) != (plan == nullptr)) {
    const char* const given = plan == nullptr ? "problem" : "plan";
    const char* const missing = plan == nullptr ? "plan" : "problem";
    raise(HOIST_ERROR_INVALID_ARGUMENT, "hoist.Manager.replan",
          std::string(given) + " is given, but " + missing + " is None", "give both or none");
  }
  refuse_strays("hoist.Manager.replan");
  const auto state = self.state();
  without_gil([&] {
    hoist::check(hoist_replan_request(state->manager.get(), problem != nullptr ? problem->get() : nullptr,
                                      plan != nullptr ? plan->get() : nullptr));
  });
}

struct ReplanStatus {
  hoist_replan_state_t state;
  bool can_request;
  std::uint64_t applied;
  std::string reason;
};

void replan_prepare(Manager& self, std::uint32_t steps) {
  const auto state = self.state();
  without_gil([&] { hoist::replan_prepare(state->manager, steps); });
}

ReplanStatus replan_query(Manager& self) {
  const auto state = self.state();
  const hoist_replan_status_t status = hoist::replan_query(state->manager);
  return {status.state, status.can_request != 0, status.applied, status.reason};
}

void bind_results(py::module_& module) {
  using Result = hoist_plan_result_t;
  py::class_<Result>(module, "PlanResult", "What a plan comes to. Times in microseconds, sizes in bytes.")
      .def_readonly("step_us", &Result::step_us, "Time of a step in the steady state.")
      .def_readonly("stall_us", &Result::stall_us, "Of it, compute waiting for bytes or places.")
      .def_readonly("bound_us", &Result::bound_us, "A time that no plan can beat.")
      .def_readonly("windowed_us", &Result::windowed_us, "A tighter such time.")
      .def_readonly("peak_bytes", &Result::peak_bytes, "Most device bytes at once.")
      .def_readonly("h2d_bytes", &Result::h2d_bytes, "Bytes copied from the host in a step.")
      .def_readonly("d2h_bytes", &Result::d2h_bytes, "Bytes copied to the host in a step.")
      .def_readonly("peer_bytes", &Result::peer_bytes, "Bytes copied from peers in a step.");
  py::native_enum<hoist_replan_state_t>(module, "ReplanState", "enum.IntEnum", "What became of a replan.")
      .value("NONE", HOIST_REPLAN_NONE)
      .value("PENDING", HOIST_REPLAN_PENDING)
      .value("APPLIED", HOIST_REPLAN_APPLIED)
      .value("FAILED", HOIST_REPLAN_FAILED)
      .finalize();
  py::class_<ReplanStatus>(module, "ReplanStatus", "How replans stand.")
      .def_property_readonly(
          "state", [](const ReplanStatus& status) { return enum_or_int(status.state); }, "Of the last request.")
      .def_readonly("can_request", &ReplanStatus::can_request, "Whether a request would be taken now.")
      .def_readonly("applied", &ReplanStatus::applied, "Replans swapped in so far.")
      .def_readonly("reason", &ReplanStatus::reason, "Why the last one failed, or \"\".");
}

void bind_problem(py::module_& module) {
  py::class_<hoist::Problem>(module, "Problem", "Units, items, links and a budget. Immutable.")
      .def(py::init<std::string_view>(), py::arg("json"), py::call_guard<py::gil_scoped_release>(),
           "Reads JSON. CorruptError naming the field, InvalidArgumentError for a problem that contradicts itself.")
      .def("json", &hoist::Problem::json, py::call_guard<py::gil_scoped_release>(), "The problem as JSON.")
      .def("bound", &hoist::Problem::bound, py::call_guard<py::gil_scoped_release>(),
           "step_us and windowed_us: times that no plan can beat; the bytes that must cross.");
}

void bind_plans(py::module_& module) {
  using hoist::Plan;
  py::class_<Plan>(module, "Plan", "Residency, ops and places for one problem. Immutable.")
      .def_static("solve", solve, py::arg("problem"), py::kw_only(), py::arg("effort") = py::none(),
                  py::arg("time_limit_seconds") = py::none(),
                  "Makes a plan; without options: the library's. InfeasibleError naming the smallest budget that\n"
                  "would do, AbortedError at the time limit.")
      .def(py::init<const hoist::Problem&, std::string_view>(), py::arg("problem"), py::arg("json"),
           py::call_guard<py::gil_scoped_release>(), "Reads JSON; check() says whether it is valid.")
      .def("json", &Plan::json, py::call_guard<py::gil_scoped_release>(), "The plan as JSON.")
      .def("check", &Plan::check, py::arg("problem"), py::call_guard<py::gil_scoped_release>(),
           "InvalidPlanError naming the op or unit and why.")
      .def("simulate", simulate, py::arg("problem"), py::arg("trace_path") = py::none(),
           "Runs the plan without a device; may write a Chrome trace of the last step. InvalidPlanError, IoError.")
      .def("explain", &Plan::explain, py::arg("problem"), py::call_guard<py::gil_scoped_release>(),
           "One line an item: why it stays or moves.");
}

template <typename Function>
void add_method(const py::object& bound, const char* name, Function function, const char* doc) {
  py::setattr(bound, name, py::cpp_function(function, py::name(name), py::is_method(bound), doc));
}

}  // namespace

void bind_plan(py::module_& module) {
  bind_results(module);
  bind_problem(module);
  bind_plans(module);
  const py::object manager = module.attr("Manager");
  add_method(
      manager, "problem", [](Manager& self) { return hoist::Problem(self.state()->manager); },
      "The present problem: measured units and links, the budget. InvalidStateError before the first plan.");
  add_method(
      manager, "plan", [](Manager& self) { return hoist::Plan(self.state()->manager); },
      "The plan that the manager serves, for problem(). InvalidStateError before the first one.");
  add_method(manager, "replan_query", replan_query, "How replans stand; changes nothing.");
  py::setattr(
      manager, "replan_prepare",
      py::cpp_function(replan_prepare, py::name("replan_prepare"), py::is_method(manager), py::arg("steps") = 0,
                       "Times the units of each of the next steps, for a plan that is asked for after them; 0: 8.\n"
                       "While serving one step in eight is timed by itself. InvalidStateError within a step."));
  py::setattr(manager, "replan",
              py::cpp_function(replan, py::name("replan"), py::is_method(manager), py::arg("problem") = py::none(),
                               py::arg("plan") = py::none(),
                               "Asks for another plan, which the next step's begin swaps in: the caller's, or made\n"
                               "anew from what was measured. InvalidPlanError, InfeasibleError, InvalidStateError."));
}

}  // namespace hoist_python
