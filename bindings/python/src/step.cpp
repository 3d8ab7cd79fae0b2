// SPDX-License-Identifier: Apache-2.0
// Steps and units as context managers.
#include "hoist/step.h"

#include <optional>

#include "manager.hpp"

namespace hoist_python {
namespace {

// A step: begins on entering, ends on leaving, is given up where an exception leaves it.
class Step {
 public:
  Step(std::shared_ptr<ManagerState> state, std::shared_ptr<Stream> stream)
      : state_(std::move(state)), stream_(std::move(stream)) {}

  void enter() {
    refuse_strays("hoist.Step");
    hoist::Stream& stream = stream_->checked();
    call([&] { return hoist_step_begin(state_->manager.get(), stream.get()); });
  }
  void exit(const py::object& kind) {
    if (!kind.is_none()) return give_up();
    try {
      end();
    } catch (...) {
      give_up();
      throw;
    }
  }
  void end() {
    hoist::Stream& stream = stream_->checked();
    call([&] { return hoist_step_end(state_->manager.get(), stream.get()); });
  }
  [[nodiscard]] const std::shared_ptr<ManagerState>& state() const { return state_; }
  [[nodiscard]] const std::shared_ptr<Stream>& stream() const { return stream_; }
  std::shared_ptr<OpenUnit> unit;  // the one that is open, or the last one

  template <typename Call>
  static void call(Call&& run) {
    without_gil([&] { hoist::check(run()); });
  }

 private:
  // The exception that leads here says more than this status could.
  void give_up() {
    if (unit && unit->open) {
      unit->open = false;
      try {
        unit->take_loans_back();
      } catch (const py::buffer_error&) {  // kept: the next step is refused while they live
      }
      try {
        unit->join_consumers();
      } catch (const hoist::Exception&) {  // the device is lost, and its streams with it
      }
    }
    without_gil([&] { static_cast<void>(hoist_step_abort(state_->manager.get(), stream_->raw().get()) == HOIST_OK); });
  }

  std::shared_ptr<ManagerState> state_;
  std::shared_ptr<Stream> stream_;
};

// A unit's tensors, a sequence of TensorView, usable until the unit's end.
struct UnitView {
  std::shared_ptr<OpenUnit> unit;
  [[nodiscard]] TensorView at(py::ssize_t i) const {
    unit->check();
    const auto size = static_cast<py::ssize_t>(unit->tensors.size());
    if (i < -size || i >= size) throw py::index_error("the unit has " + std::to_string(size) + " tensors");
    return {unit, static_cast<std::size_t>(i < 0 ? i + size : i)};
  }
};

// A unit: begins on entering, ends on leaving; an exception leaves it to the step, which is given up.
class Unit {
 public:
  Unit(std::shared_ptr<Step> step, hoist_unit_t unit, const std::optional<std::shared_ptr<Stream>>& stream)
      : step_(std::move(step)), unit_(unit), stream_(stream ? *stream : step_->stream()) {}

  UnitView enter() {
    hoist_unit_view_t view = HOIST_UNIT_VIEW_INIT;
    hoist_manager_t* manager = step_->state()->manager.get();
    hoist::Stream& stream = stream_->checked();
    Step::call([&] { return hoist_unit_begin(manager, unit_, stream.get(), &view); });
    auto open = std::make_shared<OpenUnit>();
    open->name = std::to_string(unit_);
    open->owner = step_->state();
    open->host_addressable = step_->state()->device->host_addressable();
    open->always_open = step_->state()->device->always_open();
    open->stream = stream_;
    for (const hoist_tensor_view_t& tensor : hoist::UnitView(view)) open->tensors.push_back(tensor);
    step_->unit = open;
    return {open};
  }
  void exit(const py::object& kind) {
    if (!kind.is_none()) return;
    if (!step_->unit) {
      raise(HOIST_ERROR_INVALID_STATE, "hoist.Unit", "unit " + std::to_string(unit_) + " has not begun",
            "with step.unit(...) as view: ... begins and ends it");
    }
    step_->unit->take_loans_back();
    step_->unit->join_consumers();
    step_->unit->open = false;
    hoist::Stream& stream = stream_->checked();
    Step::call([&] { return hoist_unit_end(step_->state()->manager.get(), unit_, stream.get()); });
  }

