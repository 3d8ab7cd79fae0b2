// SPDX-License-Identifier: Apache-2.0
#include "memory/device_arena.hpp"

#include <utility>

namespace hoist {

DeviceArena::DeviceArena(std::shared_ptr<Device> device, std::uint64_t bytes)
    : device_(std::move(device)), bytes_(bytes) {
  if (bytes_ != 0) base_ = device_->memory_create(bytes_);
}

DeviceArena::~DeviceArena() {
  if (base_ != nullptr) device_->memory_destroy(base_);
}

}  // namespace hoist
