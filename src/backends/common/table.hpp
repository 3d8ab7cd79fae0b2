// SPDX-License-Identifier: Apache-2.0
// The table over a built-in device. A slot is one line over the class; failures become statuses, and faults on
// demand come when their turn has. Optional slots are filled in where the class has their function.
#pragma once

#include <new>
#include <string_view>

#include "backends/common/error.hpp"
#include "backends/common/faults.hpp"
#include "hoist/device_ops.h"

namespace hoist_backend {

// Device has Stream, Event, Handle, Graph, kind_name, count(), describe(index, properties), open(index, options) and a
// member for each slot.
template <typename Device>
class Table {
  using Stream = typename Device::Stream;
  using Event = typename Device::Event;
  using Handle = typename Device::Handle;
  using Graph = typename Device::Graph;

 public:
  static hoist_status_t init(std::uint32_t requested_abi, const hoist_device_services_t* given,
                             hoist_device_ops_t* out_ops) {
    services = given;
    if (requested_abi < HOIST_DEVICE_ABI_VERSION) return HOIST_ERROR_UNSUPPORTED;
    fill_table(*out_ops);
    return HOIST_OK;
  }

 private:
  inline static const hoist_device_services_t* services = nullptr;

  static Device& device_of(void* self) { return *static_cast<Device*>(self); }
  static Stream& stream_of(void* stream) { return *static_cast<Stream*>(stream); }
  static Event& event_of(void* event) { return *static_cast<Event*>(event); }