 private:
  std::shared_ptr<Step> step_;
  hoist_unit_t unit_;
  std::shared_ptr<Stream> stream_;
};

std::uintptr_t pointer(const TensorView& view) { return reinterpret_cast<std::uintptr_t>(view.get().data); }

void bind_views(py::module_& module) {
  py::class_<DeviceBytes>(module, "_DeviceBytes", py::buffer_protocol()).def_buffer([](DeviceBytes& given) {
    static std::uint8_t nothing = 0;  // an empty range has no address of its own
    auto* data = given.bytes == 0 ? &nothing : static_cast<std::uint8_t*>(given.data);
    return py::buffer_info(data, static_cast<py::ssize_t>(given.bytes), !given.writable);
  });
  py::class_<TensorView>(module, "TensorView", "A tensor on the device, until its unit's end; StaleError after it.")
      .def_property_readonly("pointer", pointer, "Device pointer, ordered on the unit's stream.")
      .def_property_readonly(
          "bytes", [](const TensorView& view) { return view.get().bytes; }, "Its size.")
      .def_property_readonly(
          "tensor", [](const TensorView& view) { return view.get().tensor; }, "Its index.")
      .def_property_readonly(
          "mode", [](const TensorView& view) { return enum_or_int(view.get().mode); }, "What the unit does with it.")
      .def("memory", &TensorView::memory,
           "A memoryview of the device memory, for a thread that has waited for the stream; read-only where the unit\n"
           "only reads it. Using it after the unit's end raises ValueError. UnsupportedError on devices whose memory\n"
           "is not open to host threads.")
      .def(
          "array", [](const TensorView& view, const py::object& dtype) { return numpy_array(view.memory(), dtype); },
          py::arg("dtype"), "memory() as a NumPy array, which must be gone by the unit's end: BufferError else.");
  py::class_<UnitView>(module, "UnitView", "A unit's tensors, in the order in which uses were added.")
      .def("__len__", [](const UnitView& view) { return view.unit->check(), view.unit->tensors.size(); })
      .def("__getitem__", &UnitView::at, py::arg("index"))
      .def("__iter__", sequence_iterator);
}

}  // namespace

void bind_step(py::module_& module) {
  bind_views(module);
  py::class_<Unit>(module, "Unit", "A context manager: the unit begins on entering and ends on leaving.")
      .def("__enter__", &Unit::enter)
      .def("__exit__",
           [](Unit& self, const py::object& kind, const py::object&, const py::object&) { self.exit(kind); });
  py::class_<Step, std::shared_ptr<Step>>(module, "Step",
                                          "A context manager: the step begins on entering and ends on leaving; an\n"
                                          "exception that leaves it gives the step up.")
      .def("__enter__", [](const std::shared_ptr<Step>& self) { return self->enter(), self; })
      .def("__exit__",
           [](Step& self, const py::object& kind, const py::object&, const py::object&) { self.exit(kind); })
      .def(
          "unit",
          [](const std::shared_ptr<Step>& self, hoist_unit_t unit, std::optional<std::shared_ptr<Stream>> stream) {
            return Unit(self, unit, stream);
          },
          py::arg("unit"), py::arg("stream") = py::none(),
          "A unit of the step, on its stream or another one. Entering gives a UnitView. OrderError, NotFoundError,\n"
          "StaleError where it reads a transient that this step has not written, DeviceError.");
  py::setattr(module.attr("Manager"), "step",
              py::cpp_function(
                  [](Manager& self, std::shared_ptr<Stream> stream) {
                    return std::make_shared<Step>(self.state(), std::move(stream));
                  },
                  py::name("step"), py::is_method(module.attr("Manager")), py::arg("stream").none(false),
                  "A step, ordered on the stream: with manager.step(stream) as step: ... InvalidStateError."));
}

}  // namespace hoist_python
