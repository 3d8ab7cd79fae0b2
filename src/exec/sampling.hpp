// SPDX-License-Identifier: Apache-2.0
// Which steps have their units timed. A unit's times cost some ten calls of the device, more than all else that a unit
// which loads nothing has the host do.
#pragma once

#include <cmath>
#include <cstdint>

namespace hoist {

class Sampling {
 public:
  static constexpr std::uint32_t every = 8;  // of the steps of a plan that is known to hold
  static constexpr std::uint32_t whole = 8;  // steps in a row that are timed where something is new: what medians are of

  // Each step until called again with false.
  void all(bool on) noexcept { all_ = on; }
  // Another plan: what follows is new.
  void restart() noexcept { left_ = whole; }
  // Whether the step that begins is timed; the newest period of steps that is known, in us, 0 for none. One that differs
  // by a quarter is news.
  [[nodiscard]] bool next(double period_us) noexcept {
    if (period_us > 0 && std::abs(period_us - usual_us_) > usual_us_ / 4) {
      usual_us_ = period_us;
      left_ = whole;
    }
    ++count_;
    if (left_ == 0) return all_ || count_ % every == 0;
    --left_;
    return true;
  }

 private:
  bool all_ = true;
  double usual_us_ = 0;
  std::uint32_t left_ = whole;
  std::uint64_t count_ = 0;
};

}  // namespace hoist
