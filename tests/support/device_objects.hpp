// SPDX-License-Identifier: Apache-2.0
// Streams, events, device memory and host memory that go with their scope.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "device/device.hpp"

namespace hoist::test {

class StreamOf {
 public:
  explicit StreamOf(std::shared_ptr<Device> device) : device_(std::move(device)), handle_(device_->stream_create()) {}
  ~StreamOf() { device_->stream_destroy(handle_); }
  StreamOf(const StreamOf&) = delete;
  StreamOf& operator=(const StreamOf&) = delete;
  void* get() const { return handle_; }

 private:
  std::shared_ptr<Device> device_;
  void* handle_;
};

class EventOf {
 public:
  explicit EventOf(std::shared_ptr<Device> device) : device_(std::move(device)), handle_(device_->event_create()) {}
  ~EventOf() { device_->event_destroy(handle_); }
  EventOf(const EventOf&) = delete;
  EventOf& operator=(const EventOf&) = delete;
  void* get() const { return handle_; }

 private:
  std::shared_ptr<Device> device_;
  void* handle_;
};

class DeviceMemory {
 public:
  DeviceMemory(std::shared_ptr<Device> device, std::uint64_t bytes)
      : device_(std::move(device)), memory_(device_->memory_create(bytes)) {}
  ~DeviceMemory() { device_->memory_destroy(memory_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  void* get() const { return memory_; }

 private:
  std::shared_ptr<Device> device_;
  void* memory_;
};

// Whole pages of their own, registered or not.
class HostMemory {
 public:
  HostMemory(std::shared_ptr<Device> device, std::uint64_t bytes, bool registered)
      : device_(std::move(device)), bytes_((bytes + 4095) / 4096 * 4096), registered_(registered) {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory_ == MAP_FAILED) fail(HOIST_ERROR_OUT_OF_MEMORY, "no host memory for a test");
    try {
      if (registered_) device_->host_register(memory_, bytes_);
    } catch (...) {
      munmap(memory_, bytes_);
      throw;
    }
  }
  ~HostMemory() {
    if (registered_) device_->host_unregister(memory_, bytes_);
    munmap(memory_, bytes_);
  }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  std::uint8_t* bytes() const { return static_cast<std::uint8_t*>(memory_); }

 private:
  std::shared_ptr<Device> device_;
  std::uint64_t bytes_;
  bool registered_;
  void* memory_ = nullptr;
};

}  // namespace hoist::test
