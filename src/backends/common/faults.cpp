// SPDX-License-Identifier: Apache-2.0
#include "backends/common/faults.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <vector>

#include "backends/common/error.hpp"

namespace hoist_backend {
namespace {

constexpr std::string_view names[] = {"query",
                                      "query_memory",
                                      "set",
                                      "get_time",
                                      "memory_create",
                                      "host_register",
                                      "host_unregister",
                                      "stream_create",
                                      "stream_wrap",
                                      "stream_wait",
                                      "stream_wait_event",
                                      "event_create",
                                      "event_record",
                                      "event_poll",
                                      "event_wait",
                                      "event_get_elapsed",
                                      "copy",
                                      "copy_batch",
                                      "fill",
                                      "host_function",
                                      "access_begin",
                                      "access_end",
                                      "handle_create",
                                      "address_reserve",
                                      "memory_map",
                                      "memory_unmap",
                                      "words_create",
                                      "words_submit",
                                      "capture_query",
                                      "capture_begin",
                                      "capture_end",
                                      "graph_launch",
                                      "stream_create_aside",
                                      "work"};
static_assert(std::size(names) == static_cast<std::size_t>(Slot::count));

std::size_t index_of(std::string_view name, bool with_work) {
  const auto* end = std::end(names) - (with_work ? 0 : 1);
  const auto* found = std::find(std::begin(names), end, name);
  if (found != end) return static_cast<std::size_t>(found - std::begin(names));
  fail(HOIST_ERROR_INVALID_ARGUMENT, text("setting fail: slot '", name, "' is unknown"),
       nearest_hint(name, {std::begin(names), end}));
}

}  // namespace

void Faults::set(std::string_view spec) {
  if (spec.empty()) {
    for (auto& turn : turns_) turn.store(0, std::memory_order_relaxed);
    return;
  }
  const std::size_t at = std::min(spec.find('@'), spec.size());
  const std::size_t slot = index_of(spec.substr(0, at), fails_work_);
  std::string_view number = spec.substr(std::min(at + 1, spec.size()));
  const bool stays = !number.empty() && number.back() == '+';
  if (stays) number.remove_suffix(1);
  std::int64_t turn = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), turn);
  if (error != std::errc() || end != number.data() + number.size() || turn < 1) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("setting fail is '", spec, "'"),
         "give SLOT@N for the N-th next call, SLOT@N+ for that and all later ones, nothing for none");
  }
  turns_[slot].store(stays ? -turn : turn, std::memory_order_relaxed);
}

void Faults::count_down(Slot slot) {
  auto& turn = turns_[static_cast<std::size_t>(slot)];
  std::int64_t now = turn.load(std::memory_order_relaxed);
  std::int64_t next = 0;
  do {
    if (now == 0) return;
    next = now > 0 ? now - 1 : (now == -1 ? -1 : now + 1);
  } while (!turn.compare_exchange_weak(now, next, std::memory_order_relaxed));
  if (now != 1 && now != -1) return;
  const bool memory = slot == Slot::memory_create || slot == Slot::host_register || slot == Slot::handle_create;
  fail(memory ? HOIST_ERROR_OUT_OF_MEMORY : HOIST_ERROR_DEVICE,
       text("failure injected at ", names[static_cast<std::size_t>(slot)]), "setting fail to \"\" ends it");
}

}  // namespace hoist_backend
