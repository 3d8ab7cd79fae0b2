// SPDX-License-Identifier: Apache-2.0
#include "hoist/host_memory.h"

#include "device_handle.hpp"
#include "guard.hpp"
#include "options.hpp"

using namespace hoist;
using namespace hoist::capi;

hoist_status_t hoist_host_memory_create(hoist_device_t* device, uint64_t bytes, void** out_memory,
                                        int* out_pinned) noexcept {
  return guarded("hoist_host_memory_create", [&] {
    PinnedArena& arena = *value_of(device, "device").host_memory;
    required(out_memory, "out_memory");
    void* memory = arena.allocate(bytes);
    *out_memory = memory;
    if (out_pinned != nullptr) *out_pinned = arena.is_pageable(memory) ? 0 : 1;
  });
}

// A child leaves its parent's memory alone, as destroy_handle does.
void hoist_host_memory_destroy(hoist_device_t* device, void* memory) noexcept {
  const bool is_parents =
      device != nullptr && device->magic == magic_of<hoist_device_t>() && device->generation != fork_generation();
  if (memory == nullptr || is_parents) return;
  guarded_void("hoist_host_memory_destroy", [&] { value_of(device, "device").host_memory->release(memory); });
}
