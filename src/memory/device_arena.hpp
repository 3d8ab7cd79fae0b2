// SPDX-License-Identifier: Apache-2.0
// Device memory with an owner.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "device/device.hpp"

namespace hoist {

class DeviceArena {
 public:
  // Throws Error(OUT_OF_MEMORY). No memory is taken for 0 bytes: base() is NULL.
  DeviceArena(std::shared_ptr<Device> device, std::uint64_t bytes);
  // Nothing on the device uses it any more.
  virtual ~DeviceArena();
  DeviceArena(const DeviceArena&) = delete;
  DeviceArena& operator=(const DeviceArena&) = delete;

  [[nodiscard]] void* base() const noexcept { return base_; }
  [[nodiscard]] virtual std::uint64_t bytes() const noexcept { return bytes_; }
  // False: memory went away and could not be taken again.
  [[nodiscard]] virtual bool is_whole() const noexcept { return true; }

 protected:
  explicit DeviceArena(std::shared_ptr<Device> device) : device_(std::move(device)), bytes_(0) {}
  std::shared_ptr<Device> device_;

 private:
  std::uint64_t bytes_;
  void* base_ = nullptr;
};

}  // namespace hoist
