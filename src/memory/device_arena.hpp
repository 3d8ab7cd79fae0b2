// SPDX-License-Identifier: Apache-2.0
// Device memory with an owner.
#pragma once

#include <cstdint>
#include <memory>

#include "device/device.hpp"

namespace hoist {

class DeviceArena {
 public:
  // Throws Error(OUT_OF_MEMORY). No memory is taken for 0 bytes: base() is NULL.
  DeviceArena(std::shared_ptr<Device> device, std::uint64_t bytes);
  // Nothing on the device uses it any more.
  ~DeviceArena();
  DeviceArena(const DeviceArena&) = delete;
  DeviceArena& operator=(const DeviceArena&) = delete;

  [[nodiscard]] void* base() const noexcept { return base_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  std::shared_ptr<Device> device_;
  std::uint64_t bytes_;
  void* base_ = nullptr;
};

}  // namespace hoist
