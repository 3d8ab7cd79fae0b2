// SPDX-License-Identifier: Apache-2.0
// Streams, events and staging memory of a measurement.
#pragma once

#include <chrono>
#include <cstdint>

#include "device/device.hpp"

namespace hoist {

class Probe {
 public:
  // Takes less staging where the device or the limit refuses: bytes() says how much. Throws Error.
  Probe(Device& device, std::uint64_t bytes);
  ~Probe();
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  // One copy, begin to end on the device.
  double time_us(hoist_copy_kind_t kind, std::uint64_t bytes);
  // The median of some copies; fewer of slow ones.
  double median_us(hoist_copy_kind_t kind, std::uint64_t bytes);
  // A copy each way at once, from the common begin to the later end.
  double both_us(std::uint64_t bytes);
  // Modelled times are the same every time: one copy says all.
  [[nodiscard]] bool exact() const;
  // Whether another so long measurement is within what the caller may be made to wait.
  [[nodiscard]] bool has_time_for(double us) const;

 private:
  struct Direction {
    void* device_memory = nullptr;
    void* host_memory = nullptr;
    void* stream = nullptr;
    void* begin = nullptr;
    void* end = nullptr;
    bool registered = false;
  };

  void take(Direction& direction);
  void give_back(Direction& direction) noexcept;
  void submit(Direction& direction, hoist_copy_kind_t kind, std::uint64_t bytes);
  void warm_up();

  Device& device_;
  std::uint64_t bytes_;
  Direction directions_[2];
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace hoist
