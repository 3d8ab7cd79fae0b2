// SPDX-License-Identifier: Apache-2.0
// Replays of steps that were captured.
#include "manager.hpp"

namespace hoist_python {
namespace {

struct ReplayStatus {
  hoist_replay_state_t state;
  hoist_placement_t placement;
  std::uint64_t captures;
  std::uint64_t begun;
  std::uint64_t ended;
  std::uint64_t aborted;
  double last_us;
  std::string reason;
};

ReplayStatus query(Manager& self) {
  const auto state = self.state();
  const hoist_replay_status_t it = state->manager.replay_query();
  return {it.state, it.placement, it.captures, it.begun, it.ended, it.aborted, it.last_us, it.reason};
}

// From any thread, also while another one waits inside.
void abort_replays(Manager& self) {
  const auto state = self.state();
  without_gil([&] { state->manager.replay_abort(); });
}

void forget(Manager& self) {
  const auto state = self.state();
  without_gil([&] { state->manager.replay_release(); });
}

}  // namespace

void bind_replay(py::module_& module) {
  py::native_enum<hoist_placement_t>(module, "Placement", "enum.IntEnum", "Where tensors lie on the device.")
      .value("DEFAULT", HOIST_PLACEMENT_DEFAULT)
      .value("ARENA", HOIST_PLACEMENT_ARENA)
      .value("SLOTS", HOIST_PLACEMENT_SLOTS)
      .finalize();
  py::native_enum<hoist_replay_state_t>(module, "ReplayState", "enum.IntEnum", "How replays stand.")
      .value("NONE", HOIST_REPLAY_NONE)
      .value("OPEN", HOIST_REPLAY_OPEN)
      .value("HELD", HOIST_REPLAY_HELD)
      .value("STARVED", HOIST_REPLAY_STARVED)
      .finalize();
  py::class_<ReplayStatus>(module, "ReplayStatus", "Counts of replays.")
      .def_property_readonly(
          "state", [](const ReplayStatus& it) { return enum_or_int(it.state); }, "How they stand.")
      .def_property_readonly(
          "placement", [](const ReplayStatus& it) { return enum_or_int(it.placement); }, "In force.")
      .def_readonly("captures", &ReplayStatus::captures, "Steps that were captured.")
      .def_readonly("begun", &ReplayStatus::begun, "Replays that have begun.")
      .def_readonly("ended", &ReplayStatus::ended, "Of these, whose copies have all run.")
      .def_readonly("aborted", &ReplayStatus::aborted, "Let go without their bytes.")
      .def_readonly("last_us", &ReplayStatus::last_us, "From one replay's begin to the next one's.")
      .def_readonly("reason", &ReplayStatus::reason, "What the device said last, or \"\".");
  py::object manager = module.attr("Manager");
  const auto add_method = [&](const char* name, auto call, const char* doc) {
    py::setattr(manager, name, py::cpp_function(call, py::name(name), py::is_method(manager), doc));
  };
  add_method("replay_query", query, "How replays of captured steps stand; waits for none.");
  add_method("replay_abort", abort_replays, "From any thread: lets replays go that wait for bytes that do not come.");
  add_method("replay_release", forget, "Says that no graph with a step of this budget is launched any more.");
}

}  // namespace hoist_python
