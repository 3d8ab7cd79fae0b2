// SPDX-License-Identifier: Apache-2.0
// The budget that managers join.
#include "manager.hpp"

namespace hoist_python {
namespace {

std::string text_of(const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>() ? "on" : "off";
  return py::str(value);
}

// What no conversion takes: named, with what would do, as the library names what it refuses.
[[noreturn]] void refuse(const char* where, const char* argument, const py::object& value, const std::string& hint) {
  const std::string kind = py::str(py::type::of(value).attr("__name__"));
  const std::string shown = py::repr(value);
  raise(HOIST_ERROR_INVALID_ARGUMENT, where, std::string(argument) + " is " + shown + ", of type " + kind,
        hint.c_str());
}

hoist::Budget make(const py::object& device, const py::kwargs& options) {
  if (!py::isinstance<Device>(device)) {
    const std::string name = py::isinstance<py::str>(device) ? std::string(py::repr(device)) : "\"cuda:0\"";
    refuse("hoist.Budget", "device", device, "give an open device: hoist.Device(" + name + ")");
  }
  hoist::BudgetOptions read;
  for (const auto& [key, value] : options) read.set(py::str(key), text_of(value));
  return hoist::Budget(device.cast<Device&>().get(), read);
}

struct Setter {
  const char* where;
  const char* argument;
  const char* hint;
};

constexpr const char* bytes_hint = "give a number of bytes, 0 or more, such as 1 << 20";
constexpr Setter set_bytes_facts{"hoist.Budget.set_bytes", "bytes",
                                 "give a number of bytes, or use set(), which takes \"24GiB\" and \"60%\""};
constexpr Setter set_share_facts{"hoist.Budget.set_share", "share",
                                 "give a number such as 0.6, or use set(), which takes \"60%\""};
constexpr Setter set_facts{"hoist.Budget.set", "budget", "give text such as \"24GiB\" or \"60%\""};
constexpr Setter reserve_facts{"hoist.Budget.reserve", "bytes", bytes_hint};
constexpr Setter release_facts{"hoist.Budget.release", "bytes", bytes_hint};

template <typename Value>
Value value_of(const Setter& facts, const py::object& given) {
  try {
    return given.cast<Value>();
  } catch (const py::cast_error&) {
    refuse(facts.where, facts.argument, given, facts.hint);
  }
}

template <typename Value, void (hoist::Budget::*call)(Value), const Setter& facts>
void set(hoist::Budget& self, const py::object& given) {
  const auto value = value_of<std::decay_t<Value>>(facts, given);
  refuse_strays("hoist.Budget");
  without_gil([&] { (self.*call)(value); });
}

template <typename Bound>
void bind_status_counts(Bound& bound) {
  using Status = hoist_budget_status_t;
  bound.def_readonly("steps", &Status::steps, "Steps ended, aborted ones included.")
      .def_readonly("aborted_steps", &Status::aborted_steps, "Steps aborted.")
      .def_readonly("mispredictions", &Status::mispredictions, "Units begun out of the planned order.")
      .def_readonly("demand_loads", &Status::demand_loads, "Loads that no plan had asked for.")
      .def_readonly("replans", &Status::replans, "Plans swapped in after the first.")
      .def_readonly("h2d_bytes", &Status::h2d_bytes, "Bytes copied from the host.")
      .def_readonly("d2h_bytes", &Status::d2h_bytes, "Bytes copied to the host.")
      .def_readonly("last_step_h2d_bytes", &Status::last_step_h2d_bytes, "Of the last ended step.")
      .def_readonly("last_step_d2h_bytes", &Status::last_step_d2h_bytes, "Of the last ended step.")
      .def_readonly("predicted_step_us", &Status::predicted_step_us, "Of the present plan, in microseconds.")
      .def_readonly("bound_us", &Status::bound_us, "A time that no plan can beat, in microseconds.")
      .def_readonly("last_step_us", &Status::last_step_us, "Period of the newest finished step; 0: none yet.")
      .def_readonly("last_stall_us", &Status::last_stall_us, "Waiting for bytes in that step, in microseconds.")
      .def_readonly("refused_ops", &Status::refused_ops, "Ops of a plan that the device refused, made up for later.");
}

void bind_status(py::module_& module) {
  using Status = hoist_budget_status_t;
  py::native_enum<hoist_phase_t>(module, "Phase", "enum.IntEnum", "Where the lifecycle stands.")
      .value("BUILDING", HOIST_PHASE_BUILDING)
      .value("DISCOVERY", HOIST_PHASE_DISCOVERY)
      .value("PROFILING", HOIST_PHASE_PROFILING)
      .value("SERVING", HOIST_PHASE_SERVING)
      .value("SUSPENDED", HOIST_PHASE_SUSPENDED)
      .finalize();
  py::class_<Status> bound(module, "BudgetStatus", "Counts and sizes in bytes; counts run from the commit.");
  bound
      .def_property_readonly(
          "phase", [](const Status& status) { return enum_or_int(status.phase); }, "Where the lifecycle stands.")
      .def_readonly("unit_count", &Status::unit_count, "Units of all that joined.")
      .def_readonly("tensor_count", &Status::tensor_count, "Tensors, aliases apart.")
      .def_readonly("tensor_bytes", &Status::tensor_bytes, "Unique bytes, each rounded up to the alignment.")
      .def_readonly("budget_bytes", &Status::budget_bytes, "The budget in force, less what of it is reserved.")
      .def_readonly("reserved_bytes", &Status::reserved_bytes, "What lies outside of hoist and was reserved.")
      .def_readonly("arena_bytes", &Status::arena_bytes, "Device memory held for tensors.")
      .def_readonly("peak_bytes", &Status::peak_bytes, "Most arena bytes in use at once under the present plan.")
      .def_readonly("pinned_bytes", &Status::pinned_bytes, "Pinned host memory held.")
      .def_readonly("adopted_bytes", &Status::adopted_bytes, "Host memory of callers that is registered.");
  bound.def_readonly("pageable_bytes", &Status::pageable_bytes,
                     "Of pinned and adopted bytes, what the device refused to pin: copies of it are slow.");
  bound.def_readonly("steps_before_serving", &Status::steps_before_serving,
                     "Steps that must end well until a plan made from measured times is served.");
  bind_status_counts(bound);
}

}  // namespace

void bind_budget(py::module_& module) {
  bind_status(module);
  py::class_<hoist::Budget>(module, "Budget", "The one byte budget of a device; what has joined keeps it alive.")
      .def(py::init(&make), py::arg("device"),
           "Budget(device, budget=\"60%\", profile_steps=5, ...): options by name, as in hoist_budget_options_t.\n"
           "InvalidArgumentError for an unknown one, with the nearest known.")
      .def("set_bytes", set<std::uint64_t, &hoist::Budget::set_bytes, set_bytes_facts>, py::arg("bytes"),
           "Changes the budget; the next step's begin swaps the plan. InfeasibleError with the smallest that would do.")
      .def("set_share", set<double, &hoist::Budget::set_share, set_share_facts>, py::arg("share"),
           "Changes the budget to a share of the managed bytes; as set_bytes.")
      .def("set", set<const std::string&, &hoist::Budget::set, set_facts>, py::arg("budget"),
           "Changes the budget: \"24GiB\" or \"60%\"; as set_bytes.")
      .def("reserve", set<std::uint64_t, &hoist::Budget::reserve, reserve_facts>, py::arg("bytes"),
           "Counts device bytes outside of hoist against a budget of bytes; what was reserved adds up. As set_bytes.")
      .def("release", set<std::uint64_t, &hoist::Budget::release, release_facts>, py::arg("bytes"),
           "Gives reserved bytes back.")
      .def("query", &hoist::Budget::query, "Counts and sizes.");
}

}  // namespace hoist_python
