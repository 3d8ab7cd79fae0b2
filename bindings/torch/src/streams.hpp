// SPDX-License-Identifier: Apache-2.0
// The stream that torch computes on now, as hoist knows it.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "hoist/hoist.hpp"
#include "tensors.hpp"

namespace hoist_torch {

class Streams {
 public:
  Streams(hoist_device_t* device, Place place);
  // torch's current stream on a device that has streams of its own, else one of hoist's.
  hoist_stream_t* current();
  // On the host device the calling thread computes: it waits for what the stream waits for, unless that is captured.
  void before_compute(hoist_stream_t* stream) const;
  void set_captured(bool captured) noexcept { captured_ = captured; }
  [[nodiscard]] bool on_host() const noexcept { return on_host_; }

 private:
  hoist_stream_t* wrap(void* native);

  hoist_device_t* device_;
  Place place_;
  bool on_host_;
  bool captured_ = false;
  std::mutex mutex_;  // of known_
  std::unordered_map<void*, hoist_stream_t*> known_;

 public:
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
};

}  // namespace hoist_torch
