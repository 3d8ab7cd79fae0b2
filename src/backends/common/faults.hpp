// SPDX-License-Identifier: Apache-2.0
// Failures on demand: "copy@3" makes the third next copy fail, "copy@3+" that one and all later ones.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace hoist_backend {

enum class Slot : std::uint8_t {
  query,
  query_memory,
  set,
  get_time,
  memory_create,
  host_register,
  host_unregister,
  stream_create,
  stream_wrap,
  stream_wait,
  stream_wait_event,
  event_create,
  event_record,
  event_poll,
  event_wait,
  event_get_elapsed,
  copy,
  copy_batch,
  fill,
  host_function,
  access_begin,
  access_end,
  handle_create,
  address_reserve,
  memory_map,
  memory_unmap,
  words_create,
  words_submit,
  capture_query,
  capture_begin,
  capture_end,
  graph_launch,
  stream_create_aside,
  work,  // no slot: a copy, fill or host function that was taken fails when it runs, where the device can do that
  count
};

class Faults {
 public:
  explicit Faults(bool fails_work) : fails_work_(fails_work) {}
  // "" takes all faults back. Throws Error(INVALID_ARGUMENT) for another slot or shape.
  void set(std::string_view spec);
  // Throws the injected failure when this call's turn has come.
  void check(Slot slot) {
    if (turns_[static_cast<std::size_t>(slot)].load(std::memory_order_relaxed) != 0) count_down(slot);
  }

 private:
  void count_down(Slot slot);

  const bool fails_work_;
  // 0: none; n > 0: the n-th next call, once; n < 0: the n-th next call and all later ones.
  std::array<std::atomic<std::int64_t>, static_cast<std::size_t>(Slot::count)> turns_{};
};

}  // namespace hoist_backend
