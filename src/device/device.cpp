// SPDX-License-Identifier: Apache-2.0
#include "device/device.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/fork.hpp"
#include "base/log.hpp"
#include "device/services.hpp"

namespace hoist {

Device::Device(const hoist_device_ops_t& ops, std::string name, void* self)
    : ops_(ops), name_(std::move(name)), self_(self), generation_(fork_generation()) {
  properties_.struct_size = sizeof properties_;
  try {
    check(ops_.query(self_, &properties_), "query");
    if (properties_.alignment == 0 || (properties_.alignment & (properties_.alignment - 1)) != 0) {
      fail(HOIST_ERROR_DEVICE, text(name_, ": query: alignment is ", properties_.alignment), "give a power of two");
    }
    const std::uint64_t granularity = properties_.granularity;
    if (has(HOIST_CAPABILITY_REMAP) && (granularity == 0 || granularity % properties_.alignment != 0)) {
      fail(HOIST_ERROR_DEVICE, text(name_, ": query: granularity is ", granularity),
           "give a multiple of the alignment");
    }
  } catch (...) {
    ops_.close(self_);
    throw;
  }
}

// A child has none of the device's threads: closing and destroying there would wait for ever, and undo what
// the parent still uses.
bool Device::is_parents() const noexcept { return generation_ != fork_generation(); }

Device::~Device() {
  if (!is_parents()) ops_.close(self_);
}

void Device::check(hoist_status_t status, const char* slot) const {
  if (status == HOIST_OK) [[likely]] {
    return;
  }
  SlotError error = take_slot_error(status);
  fail(status, text(name_, ": ", slot, ": ", error.message), std::move(error.hint));
}

void Device::query_memory(std::uint64_t& free, std::uint64_t& total) const {
  check(ops_.query_memory(self_, &free, &total), "query_memory");
}

void Device::set(const char* key, const char* value) { check(ops_.set(self_, key, value), "set"); }

double Device::time_us() const {
  double now = 0;
  check(ops_.get_time(self_, &now), "get_time");
  return now;
}

void* Device::memory_create(std::uint64_t bytes) {
  void* memory = nullptr;
  check(ops_.memory_create(self_, bytes, &memory), "memory_create");
  return memory;
}

void Device::memory_destroy(void* memory) noexcept {
  if (!is_parents()) ops_.memory_destroy(self_, memory);
}

void Device::host_register(void* memory, std::uint64_t bytes) {
  check(ops_.host_register(self_, memory, bytes), "host_register");
}

// A device that refuses once is asked again: what stays registered would be in the way of whatever lies there next.
void Device::host_unregister(void* memory, std::uint64_t bytes) noexcept {
  if (is_parents()) return;
  for (bool again = true;; again = false) {
    const hoist_status_t status = ops_.host_unregister(self_, memory, bytes);
    if (status == HOIST_OK) return;
    try {
      log(again ? HOIST_LOG_WARNING : HOIST_LOG_ERROR, name_, ": host_unregister of ", memory, " with ", bytes,
          " bytes was refused, ",
          again ? "and is asked for again: " : "and it stays registered: ", take_slot_error(status).message);
    } catch (...) {
      log_message(HOIST_LOG_ERROR, "host_unregister failed, and memory ran out saying so");
    }
    if (!again) return;
  }
}

void* Device::stream_create() {
  void* stream = nullptr;
  check(ops_.stream_create(self_, &stream), "stream_create");
  return stream;
}

void Device::stream_destroy(void* stream) noexcept {
  if (!is_parents()) ops_.stream_destroy(self_, stream);
}

void* Device::stream_wrap(void* native) {
  void* stream = nullptr;
  check(ops_.stream_wrap(self_, native, &stream), "stream_wrap");
  return stream;
}

void Device::stream_wait(void* stream) { check(ops_.stream_wait(self_, stream), "stream_wait"); }

void Device::stream_wait_event(void* stream, void* event) {
  check(ops_.stream_wait_event(self_, stream, event), "stream_wait_event");
}

void* Device::event_create() {
  void* event = nullptr;
  check(ops_.event_create(self_, &event), "event_create");
  return event;
}

void Device::event_destroy(void* event) noexcept {
  if (!is_parents()) ops_.event_destroy(self_, event);
}

void Device::event_record(void* event, void* stream) { check(ops_.event_record(self_, event, stream), "event_record"); }

bool Device::event_poll(void* event) {
  int ready = 0;
  check(ops_.event_poll(self_, event, &ready), "event_poll");
  return ready != 0;
}

void Device::event_wait(void* event) { check(ops_.event_wait(self_, event), "event_wait"); }

double Device::event_elapsed_us(void* begin, void* end) {
  double elapsed = 0;
  check(ops_.event_get_elapsed(self_, begin, end, &elapsed), "event_get_elapsed");
  return elapsed;
}

void Device::copy(void* stream, hoist_copy_kind_t kind, void* dst, const void* src, std::uint64_t bytes) {
  if (bytes != 0) check(ops_.copy(self_, stream, kind, dst, src, bytes), "copy");
}

void Device::copy_batch(void* stream, hoist_copy_kind_t kind, std::uint64_t count, void* const* dst,
                        const void* const* src, const std::uint64_t* bytes) {
  if (count == 0) return;
  const bool whole = has(HOIST_CAPABILITY_BATCH) && std::find(bytes, bytes + count, 0) == bytes + count;
  if (whole) return check(ops_.copy_batch(self_, stream, kind, count, dst, src, bytes), "copy_batch");
  for (std::uint64_t i = 0; i < count; ++i) copy(stream, kind, dst[i], src[i], bytes[i]);
}

void Device::fill(void* stream, void* dst, std::uint8_t value, std::uint64_t bytes) {
  if (bytes != 0) check(ops_.fill(self_, stream, dst, value, bytes), "fill");
}

void Device::host_function(void* stream, hoist_host_fn_t function, void* user_data, double modelled_us) {
  check(ops_.host_function(self_, stream, function, user_data, modelled_us), "host_function");
}

void Device::access_begin(void* stream, void* memory, std::uint64_t bytes) {
  if (bytes == 0 || !has(HOIST_CAPABILITY_ACCESS)) return;
  check(ops_.access_begin(self_, stream, memory, bytes), "access_begin");
}

void Device::access_end(void* stream, void* memory, std::uint64_t bytes) {
  if (bytes == 0 || !has(HOIST_CAPABILITY_ACCESS)) return;
  check(ops_.access_end(self_, stream, memory, bytes), "access_end");
}

void* Device::handle_create(std::uint64_t bytes) {
  void* handle = nullptr;
  check(ops_.handle_create(self_, bytes, &handle), "handle_create");
  return handle;
}

void Device::handle_destroy(void* handle) noexcept {
  if (!is_parents()) ops_.handle_destroy(self_, handle);
}

void* Device::address_reserve(std::uint64_t bytes) {
  void* address = nullptr;
  check(ops_.address_reserve(self_, bytes, &address), "address_reserve");
  return address;
}

void Device::address_release(void* address, std::uint64_t bytes) noexcept {
  if (!is_parents()) ops_.address_release(self_, address, bytes);
}

void Device::memory_map(void* address, std::uint64_t bytes, void* handle) {
  check(ops_.memory_map(self_, address, bytes, handle), "memory_map");
}

void Device::memory_unmap(void* address, std::uint64_t bytes) {
  check(ops_.memory_unmap(self_, address, bytes), "memory_unmap");
}

std::uint32_t* Device::words_create(std::uint64_t count) {
  std::uint32_t* words = nullptr;
  check(ops_.words_create(self_, count, &words), "words_create");
  return words;
}

void Device::words_destroy(std::uint32_t* words) noexcept {
  if (!is_parents()) ops_.words_destroy(self_, words);
}

void Device::words_submit(void* stream, std::uint64_t count, const hoist_word_op_t* operations) {
  if (count != 0) check(ops_.words_submit(self_, stream, count, operations), "words_submit");
}

bool Device::is_capturing(void* stream) {
  if (!has(HOIST_CAPABILITY_GRAPH)) return false;
  int capturing = 0;
  check(ops_.capture_query(self_, stream, &capturing), "capture_query");
  return capturing != 0;
}

void Device::capture_begin(void* stream) {
  check(ops_.capture_begin(self_, stream), "capture_begin");
  launches_.begin_capture(stream);
}

void* Device::capture_end(void* stream) {
  void* graph = nullptr;
  const hoist_status_t status = ops_.capture_end(self_, stream, &graph);
  launches_.end_capture(stream, status == HOIST_OK ? graph : nullptr);
  check(status, "capture_end");
  return graph;
}

void Device::expect_launches(void* stream, std::weak_ptr<LaunchListener> listener) {
  launches_.expect(stream, std::move(listener));
}

// Asked twice: a refusal of the question alone is no failure of the stream.
std::string Device::failure_of(void* stream) noexcept {
  std::string why;
  for (int i = 0; i < 2; ++i) {
    try {
      static_cast<void>(is_capturing(stream));
      return "";
    } catch (const std::exception& error) {
      why = error.what();
    }
  }
  return why;
}

// A launch into a stream that fails meanwhile may have been taken in part: whoever feeds the replay must hear of it.
void Device::graph_launch(void* graph, void* stream) {
  const auto listeners = launches_.of(graph);
  if (!listeners) return check(ops_.graph_launch(self_, graph, stream), "graph_launch");
  for (const auto& each : *listeners) {
    if (const auto listener = each.lock()) listener->before_launch(stream);
  }
  const hoist_status_t status = ops_.graph_launch(self_, graph, stream);
  const SlotError error = status == HOIST_OK ? SlotError{} : take_slot_error(status);
  const std::string lost = status == HOIST_OK ? "" : failure_of(stream);
  if (status == HOIST_OK || !lost.empty()) {
    for (const auto& each : *listeners) {
      if (const auto listener = each.lock()) listener->after_launch(stream, lost);
    }
  }
  if (status != HOIST_OK) fail(status, text(name_, ": graph_launch: ", error.message), error.hint);
}

void Device::require_replays(void* stream) {
  for (const auto& each : launches_.all()) {
    if (const auto listener = each.lock()) listener->after_wait(stream);
  }
}

void Device::graph_destroy(void* graph) noexcept {
  launches_.forget(graph);
  if (!is_parents()) ops_.graph_destroy(self_, graph);
}

void* Device::stream_create_aside() {
  void* stream = nullptr;
  check(ops_.stream_create_aside(self_, &stream), "stream_create_aside");
  return stream;
}

}  // namespace hoist
