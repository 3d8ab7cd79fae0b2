// SPDX-License-Identifier: Apache-2.0
// Devices and streams as Python holds them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common.hpp"

namespace hoist_python {

class Device {
 public:
  explicit Device(const std::string& name) : device_(name), capabilities_(device_.query().capabilities) {}
  ~Device() {
    without_gil([&] { const hoist::Device last = std::move(device_); });
  }
  hoist::Device& get() { return device_; }
  // Whether host functions may touch device memory, and there are bytes in it.
  [[nodiscard]] bool host_addressable() const {
    return has(HOIST_CAPABILITY_HOST_ADDRESSABLE) && !has(HOIST_CAPABILITY_NO_BYTES);
  }
  // Whether any thread may, outside host functions too.
  [[nodiscard]] bool always_open() const { return host_addressable() && !has(HOIST_CAPABILITY_ACCESS); }

 private:
  [[nodiscard]] bool has(hoist_capability_t bit) const {
    return (capabilities_ & static_cast<std::uint64_t>(bit)) != 0;
  }
  hoist::Device device_;
  std::uint64_t capabilities_;
};

// Device memory of the caller's own.
struct Memory {
  std::shared_ptr<Device> device;
  hoist::Memory memory;
  Memory(std::shared_ptr<Device> of, std::uint64_t bytes) : device(std::move(of)), memory(device->get(), bytes) {}
};

// Pinned host memory of the caller's own.
struct HostMemory {
  std::shared_ptr<Device> device;
  hoist::HostMemory memory;
  HostMemory(std::shared_ptr<Device> of, std::uint64_t bytes) : device(std::move(of)), memory(device->get(), bytes) {}
};

// The first exception of a stream's Python functions, until somebody asks.
class Failure {
 public:
  void keep(py::error_already_set& error) {
    if (first_.is_none()) first_ = error.value();
  }
  void raise_and_clear() {
    if (first_.is_none()) return;
    const py::object error = std::exchange(first_, py::none());
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
    throw py::error_already_set();
  }

 private:
  py::object first_ = py::none();  // touched with the interpreter's lock only
};

class Stream {
 public:
  Stream(std::shared_ptr<Device> device, hoist::Stream stream, std::optional<std::uintptr_t> native = std::nullopt);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Raises first what a Python function on this stream has raised since the last call.
  hoist::Stream& checked() {
    failure_->raise_and_clear();
    return stream_;
  }
  // For clean-up, where a failure of the past must not stand in the way.
  hoist::Stream& raw() { return stream_; }
  void wait();
  [[nodiscard]] const std::shared_ptr<Device>& device() const { return device_; }
  // Of a wrapped stream: the caller's own.
  [[nodiscard]] std::optional<std::uintptr_t> native() const { return native_; }
  // Held until the stream has been waited for.
  void keep(std::unique_ptr<Buffer> buffer) { kept_.push_back(std::move(buffer)); }
  void submit_host(const py::object& function, double modelled_us, const py::args& arguments);
  void capture_begin();
  hoist::Graph capture_end();

 private:
  std::shared_ptr<Device> device_;
  hoist::Stream stream_;
  std::optional<std::uintptr_t> native_;
  bool capturing_ = false;
  std::shared_ptr<Failure> failure_ = std::make_shared<Failure>();
  std::vector<std::unique_ptr<Buffer>> kept_;
};

}  // namespace hoist_python
