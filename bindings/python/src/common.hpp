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

// TypeError for an argument that no conversion takes: named, with what would do.
[[noreturn]] inline void refuse_type(const char* argument, const py::handle& value, const char* would_do) {
  throw py::type_error(std::string(argument) + " is " + std::string(py::repr(value)) + ", of type " +
                       std::string(py::str(py::type::of(value).attr("__name__"))) + ": " + would_do);
}

template <typename Value>
Value converted(const char* argument, const py::handle& value, const char* would_do) {
  try {
    return value.cast<Value>();
  } catch (const py::cast_error&) {
    refuse_type(argument, value, would_do);
  }
}

inline void require_callable(const char* argument, const py::handle& value) {
  if (PyCallable_Check(value.ptr()) == 0) refuse_type(argument, value, "give what can be called");
}

// Reads an argument by something of Python's own, whose error then names the argument.
template <typename Read>
auto named(const char* argument, Read&& read) {
  try {
    return read();
  } catch (py::error_already_set& error) {
    for (PyObject* kind : {PyExc_TypeError, PyExc_ValueError, PyExc_BufferError}) {
      if (!error.matches(kind)) continue;
      const std::string words = std::string(argument) + ": " + std::string(py::str(error.value()));
      py::raise_from(error, kind, words.c_str());
      throw py::error_already_set();
    }
    throw;
  }
}

// The bytes of any contiguous Python buffer, held while this lives. Made and dropped with the lock held.
class Buffer {
 public:
  Buffer(const char* argument, const py::object& object, bool writable) {
    if (PyObject_CheckBuffer(object.ptr()) == 0) {
      refuse_type(argument, object, "give a buffer, such as bytes or a NumPy array");
    }
    named(argument, [&] {
      if (PyObject_GetBuffer(object.ptr(), &view_, writable ? PyBUF_WRITABLE : PyBUF_SIMPLE) != 0) {
        throw py::error_already_set();
      }
    });
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
  return named("dtype", [&]() -> py::object {
    if (py::len(memory) == 0) return numpy.attr("empty")(0, dtype);  // frombuffer refuses it
    return numpy.attr("frombuffer")(memory, dtype);
  });
}

// Byte for byte what the file system calls it.
inline std::string path_of(const char* argument, const py::object& path) {
  return named(argument, [&] { return std::string(py::bytes(py::module_::import("os").attr("fsencode")(path))); });
}

// Words of the library as text; bytes of a caller's that are no UTF-8 stay readable.
inline py::str as_text(const std::string& words) {
  PyObject* made = PyUnicode_DecodeUTF8(words.data(), static_cast<py::ssize_t>(words.size()), "backslashreplace");
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(made);
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
