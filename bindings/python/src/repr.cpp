// SPDX-License-Identifier: Apache-2.0
// What objects that are facts alone look like: BudgetStatus(phase=<Phase.SERVING: 3>, unit_count=4, ...).
#include "common.hpp"

namespace hoist_python {
namespace {

std::string repr_of(const py::object& self) {
  const py::handle property(reinterpret_cast<PyObject*>(&PyProperty_Type));
  const py::type kind = py::type::of(self);
  std::string fields;
  for (const auto& [name, member] : kind.attr("__dict__").attr("copy")().cast<py::dict>()) {  // as they were bound
    if (!py::isinstance(member, property)) continue;
    fields += (fields.empty() ? "" : ", ") + std::string(py::str(name)) + "=" + std::string(py::repr(self.attr(name)));
  }
  return std::string(py::str(kind.attr("__name__"))) + "(" + fields + ")";
}

}  // namespace

void bind_repr(py::module_& module) {
  for (const char* name : {"BudgetStatus", "CheckpointTensor", "DeviceProperties", "PlanResult", "ReplanStatus",
                           "ReplayStatus", "SequenceStatus", "TensorInfo", "UnitTiming"}) {
    const py::object kind = module.attr(name);
    kind.attr("__repr__") = py::cpp_function(repr_of, py::name("__repr__"), py::is_method(kind));
  }
}

}  // namespace hoist_python
