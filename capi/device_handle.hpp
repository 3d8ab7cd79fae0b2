// SPDX-License-Identifier: Apache-2.0
// What hoist_device_t, hoist_stream_t and hoist_event_t point to.
#pragma once

#include <cstdint>
#include <memory>

#include "device/device.hpp"
#include "handle.hpp"
#include "hoist/device.h"
#include "memory/pinned_arena.hpp"

namespace hoist::capi {

// Opens of one device share one handle; it goes with the last close.
struct OpenDevice {
  std::shared_ptr<Device> device;
  std::uint64_t opens = 0;
  std::unique_ptr<PinnedArena> host_memory;  // of the callers; goes with the last close
};

}  // namespace hoist::capi

struct hoist_device_t : hoist::capi::Handle<hoist::capi::OpenDevice> {
  static constexpr const char* type = "hoist_device_t";
};
struct hoist_stream_t : hoist::capi::Handle<hoist::Stream> {
  static constexpr const char* type = "hoist_stream_t";
};
struct hoist_event_t : hoist::capi::Handle<hoist::Event> {
  static constexpr const char* type = "hoist_event_t";
};

namespace hoist::capi {

inline const std::shared_ptr<Device>& device_of(const hoist_device_t* device) {
  return value_of(device, "device").device;
}

}  // namespace hoist::capi
