// SPDX-License-Identifier: Apache-2.0
// What the executor saw, as intervals on the device's clock: the source of the timeline.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trace/ledger.hpp"
#include "trace/timeline.hpp"

namespace hoist {

struct TraceInterval {
  TraceRow row = TraceRow::compute;
  Reason reason = Reason::plan;  // copies
  std::uint32_t index = 0;       // unit, or item of a copy
  std::uint64_t step = 0;
  std::uint64_t bytes = 0;
  double begin_us = 0;
  double end_us = 0;
};

class Recorder {
 public:
  explicit Recorder(std::uint64_t limit) : limit_(limit) {}

  void add(const TraceInterval& interval) {
    if (intervals_.size() < limit_) {
      intervals_.push_back(interval);
    } else {
      ++dropped_;
    }
  }
  [[nodiscard]] const std::vector<TraceInterval>& intervals() const noexcept { return intervals_; }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

  // What was added since the last call counts units and items so; numbers change when a member leaves a budget.
  void name(std::vector<std::string> units, std::vector<std::string> items) {
    chapters_.push_back({intervals_.size(), std::move(units), std::move(items)});
  }
  // Writes Chrome trace JSON of what has names. Throws Error(IO).
  void write(const std::string& path) const;

 private:
  struct Chapter {
    std::size_t end = 0;  // of its intervals
    std::vector<std::string> units;
    std::vector<std::string> items;
  };
  std::uint64_t limit_;
  std::uint64_t dropped_ = 0;
  std::vector<TraceInterval> intervals_;
  std::vector<Chapter> chapters_;
};

}  // namespace hoist
