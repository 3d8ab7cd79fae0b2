// SPDX-License-Identifier: Apache-2.0
// The cuda device's table. Every slot is one line over CudaDevice; failures become statuses here.
#include <new>
#include <string_view>

#include "backends/cuda/cuda_device.hpp"
#include "backends/cuda/error.hpp"
#include "hoist/device_ops.h"

namespace hoist_cuda {
namespace {

const hoist_device_services_t* services = nullptr;

CudaDevice& device_of(void* self) { return *static_cast<CudaDevice*>(self); }
Stream& stream_of(void* stream) { return *static_cast<Stream*>(stream); }
Event& event_of(void* event) { return *static_cast<Event*>(event); }

template <typename Body>
hoist_status_t guarded(Body&& body) noexcept {
  try {
    body();
    return HOIST_OK;
  } catch (const CudaError& error) {
    services->error_set(error.code(), error.what(), error.hint().c_str());
    return error.code();
  } catch (const std::bad_alloc&) {
    services->error_set(HOIST_ERROR_OUT_OF_MEMORY, "the host is out of memory", "");
    return HOIST_ERROR_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    services->error_set(HOIST_ERROR_INTERNAL, error.what(), "");
    return HOIST_ERROR_INTERNAL;
  }
}

template <typename Body>
hoist_status_t slot(Slot which, void* self, Body&& body) noexcept {
  return guarded([&] {
    CudaDevice& device = device_of(self);
    device.faults().check(which);
    body(device);
  });
}

// Where no caller can be told.
template <typename Body>
void unfailing(Body&& body) noexcept {
  try {
    body();
  } catch (const std::exception& error) {
    services->log(HOIST_LOG_ERROR, error.what());
  }
}

hoist_status_t count(void*, std::uint32_t* out) {
  *out = static_cast<std::uint32_t>(driver_state().count);
  return HOIST_OK;
}

hoist_status_t open(void*, std::uint32_t index, const char* options, void** out) {
  return guarded([&] {
    const DriverState& state = driver_state();
    if (state.status != HOIST_OK) fail(state.status, state.message, state.hint);
    if (index >= static_cast<std::uint32_t>(state.count)) {
      fail(HOIST_ERROR_NOT_FOUND, text("there is no cuda:", index), text("there are ", state.count, " devices"));
    }
    if (options != nullptr && *options != '\0') {
      fail(HOIST_ERROR_INVALID_ARGUMENT, text("options '", options, "' are unknown"), "cuda devices have no options");
    }
    *out = new CudaDevice(index);
  });
}

void close(void* self) { delete static_cast<CudaDevice*>(self); }

hoist_status_t query(void* self, hoist_device_properties_t* out) {
  return slot(Slot::query, self, [&](CudaDevice& device) { device.query(*out); });
}

hoist_status_t query_memory(void* self, std::uint64_t* free, std::uint64_t* total) {
  return slot(Slot::query_memory, self, [&](CudaDevice& device) { device.query_memory(*free, *total); });
}

// Taking faults back must not fail by one.
hoist_status_t set(void* self, const char* key, const char* value) {
  return guarded([&] {
    CudaDevice& device = device_of(self);
    if (key == nullptr || std::string_view(key) != "fail") device.faults().check(Slot::set);
    device.set(key, value);
  });
}

hoist_status_t get_time(void* self, double* out) {
  return slot(Slot::get_time, self, [&](CudaDevice& device) { *out = device.now_us(); });
}

hoist_status_t memory_create(void* self, std::uint64_t bytes, void** out) {
  return slot(Slot::memory_create, self, [&](CudaDevice& device) { *out = device.memory_create(bytes); });
}

void memory_destroy(void* self, void* memory) {
  if (memory != nullptr) unfailing([&] { device_of(self).memory_destroy(memory); });
}

hoist_status_t host_register(void* self, void* memory, std::uint64_t bytes) {
  return slot(Slot::host_register, self, [&](CudaDevice& device) { device.host_register(memory, bytes); });
}

hoist_status_t host_unregister(void* self, void* memory, std::uint64_t bytes) {
  return slot(Slot::host_unregister, self, [&](CudaDevice& device) { device.host_unregister(memory, bytes); });
}

hoist_status_t stream_create(void* self, void** out) {
  return slot(Slot::stream_create, self, [&](CudaDevice& device) { *out = device.stream_create(); });
}

void stream_destroy(void* self, void* stream) {
  if (stream != nullptr) unfailing([&] { device_of(self).stream_destroy(static_cast<Stream*>(stream)); });
}

hoist_status_t stream_wrap(void* self, void* native, void** out) {
  return slot(Slot::stream_wrap, self, [&](CudaDevice& device) { *out = device.stream_wrap(native); });
}

hoist_status_t stream_wait(void* self, void* stream) {
  return slot(Slot::stream_wait, self, [&](CudaDevice& device) { device.stream_wait(stream_of(stream)); });
}

hoist_status_t stream_wait_event(void* self, void* stream, void* event) {
  return slot(Slot::stream_wait_event, self,
              [&](CudaDevice& device) { device.stream_wait_event(stream_of(stream), event_of(event)); });
}

hoist_status_t event_create(void* self, void** out) {
  return slot(Slot::event_create, self, [&](CudaDevice& device) { *out = device.event_create(); });
}

void event_destroy(void* self, void* event) {
  if (event != nullptr) unfailing([&] { device_of(self).event_destroy(static_cast<Event*>(event)); });
}

hoist_status_t event_record(void* self, void* event, void* stream) {
  return slot(Slot::event_record, self,
              [&](CudaDevice& device) { device.event_record(event_of(event), stream_of(stream)); });
}

hoist_status_t event_poll(void* self, void* event, int* out) {
  return slot(Slot::event_poll, self, [&](CudaDevice& device) { *out = device.event_poll(event_of(event)) ? 1 : 0; });
}

hoist_status_t event_wait(void* self, void* event) {
  return slot(Slot::event_wait, self, [&](CudaDevice& device) { device.event_wait(event_of(event)); });
}

hoist_status_t event_get_elapsed(void* self, void* begin, void* end, double* out) {
  return slot(Slot::event_get_elapsed, self,
              [&](CudaDevice& device) { *out = device.event_elapsed_us(event_of(begin), event_of(end)); });
}

hoist_status_t copy(void* self, void* stream, hoist_copy_kind_t kind, void* dst, const void* src, std::uint64_t bytes) {
  return slot(Slot::copy, self, [&](CudaDevice& device) { device.copy(stream_of(stream), kind, dst, src, bytes); });
}

hoist_status_t copy_batch(void* self, void* stream, hoist_copy_kind_t kind, std::uint64_t number, void* const* dst,
                          const void* const* src, const std::uint64_t* bytes) {
  return slot(Slot::copy_batch, self,
              [&](CudaDevice& device) { device.copy_batch(stream_of(stream), kind, number, dst, src, bytes); });
}

hoist_status_t fill(void* self, void* stream, void* dst, std::uint8_t value, std::uint64_t bytes) {
  return slot(Slot::fill, self, [&](CudaDevice& device) { device.fill(stream_of(stream), dst, value, bytes); });
}

hoist_status_t host_function(void* self, void* stream, hoist_host_fn_t function, void* user_data, double) {
  return slot(Slot::host_function, self,
              [&](CudaDevice& device) { device.host_function(stream_of(stream), function, user_data); });
}

void fill_table(hoist_device_ops_t& ops) {
  ops = {};
  ops.struct_size = sizeof ops;
  ops.abi_version = HOIST_DEVICE_ABI_VERSION;
  ops.name = "cuda";
#define HOIST_FILL(slot_name) ops.slot_name = slot_name
  HOIST_FILL(count);
  HOIST_FILL(open);
  HOIST_FILL(close);
  HOIST_FILL(query);
  HOIST_FILL(query_memory);
  HOIST_FILL(set);
  HOIST_FILL(get_time);
  HOIST_FILL(memory_create);
  HOIST_FILL(memory_destroy);
  HOIST_FILL(host_register);
  HOIST_FILL(host_unregister);
  HOIST_FILL(stream_create);
  HOIST_FILL(stream_destroy);
  HOIST_FILL(stream_wrap);
  HOIST_FILL(stream_wait);
  HOIST_FILL(stream_wait_event);
  HOIST_FILL(event_create);
  HOIST_FILL(event_destroy);
  HOIST_FILL(event_record);
  HOIST_FILL(event_poll);
  HOIST_FILL(event_wait);
  HOIST_FILL(event_get_elapsed);
  HOIST_FILL(copy);
  HOIST_FILL(copy_batch);
  HOIST_FILL(fill);
  HOIST_FILL(host_function);
#undef HOIST_FILL
}

}  // namespace
}  // namespace hoist_cuda

extern "C" hoist_status_t hoist_cuda_plugin_init(std::uint32_t requested_abi, const hoist_device_services_t* services,
                                                 hoist_device_ops_t* out_ops) {
  hoist_cuda::services = services;
  if (requested_abi < HOIST_DEVICE_ABI_VERSION) return HOIST_ERROR_UNSUPPORTED;
  hoist_cuda::fill_table(*out_ops);
  return HOIST_OK;
}
