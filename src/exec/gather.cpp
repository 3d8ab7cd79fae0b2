// SPDX-License-Identifier: Apache-2.0
#include "exec/gather.hpp"

namespace hoist {

void Gather::reserve(std::size_t loads) {
  items_.reserve(loads);
  to_.reserve(loads);
  from_.reserve(loads);
  bytes_.reserve(loads);
}

bool Gather::add(std::uint32_t item, void* to, const HostBytes& from, bool joins, bool batches) {
  if (joins && !empty() && last_.join(to, from)) {
    bytes_.back() = last_.from.bytes;
    items_.push_back(item);
    return true;
  }
  if (!empty() && (!batches || from.bytes > small_load || bytes_.back() > small_load)) return false;
  last_ = {to, from};
  to_.push_back(to);
  from_.push_back(from.begin);
  bytes_.push_back(from.bytes);
  items_.push_back(item);
  return true;
}

void Gather::submit(Device& device, void* stream) const {
  if (bytes_.size() == 1) {
    device.copy(stream, HOIST_COPY_H2D, to_[0], from_[0], bytes_[0]);
  } else {
    device.copy_batch(stream, HOIST_COPY_H2D, bytes_.size(), to_.data(), from_.data(), bytes_.data());
  }
}

void Gather::clear() noexcept {
  items_.clear();
  to_.clear();
  from_.clear();
  bytes_.clear();
}

}  // namespace hoist