  template <typename Body>
  static hoist_status_t guarded(Body&& body) noexcept {
    try {
      body();
      return HOIST_OK;
    } catch (const Error& error) {
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
  static hoist_status_t slot(Slot which, void* self, Body&& body) noexcept {
    return guarded([&] {
      Device& device = device_of(self);
      device.faults().check(which);
      body(device);
    });
  }

  // Where no caller can be told.
  template <typename Body>
  static void unfailing(Body&& body) noexcept {
    try {
      body();
    } catch (const std::exception& error) {
      services->log(HOIST_LOG_ERROR, error.what());
    }
  }

  static hoist_status_t count(void*, std::uint32_t* out) {
    return guarded([&] { *out = Device::count(); });
  }
  static hoist_status_t describe(void*, std::uint32_t index, hoist_device_properties_t* out) {
    return guarded([&] { Device::describe(index, *out); });
  }
  static hoist_status_t open(void*, std::uint32_t index, const char* options, void** out) {
    return guarded([&] { *out = Device::open(index, options == nullptr ? "" : options); });
  }
  static void close(void* self) { delete static_cast<Device*>(self); }
  static hoist_status_t query(void* self, hoist_device_properties_t* out) {
    return slot(Slot::query, self, [&](Device& device) { device.query(*out); });
  }
  static hoist_status_t query_memory(void* self, std::uint64_t* free, std::uint64_t* total) {
    return slot(Slot::query_memory, self, [&](Device& device) { device.query_memory(*free, *total); });
  }
  // Taking faults back must not fail by one.
  static hoist_status_t set(void* self, const char* key, const char* value) {
    return guarded([&] {
      Device& device = device_of(self);
      const std::string_view name = key == nullptr ? "" : key;
      if (name != "fail") device.faults().check(Slot::set);
      device.set(name, value == nullptr ? "" : value);
    });
  }
  static hoist_status_t get_time(void* self, double* out) {
    return slot(Slot::get_time, self, [&](Device& device) { *out = device.now_us(); });
  }

  static hoist_status_t memory_create(void* self, std::uint64_t bytes, void** out) {
    return slot(Slot::memory_create, self, [&](Device& device) { *out = device.memory_create(bytes); });
  }
  static void memory_destroy(void* self, void* memory) {
    if (memory != nullptr) unfailing([&] { device_of(self).memory_destroy(memory); });
  }
  static hoist_status_t host_register(void* self, void* memory, std::uint64_t bytes) {
    return slot(Slot::host_register, self, [&](Device& device) { device.host_register(memory, bytes); });
  }
  static hoist_status_t host_unregister(void* self, void* memory, std::uint64_t bytes) {
    return slot(Slot::host_unregister, self, [&](Device& device) { device.host_unregister(memory, bytes); });
  }

  static hoist_status_t stream_create(void* self, void** out) {
    return slot(Slot::stream_create, self, [&](Device& device) { *out = device.stream_create(); });
  }
  static void stream_destroy(void* self, void* stream) {
    if (stream != nullptr) unfailing([&] { device_of(self).stream_destroy(&stream_of(stream)); });
  }
  static hoist_status_t stream_wrap(void* self, void* native, void** out) {
    return slot(Slot::stream_wrap, self, [&](auto& device) { *out = device.stream_wrap(native); });
  }
  static hoist_status_t stream_wait(void* self, void* stream) {
    return slot(Slot::stream_wait, self, [&](Device& device) { device.stream_wait(stream_of(stream)); });
  }
  static hoist_status_t stream_wait_event(void* self, void* stream, void* event) {
    return slot(Slot::stream_wait_event, self,
                [&](Device& device) { device.stream_wait_event(stream_of(stream), event_of(event)); });
  }

  static hoist_status_t event_create(void* self, void** out) {
    return slot(Slot::event_create, self, [&](Device& device) { *out = device.event_create(); });
  }
  static void event_destroy(void* self, void* event) {
    if (event != nullptr) unfailing([&] { device_of(self).event_destroy(&event_of(event)); });
  }
  static hoist_status_t event_record(void* self, void* event, void* stream) {
    return slot(Slot::event_record, self,
                [&](Device& device) { device.event_record(event_of(event), stream_of(stream)); });
  }
  static hoist_status_t event_poll(void* self, void* event, int* out) {
    return slot(Slot::event_poll, self, [&](Device& device) { *out = device.event_poll(event_of(event)) ? 1 : 0; });
  }
  static hoist_status_t event_wait(void* self, void* event) {
    return slot(Slot::event_wait, self, [&](Device& device) { device.event_wait(event_of(event)); });
  }
  static hoist_status_t event_get_elapsed(void* self, void* begin, void* end, double* out) {
    return slot(Slot::event_get_elapsed, self,
                [&](Device& device) { *out = device.event_elapsed_us(event_of(begin), event_of(end)); });
  }

  static hoist_status_t copy(void* self, void* stream, hoist_copy_kind_t kind, void* dst, const void* src,
                             std::uint64_t bytes) {
    return slot(Slot::copy, self, [&](Device& device) { device.copy(stream_of(stream), kind, dst, src, bytes); });
  }
  static hoist_status_t copy_batch(void* self, void* stream, hoist_copy_kind_t kind, std::uint64_t number,
                                   void* const* dst, const void* const* src, const std::uint64_t* bytes) {
    return slot(Slot::copy_batch, self,
                [&](auto& device) { device.copy_batch(stream_of(stream), kind, number, dst, src, bytes); });
  }
  static hoist_status_t fill(void* self, void* stream, void* dst, std::uint8_t value, std::uint64_t bytes) {
    return slot(Slot::fill, self, [&](Device& device) { device.fill(stream_of(stream), dst, value, bytes); });
  }
  static hoist_status_t host_function(void* self, void* stream, hoist_host_fn_t function, void* user_data,
                                      double modelled_us) {
    return slot(Slot::host_function, self,
                [&](Device& device) { device.host_function(stream_of(stream), function, user_data, modelled_us); });
  }
  static hoist_status_t access_begin(void* self, void* stream, void* memory, std::uint64_t bytes) {
    return slot(Slot::access_begin, self, [&](auto& device) { device.access_begin(stream_of(stream), memory, bytes); });
  }
  static hoist_status_t access_end(void* self, void* stream, void* memory, std::uint64_t bytes) {
    return slot(Slot::access_end, self, [&](auto& device) { device.access_end(stream_of(stream), memory, bytes); });
  }

  static hoist_status_t handle_create(void* self, std::uint64_t bytes, void** out) {
    return slot(Slot::handle_create, self, [&](auto& device) { *out = device.handle_create(bytes); });
  }
  static void handle_destroy(void* self, void* handle) {
    if (handle != nullptr) unfailing([&] { device_of(self).handle_destroy(static_cast<Handle*>(handle)); });
  }
  static hoist_status_t address_reserve(void* self, std::uint64_t bytes, void** out) {
    return slot(Slot::address_reserve, self, [&](auto& device) { *out = device.address_reserve(bytes); });
  }
  static void address_release(void* self, void* address, std::uint64_t bytes) {
    if (address != nullptr) unfailing([&] { device_of(self).address_release(address, bytes); });
  }
  static hoist_status_t memory_map(void* self, void* address, std::uint64_t bytes, void* handle) {
    return slot(Slot::memory_map, self,
                [&](auto& device) { device.memory_map(address, bytes, *static_cast<Handle*>(handle)); });
  }
  static hoist_status_t memory_unmap(void* self, void* address, std::uint64_t bytes) {
    return slot(Slot::memory_unmap, self, [&](auto& device) { device.memory_unmap(address, bytes); });
  }

  static hoist_status_t words_create(void* self, std::uint64_t number, std::uint32_t** out) {
    return slot(Slot::words_create, self, [&](auto& device) { *out = device.words_create(number); });
  }
  static void words_destroy(void* self, std::uint32_t* words) {
    if (words != nullptr) unfailing([&] { device_of(self).words_destroy(words); });
  }
  static hoist_status_t words_submit(void* self, void* stream, std::uint64_t number,
                                     const hoist_word_op_t* operations) {
    return slot(Slot::words_submit, self,
                [&](auto& device) { device.words_submit(stream_of(stream), number, operations); });
  }

  static hoist_status_t capture_query(void* self, void* stream, int* out) {
    return slot(Slot::capture_query, self,
                [&](auto& device) { *out = device.is_capturing(stream_of(stream)) ? 1 : 0; });
  }
  static hoist_status_t capture_begin(void* self, void* stream) {
    return slot(Slot::capture_begin, self, [&](auto& device) { device.capture_begin(stream_of(stream)); });
  }
  // A capture that is refused its graph has ended all the same.
  static hoist_status_t capture_end(void* self, void* stream, void** out) {
    const hoist_status_t status =
        slot(Slot::capture_end, self, [&](auto& device) { *out = device.capture_end(stream_of(stream)); });
    if (status == HOIST_OK) return status;
    unfailing([&] {
      Device& device = device_of(self);
      if (device.has_capture(stream_of(stream))) device.graph_destroy(device.capture_end(stream_of(stream)));
    });
    return status;
  }
  static hoist_status_t graph_launch(void* self, void* graph, void* stream) {
    return slot(Slot::graph_launch, self,
                [&](auto& device) { device.graph_launch(*static_cast<Graph*>(graph), stream_of(stream)); });
  }
  static void graph_destroy(void* self, void* graph) {
    if (graph != nullptr) unfailing([&] { device_of(self).graph_destroy(static_cast<Graph*>(graph)); });
  }
  static hoist_status_t stream_create_aside(void* self, void** out) {
    return slot(Slot::stream_create_aside, self, [&](auto& device) { *out = device.stream_create_aside(); });
  }

  static void fill_table(hoist_device_ops_t& ops) {
    ops = {};
    ops.struct_size = sizeof ops;
    ops.abi_version = HOIST_DEVICE_ABI_VERSION;
    ops.name = Device::kind_name;
#define HOIST_FILL(slot_name) ops.slot_name = slot_name
    HOIST_FILL(count);
    HOIST_FILL(describe);
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
    HOIST_FILL(stream_wait);
    HOIST_FILL(stream_wait_event);
    HOIST_FILL(event_create);
    HOIST_FILL(event_destroy);
    HOIST_FILL(event_record);
    HOIST_FILL(event_poll);
    HOIST_FILL(event_wait);
    HOIST_FILL(event_get_elapsed);
    HOIST_FILL(copy);
    HOIST_FILL(fill);
    HOIST_FILL(host_function);
    fill_optional(ops);
#undef HOIST_FILL
  }

  static void fill_optional(hoist_device_ops_t& ops) {
#define HOIST_FILL(slot_name) ops.slot_name = slot_name
    if constexpr (requires { &Device::stream_wrap; }) HOIST_FILL(stream_wrap);
    if constexpr (requires { &Device::copy_batch; }) HOIST_FILL(copy_batch);
    if constexpr (requires { &Device::access_begin; }) HOIST_FILL(access_begin);
    if constexpr (requires { &Device::access_end; }) HOIST_FILL(access_end);
    HOIST_FILL(handle_create);
    HOIST_FILL(handle_destroy);
    HOIST_FILL(address_reserve);
    HOIST_FILL(address_release);
    HOIST_FILL(memory_map);
    HOIST_FILL(memory_unmap);
    HOIST_FILL(words_create);
    HOIST_FILL(words_destroy);
    HOIST_FILL(words_submit);
    HOIST_FILL(capture_query);
    HOIST_FILL(capture_begin);
    HOIST_FILL(capture_end);
    HOIST_FILL(graph_launch);
    HOIST_FILL(graph_destroy);
    HOIST_FILL(stream_create_aside);
#undef HOIST_FILL
  }
};

}  // namespace hoist_backend
