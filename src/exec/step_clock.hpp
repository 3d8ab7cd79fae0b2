// SPDX-License-Identifier: Apache-2.0
// When steps began on the device, and how far the host may run ahead of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "exec/lane.hpp"

namespace hoist {

class StepClock {
 public:
  StepClock(std::shared_ptr<Device> device, Lane& compute, std::uint32_t run_ahead)
      : device_(std::move(device)), compute_(compute), ends_(run_ahead, 0) {
    begins_.reserve(run_ahead + 3);
    try {
      while (begins_.size() < run_ahead + 3) begins_.push_back(device_->event_create());
    } catch (...) {
      destroy_events();
      throw;
    }
  }
  ~StepClock() { destroy_events(); }
  StepClock(const StepClock&) = delete;
  StepClock& operator=(const StepClock&) = delete;

  // Waits on the host for the step that is run_ahead steps back, then records the begin.
  void begin() {
    compute_.wait(ends_[count_ % ends_.size()]);
    collect();
    device_->event_record(begins_[count_ % begins_.size()], compute_.stream());
    ++count_;
  }
  void end() { ends_[(count_ - 1) % ends_.size()] = compute_.last(); }
  // What follows is no continuation of the steps before: the next period says nothing.
  void interrupt() noexcept { measured_ = count_; }

  // The newest period that is known, in µs; 0: none yet.
  [[nodiscard]] double last_us() {
    collect();
    return last_us_;
  }

 private:
  void destroy_events() noexcept {
    for (void* event : begins_) device_->event_destroy(event);
  }
  void* event(std::uint64_t step) const { return begins_[step % begins_.size()]; }

  void collect() {
    measured_ = std::max(measured_, count_ > begins_.size() ? count_ - begins_.size() : 0);
    while (measured_ + 1 < count_ && device_->event_poll(event(measured_ + 1))) {
      last_us_ = device_->event_elapsed_us(event(measured_), event(measured_ + 1));
      ++measured_;
    }
  }

  std::shared_ptr<Device> device_;
  Lane& compute_;
  std::vector<void*> begins_;
  std::vector<Mark> ends_;
  std::uint64_t count_ = 0;
  std::uint64_t measured_ = 0;  // periods before this step's are known or given up
  double last_us_ = 0;
};

}  // namespace hoist
