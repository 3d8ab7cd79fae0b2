// SPDX-License-Identifier: Apache-2.0
// Managers: units, tensors, their bytes.
#include "manager.hpp"

#include <optional>

namespace hoist_python {
namespace {

// Host bytes of a tensor; shares the manager, so that an array never outlives them.
struct HostView {
  std::shared_ptr<ManagerState> state;
  const void* data;
  std::uint64_t bytes;
};

std::shared_ptr<Manager> make(const std::shared_ptr<Device>& device, const hoist::Budget* budget) {
  auto made = budget != nullptr ? hoist::Manager(device->get(), *budget) : hoist::Manager(device->get());
  return std::make_shared<Manager>(std::make_shared<ManagerState>(device, std::move(made)));
}

// Called once per copied tensor, when its source is packed: the source may go.
void release_source(void* user_data) {
  const py::gil_scoped_acquire acquire;
  delete static_cast<Buffer*>(user_data);
}

struct Wanted {
  const std::string& name;  // the caller's: desc() points into it
  std::optional<hoist_use_mode_t> mode;
  std::optional<hoist_tensor_class_t> tensor_class;

  [[nodiscard]] hoist::TensorDesc desc(hoist_tensor_flags_t flags, std::uint64_t bytes, void* host) const {
    hoist::TensorDesc desc;
    desc.name = hoist::detail::c_text(name, "name");
    desc.bytes = bytes;
    desc.host = host;
    desc.flags = flags;
    if (mode) desc.mode = *mode;  // else what the library's initialiser says
    if (tensor_class) desc.tensor_class = *tensor_class;
    return desc;
  }
};

using Mode = std::optional<hoist_use_mode_t>;
using Class = std::optional<hoist_tensor_class_t>;

hoist_tensor_t add_copied(Manager& self, hoist_unit_t unit, const std::string& name, const py::object& source,
                          Mode mode, Class tensor_class) {
  const auto state = self.state();
  auto buffer = std::make_unique<Buffer>("source", source, false);
  hoist::TensorDesc desc = Wanted{name, mode, tensor_class}.desc(HOIST_TENSOR_COPY, buffer->bytes(), buffer->data());
  desc.release = release_source;
  desc.user_data = buffer.get();
  const hoist_tensor_t tensor = state->manager.add_tensor(unit, desc);
  static_cast<void>(buffer.release());
  return tensor;
}

hoist_tensor_t add_adopted(Manager& self, hoist_unit_t unit, const std::string& name, const py::object& source,
                           Mode mode, Class tensor_class) {
  const auto state = self.state();
  auto buffer = std::make_unique<Buffer>("source", source, true);
  const auto desc = Wanted{name, mode, tensor_class}.desc(HOIST_TENSOR_ADOPT, buffer->bytes(), buffer->data());
  state->adopted.push_back(std::move(buffer));
  try {
    return state->manager.add_tensor(unit, desc);
  } catch (...) {
    state->adopted.pop_back();
    throw;
  }
}

template <hoist_tensor_flags_t flags>
hoist_tensor_t add_sized(Manager& self, hoist_unit_t unit, const std::string& name, std::uint64_t bytes, Mode mode,
                         Class tensor_class) {
  return self.state()->manager.add_tensor(unit, Wanted{name, mode, tensor_class}.desc(flags, bytes, nullptr));
}

py::object read(Manager& self, hoist_tensor_t tensor, py::object out) {
  const auto state = self.state();
  if (out.is_none()) out = py::module_::import("numpy").attr("empty")(state->manager.info(tensor).bytes, "uint8");
  const Buffer room("out", out, true);
  without_gil([&] { state->manager.read(tensor, room.data(), room.bytes()); });
  return out;
}

void update(Manager& self, hoist_tensor_t tensor, const py::object& source, Stream& stream) {
  const auto state = self.state();
  const Buffer bytes("source", source, false);
  hoist::Stream& after = stream.checked();
  without_gil([&] { state->manager.update(tensor, bytes.data(), bytes.bytes(), after); });
}

// With a name of its own: the library's goes with the manager.
struct Info : hoist_tensor_info_t {
  std::string own_name;
  explicit Info(const hoist_tensor_info_t& info) : hoist_tensor_info_t(info), own_name(info.name) {}
};

py::object host_view(Manager& self, hoist_tensor_t tensor, const py::object& dtype) {
  const auto state = self.state();
  const hoist_tensor_info_t info = state->manager.info(tensor);
  if (info.host == nullptr && info.bytes != 0) {
    raise(HOIST_ERROR_INVALID_STATE, "hoist.Manager.host_view",
          std::string("tensor \"") + info.name + "\" has no host copy now", "commit first; a transient never has one");
  }
  return numpy_array(py::memoryview(py::cast(HostView{state, info.host, info.bytes})), dtype);
}

template <void (hoist::Manager::*call)()>
void plain(Manager& self) {
  refuse_strays("hoist.Manager");
  const auto state = self.state();
  without_gil([&] { (state->manager.*call)(); });
}

void trace_end(Manager& self, const py::object& path) {
  const auto state = self.state();
  if (path.is_none()) return without_gil([&] { state->manager.trace_drop(); });
  const std::string text = path_of("path", path);
  without_gil([&] { state->manager.trace_end(text); });
}

void bind_enums(py::module_& module) {
  py::native_enum<hoist_use_mode_t>(module, "UseMode", "enum.IntEnum", "What a unit does with a tensor.")
      .value("READ", HOIST_USE_READ)
      .value("WRITE", HOIST_USE_WRITE)
      .value("READ_WRITE", HOIST_USE_READ_WRITE)
      .finalize();
  py::native_enum<hoist_tensor_class_t>(module, "TensorClass", "enum.IntEnum", "What a tensor is, for people.")
      .value("WEIGHT", HOIST_CLASS_WEIGHT)
      .value("STATE", HOIST_CLASS_STATE)
      .value("ACTIVATION", HOIST_CLASS_ACTIVATION)
      .finalize();
  py::native_enum<hoist_tensor_flags_t>(module, "TensorFlags", "enum.IntFlag", "How host bytes are held.")
      .value("COPY", HOIST_TENSOR_COPY)
      .value("ADOPT", HOIST_TENSOR_ADOPT)
      .value("TRANSIENT", HOIST_TENSOR_TRANSIENT)
      .value("ZERO", HOIST_TENSOR_ZERO)
      .finalize();
}

void bind_infos(py::module_& module) {
  py::class_<HostView>(module, "_HostView", py::buffer_protocol()).def_buffer([](HostView& view) {
    static std::uint8_t nothing = 0;
    const auto* data = view.bytes == 0 ? &nothing : static_cast<const std::uint8_t*>(view.data);
    return py::buffer_info(data, static_cast<py::ssize_t>(view.bytes), true);
  });
  py::class_<Info>(module, "TensorInfo", "Facts about a tensor.")
      .def_readonly("name", &Info::own_name, "Its first name.")
      .def_readonly("bytes", &Info::bytes, "Its size.")
      .def_readonly("version", &Info::version, "Grows with every write and update.")
      .def_property_readonly(
          "on_device", [](const Info& info) { return info.on_device != 0; },
          "Whether a device copy is there or on its way.")
      .def_property_readonly(
          "host_current", [](const Info& info) { return info.host_current != 0; },
          "Whether the host copy is complete and not older than the device's.")
      .def_property_readonly(
          "flags", [](const Info& info) { return enum_or_int(hoist_tensor_flags_t(info.flags)); }, "As added.")
      .def_property_readonly(
          "tensor_class", [](const Info& info) { return enum_or_int(info.tensor_class); }, "As added.");
}

constexpr const char* add_doc =
    "Adds a tensor, used by the unit; gives its index. Without a mode or class: the library's. InvalidArgumentError,\n"
    "AlreadyExistsError, NotFoundError; InvalidStateError after commit. ";

template <typename Bound>
void bind_adding(Bound& bound) {
  const auto add = [&](const char* name, auto call, const char* what, const char* doc) {
    bound.def(name, call, py::arg("unit"), py::arg("name"), py::arg(what), py::kw_only(), py::arg("mode") = py::none(),
              py::arg("tensor_class") = py::none(), (std::string(add_doc) + doc).c_str());
  };
  add("add_copied", add_copied, "source", "The buffer is packed at commit and held until then.");
  add("add_adopted", add_adopted, "source",
      "The writable buffer itself is the host copy, written by stores; held until the manager's end.");
  add("add_transient", add_sized<HOIST_TENSOR_TRANSIENT>, "bytes", "It has no host bytes.");
  add("add_zero", add_sized<HOIST_TENSOR_ZERO>, "bytes", "Its host bytes are zeros.");
  bound
      .def(
          "add_unit", [](Manager& self, const std::string& name) { return self.state()->manager.add_unit(name); },
          py::arg("name"), "Adds a unit; gives its index.")
      .def(
          "set_workspace",
          [](Manager& self, hoist_unit_t unit, std::uint64_t bytes) {
            self.state()->manager.set_workspace(unit, bytes);
          },
          py::arg("unit"), py::arg("bytes"), "Device memory of the user's own that a unit needs beside its tensors.")
      .def(
          "add_use",
          [](Manager& self, hoist_unit_t unit, hoist_tensor_t tensor, hoist_use_mode_t mode) {
            self.state()->manager.add_use(unit, tensor, mode);
          },
          py::arg("unit"), py::arg("tensor"), py::arg("mode"), "Another unit uses a tensor too; it stays one item.")
      .def(
          "add_alias",
          [](Manager& self, const std::string& name, hoist_tensor_t tensor) {
            self.state()->manager.add_alias(name, tensor);
          },
          py::arg("name"), py::arg("tensor"), "Gives a tensor a further name.");
}

template <typename Bound>
void bind_bytes(Bound& bound) {
  bound
      .def(
          "tensor", [](Manager& self, const std::string& name) { return self.state()->manager.tensor(name); },
          py::arg("name"), "Finds a tensor by name or alias; NotFoundError with the nearest name.")
      .def(
          "info", [](Manager& self, hoist_tensor_t tensor) { return Info(self.state()->manager.info(tensor)); },
          py::arg("tensor"), "Facts about a tensor; moves nothing.")
      .def("read", read, py::arg("tensor"), py::arg("out") = py::none(),
           "Reads a tensor's live bytes, wherever they are, into a writable buffer of its size, or a new uint8 array.\n"
           "OrderError inside a unit, StaleError for a transient that does not exist now.")
      .def("update", update, py::arg("tensor"), py::arg("source"), py::arg("stream"),
           "Replaces all of a tensor's bytes; units begun later see them. Units that it must come after have run on\n"
           "the stream.")
      .def("host_view", host_view, py::arg("tensor"), py::arg("dtype"),
           "A read-only NumPy array over the host copy, which it keeps alive. Stores may write into it at any time:\n"
           "drain first. InvalidStateError where there is none.");
}

}  // namespace

void bind_manager(py::module_& module) {
  bind_enums(module);
  bind_infos(module);
  bind_budget(module);
  py::class_<Manager, std::shared_ptr<Manager>> bound(module, "Manager",
                                                      "Units and tensors that move under one budget.");
  bound
      .def(py::init(&make), py::arg("device").none(false), py::arg("budget"),
           "Joins a budget; None: one of its own with the device's defaults.")
      .def_property_readonly(
          "pointer", [](Manager& self) { return reinterpret_cast<std::uintptr_t>(self.state()->manager.get()); },
          "The handle, a hoist_manager_t*, for code in C; good until close().")
      .def("__enter__", [](py::object self) { return self; })
      .def("__exit__", [](Manager& self, const py::args&) { self.close(); })
      .def("close", &Manager::close, "Frees everything; arrays from host_view keep their bytes until they go.")
      .def("commit", plain<&hoist::Manager::commit>,
           "Ends building: pins and packs host bytes, takes the arena. InfeasibleError, OutOfMemoryError.")
      .def("drain", plain<&hoist::Manager::drain>, "Waits until all work has run and dirty bytes are on the host.")
      .def("suspend", plain<&hoist::Manager::suspend>, "Drains, then gives the device memory back.")
      .def("resume", plain<&hoist::Manager::resume>, "Takes the device memory again. OutOfMemoryError.")
      .def(
          "query", [](Manager& self) { return self.state()->manager.query(); }, "The budget's counts and sizes.")
      .def(
          "trace_begin", [](Manager& self, std::uint64_t limit) { self.state()->manager.trace_begin(limit); },
          py::arg("event_limit"), "Starts recording a timeline of at most so many intervals; 0: the library's limit.")
      .def("trace_end", trace_end, py::arg("path"),
           "Ends recording and writes Chrome trace JSON to a path; None drops what was recorded.");
  bind_adding(bound);
  bind_bytes(bound);
}

}  // namespace hoist_python
