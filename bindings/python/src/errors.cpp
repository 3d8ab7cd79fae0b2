// SPDX-License-Identifier: Apache-2.0
// Failures as typed exceptions, the log, the version.
#include "common.hpp"

namespace hoist_python {
namespace {

void set_python_error(const hoist::Exception& error) {
  const py::object made = py::module_::import("hoist.errors")
                              .attr("_make")(static_cast<int>(error.code()), hoist::status_string(error.code()),
                                             as_text(error.message()), error.where(), as_text(error.hint()));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const hoist::Exception& error) {
    try {
      set_python_error(error);
    } catch (py::error_already_set& failure) {
      failure.restore();
    }
  }
}

// The callback in force; never freed, since another thread may be about to call the old one.
void log_to_python(void* user_data, hoist_log_level_t level, const char* message) {
  const py::gil_scoped_acquire acquire;
  try {
    (*static_cast<py::object*>(user_data))(enum_or_int(level), as_text(message));
  } catch (py::error_already_set& failure) {
    failure.discard_as_unraisable("hoist.log_set callback");
  }
}

void log_set(hoist_log_level_t threshold, const py::object& callback) {
  if (!callback.is_none()) require_callable("callback", callback);
  auto kept = callback.is_none() ? nullptr : std::make_unique<py::object>(callback);
  without_gil([&] { hoist::log_set(threshold, kept ? log_to_python : nullptr, kept.get()); });
  static_cast<void>(kept.release());
  static bool registered = false;
  if (std::exchange(registered, true)) return;
  const auto reset = [] { without_gil([] { hoist::log_set(HOIST_LOG_OFF, nullptr, nullptr); }); };
  py::module_::import("atexit").attr("register")(py::cpp_function(reset));  // Python cannot be called after its end
}

}  // namespace

void bind_errors(py::module_& module) {
  py::register_exception_translator(translate);
  py::native_enum<hoist_log_level_t>(module, "LogLevel", "enum.IntEnum", "How much a log message matters.")
      .value("DEBUG", HOIST_LOG_DEBUG)
      .value("INFO", HOIST_LOG_INFO)
      .value("WARNING", HOIST_LOG_WARNING)
      .value("ERROR", HOIST_LOG_ERROR)
      .value("OFF", HOIST_LOG_OFF)
      .finalize();
  module.def(
      "status_string", [](int status) { return hoist::status_string(static_cast<hoist_status_t>(status)); },
      py::arg("status"), "The name of a status, such as \"HOIST_ERROR_BUSY\".");
  module.def("version_string", hoist::version_string, "The version of the loaded library, such as \"0.1.0\".");
  module.def("version_abi", hoist::version_abi, "The highest ABI level that the loaded library serves.");
  module.def("log_set", log_set, py::arg("threshold"), py::arg("callback"),
             "Sets the process-wide log callback, called with (level, message) on any thread; None restores the\n"
             "default sink. What it raises goes to sys.unraisablehook.");
}

}  // namespace hoist_python
