// SPDX-License-Identifier: Apache-2.0
// Which steps have their units timed. A unit's times cost some ten calls of the device, more than all else that a unit
// which loads nothing has the host do.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hoist {

class Sampling {
 public:
  static constexpr std::uint32_t every = 8;  // of the steps of a plan that is known to hold
  static constexpr std::uint32_t whole =
      8;  // steps in a row that are timed where something is new: what medians are of

  // Each step until called again with false.
  void all(bool on) noexcept { all_ = on; }
  // What follows is new, by another plan or other times than before, or is asked for.
  void next_steps(std::uint32_t steps) noexcept { left_ = std::max(left_, steps); }
  // Whether the step that begins is timed.
  [[nodiscard]] bool next() noexcept {
    ++count_;
    if (left_ == 0) return all_ || count_ % every == 0;
    --left_;
    return true;
  }

 private:
  bool all_ = true;
  std::uint32_t left_ = whole;
  std::uint64_t count_ = 0;
};

}  // namespace hoist
