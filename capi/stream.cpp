// SPDX-License-Identifier: Apache-2.0
// The streams and events of device.h.
#include <atomic>

#include "device_handle.hpp"
#include "guard.hpp"
#include "hoist/device.h"
#include "options.hpp"

using namespace hoist;
using namespace hoist::capi;

namespace {

void check_same_device(const std::shared_ptr<Device>& one, const std::shared_ptr<Device>& other, const char* what) {
  if (one == other) return;
  fail(HOIST_ERROR_INVALID_ARGUMENT, text(what, " are of different devices: ", one->name(), " and ", other->name()),
       "use streams and events of one device");
}

std::shared_ptr<void> owned(const std::shared_ptr<Device>& device, void* stream) {
  return {stream, [device](void* handle) { device->stream_destroy(handle); }};
}

}  // namespace

hoist_status_t hoist_stream_create(hoist_device_t* device, hoist_stream_t** out_stream) noexcept {
  return guarded("hoist_stream_create", [&] {
    const auto& target = device_of(device);
    required(out_stream, "out_stream");
    auto* handle = create_handle<hoist_stream_t>(Stream{target, nullptr});
    const Abandon abandon(handle);
    handle->value->handle = owned(target, target->stream_create());
    *out_stream = abandon.keep();
  });
}

hoist_status_t hoist_stream_wrap(hoist_device_t* device, void* native, hoist_stream_t** out_stream) noexcept {
  return guarded("hoist_stream_wrap", [&] {
    const auto& target = device_of(device);
    required(out_stream, "out_stream");
    auto* handle = create_handle<hoist_stream_t>(Stream{target, nullptr});
    const Abandon abandon(handle);
    handle->value->handle = owned(target, target->stream_wrap(native));
    *out_stream = abandon.keep();
  });
}

void hoist_stream_destroy(hoist_stream_t* stream) noexcept {
  destroy_handle(stream, "hoist_stream_destroy", [](Stream& value) {
    // Its work has run when this returns, also where a budget still keeps the stream.
    if (value.handle.use_count() > 1) value.device->stream_wait(value.handle.get());
  });
}

hoist_status_t hoist_stream_wait(hoist_stream_t* stream) noexcept {
  return guarded("hoist_stream_wait", [&] {
    Stream& target = value_of(stream, "stream");
    target.device->stream_wait(target.handle.get());
    target.device->require_replays(target.handle.get());
  });
}

hoist_status_t hoist_stream_wait_event(hoist_stream_t* stream, hoist_event_t* event) noexcept {
  return guarded("hoist_stream_wait_event", [&] {
    const Held target(stream, "stream");
    Event& awaited = value_of(event, "event");
    check_same_device(target->device, awaited.device, "stream and event");
    if (!std::atomic_ref(awaited.recorded).load(std::memory_order_acquire)) {
      fail(HOIST_ERROR_ORDER, "the event was never recorded", "record it first");
    }
    target->device->stream_wait_event(target->handle.get(), awaited.handle);
  });
}

hoist_status_t hoist_stream_submit_copy(hoist_stream_t* stream, hoist_copy_kind_t kind, void* dst, const void* src,
                                        uint64_t bytes) noexcept {
  return guarded("hoist_stream_submit_copy", [&] {
    const Held target(stream, "stream");
    target->device->copy(target->handle.get(), kind, dst, src, bytes);
  });
}

hoist_status_t hoist_stream_submit_fill(hoist_stream_t* stream, void* dst, uint8_t value, uint64_t bytes) noexcept {
  return guarded("hoist_stream_submit_fill", [&] {
    const Held target(stream, "stream");
    target->device->fill(target->handle.get(), dst, value, bytes);
  });
}

hoist_status_t hoist_stream_submit_host(hoist_stream_t* stream, hoist_host_fn_t function, void* user_data,
                                        double modelled_us) noexcept {
  return guarded("hoist_stream_submit_host", [&] {
    const Held target(stream, "stream");
    if (function == nullptr) fail(HOIST_ERROR_INVALID_ARGUMENT, "function is NULL", "give a host function");
    target->device->host_function(target->handle.get(), function, user_data, modelled_us);
  });
}

hoist_status_t hoist_event_create(hoist_device_t* device, hoist_event_t** out_event) noexcept {
  return guarded("hoist_event_create", [&] {
    const auto& target = device_of(device);
    required(out_event, "out_event");
    auto* handle = create_handle<hoist_event_t>(Event{target, nullptr});
    const Abandon abandon(handle);
    handle->value->handle = target->event_create();
    *out_event = abandon.keep();
  });
}

void hoist_event_destroy(hoist_event_t* event) noexcept {
  destroy_handle(event, "hoist_event_destroy", [](Event& value) { value.device->event_destroy(value.handle); });
}

hoist_status_t hoist_event_record(hoist_event_t* event, hoist_stream_t* stream) noexcept {
  return guarded("hoist_event_record", [&] {
    const Held target(event, "event");
    const Held place(stream, "stream");
    check_same_device(place->device, target->device, "stream and event");
    target->device->event_record(target->handle, place->handle.get());
    std::atomic_ref(target->recorded).store(true, std::memory_order_release);
  });
}

hoist_status_t hoist_event_poll(hoist_event_t* event, int* out_ready) noexcept {
  return guarded("hoist_event_poll", [&] {
    Event& target = value_of(event, "event");
    required(out_ready, "out_ready");
    *out_ready = target.device->event_poll(target.handle) ? 1 : 0;
  });
}

hoist_status_t hoist_event_wait(hoist_event_t* event) noexcept {
  return guarded("hoist_event_wait", [&] {
    Event& target = value_of(event, "event");
    if (!std::atomic_ref(target.recorded).load(std::memory_order_acquire)) {
      fail(HOIST_ERROR_ORDER, "the event was never recorded", "record it first");
    }
    target.device->event_wait(target.handle);
  });
}

hoist_status_t hoist_event_get_elapsed(const hoist_event_t* begin, const hoist_event_t* end, double* out_us) noexcept {
  return guarded("hoist_event_get_elapsed", [&] {
    const Event& first = value_of(begin, "begin");
    const Event& last = value_of(end, "end");
    required(out_us, "out_us");
    check_same_device(first.device, last.device, "begin and end");
    *out_us = first.device->event_elapsed_us(first.handle, last.handle);
  });
}
