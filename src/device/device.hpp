// SPDX-License-Identifier: Apache-2.0
// An open device as the core sees it: the author's table over stubs, failures as exceptions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/launches.hpp"
#include "hoist/device_ops.h"

namespace hoist {

class Device {
 public:
  // Opens by name and options ("host:0?mode=virtual"), or gives the one that is open already.
  static std::shared_ptr<Device> open(const std::string& name);

  Device(const hoist_device_ops_t& ops, std::string name, void* self);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const hoist_device_properties_t& properties() const noexcept { return properties_; }
  [[nodiscard]] bool has(hoist_capability_t capability) const noexcept {
    return (properties_.capabilities & static_cast<std::uint64_t>(capability)) != 0;
  }
  void query_memory(std::uint64_t& free, std::uint64_t& total) const;
  void set(const char* key, const char* value);
  [[nodiscard]] double time_us() const;

  void* memory_create(std::uint64_t bytes);
  void memory_destroy(void* memory) noexcept;
  void host_register(void* memory, std::uint64_t bytes);
  void host_unregister(void* memory, std::uint64_t bytes) noexcept;

  void* stream_create();
  void stream_destroy(void* stream) noexcept;
  void* stream_wrap(void* native);
  void stream_wait(void* stream);
  void stream_wait_event(void* stream, void* event);

  void* event_create();
  void event_destroy(void* event) noexcept;
  void event_record(void* event, void* stream);
  [[nodiscard]] bool event_poll(void* event);
  void event_wait(void* event);
  [[nodiscard]] double event_elapsed_us(void* begin, void* end);

  // Zero bytes and zero counts are dropped here: no device sees them.
  void copy(void* stream, hoist_copy_kind_t kind, void* dst, const void* src, std::uint64_t bytes);
  // One by one where the device has no batches.
  void copy_batch(void* stream, hoist_copy_kind_t kind, std::uint64_t count, void* const* dst, const void* const* src,
                  const std::uint64_t* bytes);
  void fill(void* stream, void* dst, std::uint8_t value, std::uint64_t bytes);
  void host_function(void* stream, hoist_host_fn_t function, void* user_data, double modelled_us);
  // No-ops on devices without HOIST_CAPABILITY_ACCESS.
  void access_begin(void* stream, void* memory, std::uint64_t bytes);
  void access_end(void* stream, void* memory, std::uint64_t bytes);

  void* handle_create(std::uint64_t bytes);
  void handle_destroy(void* handle) noexcept;
  void* address_reserve(std::uint64_t bytes);
  void address_release(void* address, std::uint64_t bytes) noexcept;
  void memory_map(void* address, std::uint64_t bytes, void* handle);
  void memory_unmap(void* address, std::uint64_t bytes);

  std::uint32_t* words_create(std::uint64_t count);
  void words_destroy(std::uint32_t* words) noexcept;
  void words_submit(void* stream, std::uint64_t count, const hoist_word_op_t* operations);

  // False on devices without HOIST_CAPABILITY_GRAPH.
  [[nodiscard]] bool is_capturing(void* stream);
  void capture_begin(void* stream);
  void* capture_end(void* stream);
  // Whose step goes into the capture hears of its graph's launches.
  void expect_launches(void* stream, std::weak_ptr<LaunchListener> listener);
  void graph_launch(void* graph, void* stream);
  // After a wait for the stream: throws where a replay on it failed.
  void require_replays(void* stream);
  void graph_destroy(void* graph) noexcept;
  void* stream_create_aside();

 private:
  void check(hoist_status_t status, const char* slot) const;
  [[nodiscard]] bool is_parents() const noexcept;
  [[nodiscard]] std::string failure_of(void* stream) noexcept;

  hoist_device_ops_t ops_;
  std::string name_;
  void* self_;
  hoist_device_properties_t properties_{};
  std::uint32_t generation_;  // of fork
  Launches launches_;
};

// A stream or event with its device: what the C ABI hands out.
struct Stream {
  std::shared_ptr<Device> device;
  // The device's own handle. A budget keeps it while it is the stream that its steps are on.
  std::shared_ptr<void> handle;
};
struct Event {
  std::shared_ptr<Device> device;
  void* handle = nullptr;
  bool recorded = false;  // a wait for an event that never was is refused
};

}  // namespace hoist
