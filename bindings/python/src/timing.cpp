// SPDX-License-Identifier: Apache-2.0
// Times of units over many steps.
#include "hoist/timing.h"

#include "manager.hpp"

namespace hoist_python {

void bind_timing(py::module_& module) {
  using Timing = hoist_unit_timing_t;
  py::class_<Timing>(module, "UnitTiming", "Times of one unit in microseconds, over the steps that were kept.")
      .def_readonly("steps", &Timing::steps, "Steps that are in these numbers.")
      .def_readonly("compute_min_us", &Timing::compute_min_us, "From the end of its waits to its end.")
      .def_readonly("compute_median_us", &Timing::compute_median_us, "The same.")
      .def_readonly("compute_max_us", &Timing::compute_max_us, "The same.")
      .def_readonly("transfer_min_us", &Timing::transfer_min_us, "Copies of the tensors whose first unit it is.")
      .def_readonly("transfer_median_us", &Timing::transfer_median_us, "The same.")
      .def_readonly("transfer_max_us", &Timing::transfer_max_us, "The same.")
      .def_readonly("wait_min_us", &Timing::wait_min_us, "Its stream waiting for its bytes.")
      .def_readonly("wait_median_us", &Timing::wait_median_us, "The same.")
      .def_readonly("wait_max_us", &Timing::wait_max_us, "The same.")
      .def_readonly("transfer_bytes", &Timing::transfer_bytes, "That these copies moved, in the newest step.");
  py::object manager = module.attr("Manager");
  const auto method = [&](const char* name, auto call, auto... extra) {
    py::setattr(manager, name, py::cpp_function(call, py::name(name), py::is_method(manager), extra...));
  };
  method(
      "timing_begin",
      [](Manager& self, std::uint32_t step_limit) {
        const auto state = self.state();
        without_gil([&] { state->manager.timing_begin(step_limit); });
      },
      py::arg("step_limit"),
      "Starts collecting times of units, the newest steps only, or forgets what was collected; 0: the library's "
      "limit.");
  method(
      "timing_update", [](Manager& self) { self.state()->manager.timing_update(); },
      "Takes in the times of all that the device has reached by now.");
  method(
      "timing", [](Manager& self, hoist_unit_t unit) { return self.state()->manager.timing(unit); }, py::arg("unit"),
      "A unit's times, over steps that were reached at the last update. InvalidStateError where none are collected.");
  method(
      "timing_end",
      [](Manager& self) {
        const auto state = self.state();
        without_gil([&] { state->manager.timing_end(); });
      },
      "Ends collecting and forgets all.");
}

}  // namespace hoist_python
