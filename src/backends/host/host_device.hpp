// SPDX-License-Identifier: Apache-2.0
// One open host device: checks what comes, keeps streams and events, leaves running to its engine.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/host/engine.hpp"

namespace hoist_host {

class HostDevice {
 public:
  HostDevice(std::uint32_t index, const Options& options);
  ~HostDevice();
  HostDevice(const HostDevice&) = delete;
  HostDevice& operator=(const HostDevice&) = delete;

  Faults& faults() noexcept { return parts_.faults; }
  DeviceMemory& memory() noexcept { return parts_.memory; }
  HostRanges& host_ranges() noexcept { return parts_.host_ranges; }

  void query(hoist_device_properties_t& out) const;
  void set(const char* key, const char* value);
  [[nodiscard]] double now_us() const { return engine_->now_us(); }

  Stream* stream_create();
  void stream_destroy(Stream* stream);
  void stream_wait(Stream& stream);
  void stream_wait_event(Stream& stream, const Event& event);

  void event_record(Event& event, Stream& stream);
  [[nodiscard]] bool event_poll(const Event& event);
  void event_wait(const Event& event);
  [[nodiscard]] double event_elapsed_us(const Event& begin, const Event& end);

  void copy(Stream& stream, hoist_copy_kind_t kind, void* dst, const void* src, std::uint64_t bytes);
  void fill(Stream& stream, void* dst, std::uint8_t value, std::uint64_t bytes);
  void host_function(Stream& stream, hoist_host_fn_t function, void* user_data, double modelled_us);
  void access(Stream& stream, bool begins, void* memory, std::uint64_t bytes);

 private:
  void submit(Stream& stream, Op&& op);
  void check_copy(hoist_copy_kind_t kind, const void* dst, const void* src, std::uint64_t bytes);

  const std::uint32_t index_;
  Parts parts_;
  std::unique_ptr<Engine> engine_;
  std::mutex mutex_;
  std::uint64_t stream_count_ = 0;
  std::vector<Stream*> streams_;
};

}  // namespace hoist_host
