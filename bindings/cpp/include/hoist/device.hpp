// SPDX-License-Identifier: Apache-2.0
// Devices, streams, events and device memory. Sizes are bytes, times are microseconds.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "hoist/device.h"
#include "hoist/device_ops.h"
#include "hoist/handle.hpp"
#include "hoist/host_memory.h"
#include "hoist/plugin.h"

namespace hoist {

inline std::uint32_t device_count() {
  std::uint32_t count = 0;
  check(hoist_device_count(&count));
  return count;
}

// The facts of a device without opening it; indexes are below device_count().
inline hoist_device_properties_t device_properties(std::uint32_t index) {
  hoist_device_properties_t properties{};
  properties.struct_size = sizeof properties;
  check(hoist_device_get_properties(index, &properties));
  return properties;
}

// Loads a plugin; gives its kind of device, which is static.
inline const char* plugin_load(const std::string& path) {
  const char* kind = nullptr;
  check(hoist_plugin_load(detail::c_text(path, "path"), &kind));
  return kind;
}

// For authors of devices; the table's rules are in hoist/device_ops.h.
inline const hoist_device_services_t& device_register(const hoist_device_ops_t& ops) {
  const hoist_device_services_t* services = nullptr;
  check(hoist_device_register(&ops, &services));
  return *services;
}

// For tools that look at a device through its slots.
inline hoist_device_ops_t device_ops(const std::string& kind) {
  hoist_device_ops_t ops{};
  ops.struct_size = sizeof ops;
  check(hoist_device_get_ops(detail::c_text(kind, "kind"), &ops));
  return ops;
}

class Device : public detail::Handle<hoist_device_t, hoist_device_close> {
 public:
  using Handle::Handle;
  explicit Device(const std::string& name) : Handle(make(hoist_device_open, detail::c_text(name, "name"))) {}

  [[nodiscard]] hoist_device_properties_t query() const {
    hoist_device_properties_t properties{};
    properties.struct_size = sizeof properties;
    check(hoist_device_query(get(), &properties));
    return properties;
  }
  struct MemoryInfo {
    std::uint64_t free_bytes, total_bytes;
  };
  [[nodiscard]] MemoryInfo query_memory() const {
    MemoryInfo info{};
    check(hoist_device_query_memory(get(), &info.free_bytes, &info.total_bytes));
    return info;
  }
  void set(const std::string& key, const std::string& value) {
    check(hoist_device_set(get(), detail::c_text(key, "key"), detail::c_text(value, "value")));
  }
  [[nodiscard]] double time_us() const {
    double us = 0;
    check(hoist_device_get_time(get(), &us));
    return us;
  }
};

// Device memory; keeps no work waiting: see hoist_memory_destroy. The device must outlive it.
class Memory {
 public:
  Memory(const Device& device, std::uint64_t bytes) : memory_(nullptr, Free{device.get()}), bytes_(bytes) {
    void* memory = nullptr;
    check(hoist_memory_create(device.get(), bytes, &memory));
    memory_.reset(memory);
  }
  [[nodiscard]] void* data() const noexcept { return memory_.get(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  struct Free {
    hoist_device_t* device;
    void operator()(void* memory) const noexcept { hoist_memory_destroy(device, memory); }
  };
  std::unique_ptr<void, Free> memory_;
  std::uint64_t bytes_;
};

// Pinned host memory for copies of the caller's own. The device must outlive it.
class HostMemory {
 public:
  HostMemory(const Device& device, std::uint64_t bytes) : memory_(nullptr, Free{device.get()}), bytes_(bytes) {
    void* memory = nullptr;
    int pinned = 0;
    check(hoist_host_memory_create(device.get(), bytes, &memory, &pinned));
    memory_.reset(memory);
    pinned_ = pinned != 0;
  }
  [[nodiscard]] void* data() const noexcept { return memory_.get(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  // False where the device refused: copies are slow then.
  [[nodiscard]] bool pinned() const noexcept { return pinned_; }

 private:
  struct Free {
    hoist_device_t* device;
    void operator()(void* memory) const noexcept { hoist_host_memory_destroy(device, memory); }
  };
  std::unique_ptr<void, Free> memory_;
  std::uint64_t bytes_;
  bool pinned_ = false;
};

class Stream;

class Event : public detail::Handle<hoist_event_t, hoist_event_destroy> {
 public:
  using Handle::Handle;
  explicit Event(const Device& device) : Handle(make(hoist_event_create, device.get())) {}

  void record(Stream& stream);
  [[nodiscard]] bool poll() const {
    int ready = 0;
    check(hoist_event_poll(get(), &ready));
    return ready != 0;
  }
  void wait() const { check(hoist_event_wait(get())); }
};

// From one reached event to another.
inline double elapsed_us(const Event& begin, const Event& end) {
  double us = 0;
  check(hoist_event_get_elapsed(begin.get(), end.get(), &us));
  return us;
}

class Stream : public detail::Handle<hoist_stream_t, hoist_stream_destroy> {
 public:
  using Handle::Handle;
  explicit Stream(const Device& device) : Handle(make(hoist_stream_create, device.get())) {}
  // A stream of the device's own kind that stays the caller's, such as a CUstream.
  static Stream wrap(const Device& device, void* native) {
    return Stream(make(hoist_stream_wrap, device.get(), native));
  }

  void wait() const { check(hoist_stream_wait(get())); }
  void wait_event(const Event& event) { check(hoist_stream_wait_event(get(), event.get())); }
  void submit_copy(hoist_copy_kind_t kind, void* dst, const void* src, std::uint64_t bytes) {
    check(hoist_stream_submit_copy(get(), kind, dst, src, bytes));
  }
  void submit_fill(void* dst, std::uint8_t value, std::uint64_t bytes) {
    check(hoist_stream_submit_fill(get(), dst, value, bytes));
  }
  void submit_host(hoist_host_fn_t function, void* user_data, double modelled_us) {
    check(hoist_stream_submit_host(get(), function, user_data, modelled_us));
  }
  // Keeps a copy of the callable until it has run, once. It must neither throw nor call hoist.
  template <typename Function>
  requires std::is_invocable_v < std::decay_t<Function>
  & > void submit_host(Function&& function, double modelled_us) {
    using Kept = std::decay_t<Function>;
    auto kept = std::make_unique<Kept>(std::forward<Function>(function));
    const auto run = [](void* user_data) noexcept { (*std::unique_ptr<Kept>(static_cast<Kept*>(user_data)))(); };
    submit_host(run, kept.get(), modelled_us);
    static_cast<void>(kept.release());
  }
};

inline void Event::record(Stream& stream) { check(hoist_event_record(get(), stream.get())); }

}  // namespace hoist
