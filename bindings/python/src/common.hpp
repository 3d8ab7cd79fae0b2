// SPDX-License-Identifier: Apache-2.0
// What all parts of the module share: the interpreter's lock, buffers, errors of the binding's own.
#pragma once

#include <pybind11/native_enum.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <utility>

#include "hoist/hoist.hpp"

namespace hoist_python {

namespace py = pybind11;

// Runs a call of the library without the interpreter's lock: the call may wait for, or run, a Python function.
template <typename Call>
auto without_gil(Call&& call) {
  if (!PyGILState_Check()) return call();
  const py::gil_scoped_release release;
  return call();
}

// Raises what the library would, for what only the binding can see.
[[noreturn]] inline void raise(hoist_status_t code, const char* where, const std::string& message, const char* hint) {
  hoist_error_t error = HOIST_ERROR_INIT;
  error.code = code;
  error.message = message.c_str();
  error.where = where;
  error.hint = hint;
  throw hoist::Exception(error);
}

// The bytes of any contiguous Python buffer, held while this lives. Made and dropped with the lock held.
class Buffer {
 public:
  Buffer(const py::object& object, bool writable) {
    if (PyObject_GetBuffer(object.ptr(), &view_, writable ? PyBUF_WRITABLE : PyBUF_SIMPLE) != 0) {
      throw py::error_already_set();
    }
  }
  ~Buffer() { PyBuffer_Release(&view_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  [[nodiscard]] void* data() const { return view_.buf; }
  [[nodiscard]] std::uint64_t bytes() const { return static_cast<std::uint64_t>(view_.len); }

 private:
  Py_buffer view_{};
};

// A value of an enum that Python knows, or the number where a newer library has more.
template <typename Enum>
py::object enum_or_int(Enum value) {
  try {
    return py::cast(value);
  } catch (const py::error_already_set&) {
    return py::int_(static_cast<int>(value));
  }
}

inline py::object numpy_array(const py::object& memory, const py::object& dtype) {
  const py::module_ numpy = py::module_::import("numpy");
  if (py::len(memory) == 0) return numpy.attr("empty")(0, dtype);  // frombuffer refuses it
  return numpy.attr("frombuffer")(memory, dtype);
}

// Byte for byte what the file system calls it.
inline std::string path_of(const py::object& path) {
  return py::bytes(py::module_::import("os").attr("fsencode")(path));
}

// The iterator of anything that has __len__ and __getitem__.
inline py::object sequence_iterator(const py::object& self) {
  return py::reinterpret_steal<py::object>(PySeqIter_New(self.ptr()));
}

void bind_errors(py::module_& module);
void bind_device(py::module_& module);
void bind_stream(py::module_& module);
void bind_budget(py::module_& module);
void bind_manager(py::module_& module);
void bind_step(py::module_& module);
void bind_dlpack(py::module_& module);
void bind_timing(py::module_& module);
void bind_plan(py::module_& module);
void bind_replay(py::module_& module);
void bind_checkpoint(py::module_& module);
void bind_effect(py::module_& module);
void bind_repr(py::module_& module);

}  // namespace hoist_python
