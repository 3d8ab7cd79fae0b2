// SPDX-License-Identifier: Apache-2.0
// The one list of slots, in the order of the table: the level that each came with, and who needs it.
// A slot is appended here, to hoist_device_ops_t, and, as a new level, to HOIST_DEVICE_ABI_VERSION.
#pragma once

#include <cstdint>

#include "hoist/device.h"

namespace hoist {

// Else 0, or the capability that needs the slot.
inline constexpr std::uint64_t slot_required = ~std::uint64_t{0};

}  // namespace hoist

// SLOT(name, since, need)
#define HOIST_DEVICE_SLOTS(SLOT)                   \
  SLOT(count, 1, slot_required)                    \
  SLOT(describe, 1, slot_required)                 \
  SLOT(open, 1, slot_required)                     \
  SLOT(close, 1, slot_required)                    \
  SLOT(query, 1, slot_required)                    \
  SLOT(query_memory, 1, slot_required)             \
  SLOT(set, 1, 0)                                  \
  SLOT(get_time, 1, slot_required)                 \
  SLOT(memory_create, 1, slot_required)            \
  SLOT(memory_destroy, 1, slot_required)           \
  SLOT(host_register, 1, slot_required)            \
  SLOT(host_unregister, 1, slot_required)          \
  SLOT(stream_create, 1, slot_required)            \
  SLOT(stream_destroy, 1, slot_required)           \
  SLOT(stream_wrap, 1, HOIST_CAPABILITY_WRAP)      \
  SLOT(stream_wait, 1, slot_required)              \
  SLOT(stream_wait_event, 1, slot_required)        \
  SLOT(event_create, 1, slot_required)             \
  SLOT(event_destroy, 1, slot_required)            \
  SLOT(event_record, 1, slot_required)             \
  SLOT(event_poll, 1, slot_required)               \
  SLOT(event_wait, 1, slot_required)               \
  SLOT(event_get_elapsed, 1, slot_required)        \
  SLOT(copy, 1, slot_required)                     \
  SLOT(copy_batch, 1, HOIST_CAPABILITY_BATCH)      \
  SLOT(fill, 1, slot_required)                     \
  SLOT(host_function, 1, slot_required)            \
  SLOT(access_begin, 1, HOIST_CAPABILITY_ACCESS)   \
  SLOT(access_end, 1, HOIST_CAPABILITY_ACCESS)     \
  SLOT(handle_create, 1, HOIST_CAPABILITY_REMAP)   \
  SLOT(handle_destroy, 1, HOIST_CAPABILITY_REMAP)  \
  SLOT(address_reserve, 1, HOIST_CAPABILITY_REMAP) \
  SLOT(address_release, 1, HOIST_CAPABILITY_REMAP) \
  SLOT(memory_map, 1, HOIST_CAPABILITY_REMAP)      \
  SLOT(memory_unmap, 1, HOIST_CAPABILITY_REMAP)    \
  SLOT(words_create, 1, HOIST_CAPABILITY_WORDS)    \
  SLOT(words_destroy, 1, HOIST_CAPABILITY_WORDS)   \
  SLOT(words_submit, 1, HOIST_CAPABILITY_WORDS)    \
  SLOT(capture_query, 1, HOIST_CAPABILITY_GRAPH)   \
  SLOT(capture_begin, 1, HOIST_CAPABILITY_GRAPH)   \
  SLOT(capture_end, 1, HOIST_CAPABILITY_GRAPH)     \
  SLOT(graph_launch, 1, HOIST_CAPABILITY_GRAPH)    \
  SLOT(graph_destroy, 1, HOIST_CAPABILITY_GRAPH)   \
  SLOT(stream_create_aside, 1, HOIST_CAPABILITY_GRAPH)
