// SPDX-License-Identifier: Apache-2.0
// Devices and their memory.
#include "device.hpp"

#include "view.hpp"

namespace hoist_python {
namespace {

py::object memory_view(const std::shared_ptr<Memory>& memory) {
  if (!memory->device->always_open()) {
    raise(HOIST_ERROR_UNSUPPORTED, "hoist.Memory.array", "the device's memory is not open to this thread",
          "copy with stream.submit_copy");
  }
  // Held by its owner through the exporter, so an array keeps the memory.
  py::object keeper = py::cast(memory);
  return py::memoryview(keeper);
}

// What installed packages bring; again where it failed.
void load_entry_points() {
  static bool loaded = false;  // touched with the interpreter's lock only
  if (loaded) return;
  py::module_::import("hoist.plugins").attr("load_entry_points")();
  loaded = true;
}

void bind_listing(py::module_& module) {
  module.def(
      "device_count",
      [] {
        load_entry_points();
        return without_gil(hoist::device_count);
      },
      "How many devices can be opened; at least 2.");
  module.def(
      "device_properties",
      [](std::uint32_t index) {
        load_entry_points();
        return without_gil([&] { return hoist::device_properties(index); });
      },
      py::arg("index"), "The facts of a device without opening it; indexes are below device_count(). NotFoundError.");
  module.def(
      "plugin_load",
      [](const py::object& path) {
        const std::string name = path_of("path", path);
        return without_gil([&] { return hoist::plugin_load(name); });
      },
      py::arg("path"),
      "Loads a device plugin, and gives its kind of device. NotFoundError, InvalidArgumentError, AlreadyExistsError,\n"
      "UnsupportedError or what the plugin gave, each naming it.");
}

void bind_properties(py::module_& module) {
  using Properties = hoist_device_properties_t;
  py::class_<Properties>(module, "DeviceProperties", "Facts about a device.")
      .def_property_readonly(
          "name", [](const Properties& p) { return p.name; }, "As opened without options.")
      .def_property_readonly(
          "description", [](const Properties& p) { return p.description; }, "Model, mode.")
      .def_readonly("memory_bytes", &Properties::memory_bytes, "Device memory in all.")
      .def_readonly("alignment", &Properties::alignment, "Sizes and offsets are rounded up to it.")
      .def_readonly("capabilities", &Properties::capabilities, "Bits of Capability.")
      .def_readonly("granularity", &Properties::granularity, "Sizes of what is mapped are multiples of it; 0: none.")
      .def_readonly("dlpack_type", &Properties::dlpack_type, "DLPack's number for this kind of device; 0: no views.")
      .def_readonly("dlpack_index", &Properties::dlpack_index, "DLPack's index of the device.")
      .def_property_readonly(
          "pci_address", [](const Properties& p) { return p.pci_address; }, "Where it is plugged in, or \"\".");
  py::native_enum<hoist_capability_t>(module, "Capability", "enum.IntFlag", "What a device can do.")
      .value("HOST_ADDRESSABLE", HOIST_CAPABILITY_HOST_ADDRESSABLE)
      .value("ASYNC", HOIST_CAPABILITY_ASYNC)
      .value("BATCH", HOIST_CAPABILITY_BATCH)
      .value("WRAP", HOIST_CAPABILITY_WRAP)
      .value("ACCESS", HOIST_CAPABILITY_ACCESS)
      .value("VIRTUAL_CLOCK", HOIST_CAPABILITY_VIRTUAL_CLOCK)
      .value("NO_BYTES", HOIST_CAPABILITY_NO_BYTES)
      .value("REMAP", HOIST_CAPABILITY_REMAP)
      .value("WORDS", HOIST_CAPABILITY_WORDS)
      .value("GRAPH", HOIST_CAPABILITY_GRAPH)
      .finalize();
  py::native_enum<hoist_copy_kind_t>(module, "CopyKind", "enum.IntEnum", "Which way a copy goes.")
      .value("H2D", HOIST_COPY_H2D)
      .value("D2H", HOIST_COPY_D2H)
      .value("D2D", HOIST_COPY_D2D)
      .finalize();
}

void bind_memory(py::module_& module) {
  py::class_<Memory, std::shared_ptr<Memory>>(module, "Memory", py::buffer_protocol(),
                                              "Device memory of the caller's own; freed with its last reference.")
      .def(py::init<std::shared_ptr<Device>, std::uint64_t>(), py::arg("device").none(false), py::arg("bytes"))
      .def_buffer([](Memory& memory) {
        if (!memory.device->always_open()) throw py::buffer_error("the device's memory is not open to this thread");
        return py::buffer_info(static_cast<std::uint8_t*>(memory.memory.data()),
                               static_cast<py::ssize_t>(memory.memory.bytes()));
      })
      .def_property_readonly(
          "pointer", [](const Memory& memory) { return reinterpret_cast<std::uintptr_t>(memory.memory.data()); },
          "The device pointer, as an integer.")
      .def_property_readonly(
          "bytes", [](const Memory& memory) { return memory.memory.bytes(); }, "Its size.")
      .def(
          "array",
          [](const std::shared_ptr<Memory>& memory, const py::object& dtype) {
            return numpy_array(memory_view(memory), dtype);
          },
          py::arg("dtype"),
          "A NumPy array of the bytes, for a thread that has waited for the work on them; it keeps the memory.\n"
          "UnsupportedError on devices whose memory is not open to host threads.");
}

void bind_host_memory(py::module_& module) {
  py::class_<HostMemory, std::shared_ptr<HostMemory>>(
      module, "HostMemory", py::buffer_protocol(),
      "Host memory pinned for a device, for copies of the caller's own: a writable buffer of zeros.")
      .def(py::init([](const std::shared_ptr<Device>& device, std::uint64_t bytes) {
             return without_gil([&] { return std::make_shared<HostMemory>(device, bytes); });
           }),
           py::arg("device").none(false), py::arg("bytes"), "OutOfMemoryError, DeviceError.")
      .def_buffer([](HostMemory& host) {
        static std::uint8_t nothing = 0;
        auto* data = host.memory.bytes() == 0 ? &nothing : static_cast<std::uint8_t*>(host.memory.data());
        return py::buffer_info(data, static_cast<py::ssize_t>(host.memory.bytes()));
      })
      .def_property_readonly(
          "bytes", [](const HostMemory& host) { return host.memory.bytes(); }, "Its size.")
      .def_property_readonly(
          "pinned", [](const HostMemory& host) { return host.memory.pinned(); },
          "False where the device refused to pin it: copies are slow then.");
}

}  // namespace

void bind_device(py::module_& module) {
  bind_listing(module);
  bind_properties(module);
  py::class_<Device, std::shared_ptr<Device>>(module, "Device", "An open device; what uses it keeps it open.")
      .def(py::init([](const std::string& name) {
             load_entry_points();
             return without_gil([&] { return std::make_shared<Device>(name); });
           }),
           py::arg("name"),
           "Opens \"host:0\", \"host:1?mode=virtual&h2d_gbps=55\". NotFoundError, InvalidArgumentError for an option\n"
           "that cannot be, AlreadyExistsError where it is open with other options, DeviceError.")
      .def(
          "query", [](Device& device) { return device.get().query(); }, "The device's facts.")
      .def(
          "query_memory",
          [](Device& device) {
            const auto info = device.get().query_memory();
            return py::make_tuple(info.free_bytes, info.total_bytes);
          },
          "Free and total device memory, in bytes.")
      .def(
          "set", [](Device& device, const std::string& key, const std::string& value) { device.get().set(key, value); },
          py::arg("key"), py::arg("value"), "Changes a setting of the open device.")
      .def_property_readonly(
          "pointer", [](Device& device) { return reinterpret_cast<std::uintptr_t>(device.get().get()); },
          "The handle, a hoist_device_t*, for code in C; good as long as this.")
      .def_property_readonly(
          "time_us", [](Device& device) { return device.get().time_us(); },
          "The device's clock, in microseconds since it was opened.");
  bind_memory(module);
  bind_host_memory(module);
}

}  // namespace hoist_python
