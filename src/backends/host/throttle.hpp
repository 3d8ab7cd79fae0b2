// SPDX-License-Identifier: Apache-2.0
// Makes copies of the real-time modes take the time of the links that the options describe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "backends/host/options.hpp"
#include "hoist/device_ops.h"

namespace hoist_backend::host {

class Throttle {
 public:
  explicit Throttle(const Options& options);
  // Holds the link from construction until its time is over; the bytes move meanwhile.
  class Hold {
   public:
    Hold(Throttle& throttle, hoist_copy_kind_t kind, std::uint64_t bytes);
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    Throttle& throttle_;
    int link_;  // -1: no link, or one without limits
  };

 private:
  using Clock = std::chrono::steady_clock;
  struct Link {
    double bytes_per_us = 0;
    bool busy = false;
    double left_us = 0;
    Clock::time_point free_since;
  };

  void begin(int link, double work_us);
  void finish(int link);
  void advance(Clock::time_point now);

  const double latency_us_;
  const double duplex_factor_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Clock::time_point as_of_;
  Link links_[2];
};

void sleep_us(double us);

}  // namespace hoist_backend::host
