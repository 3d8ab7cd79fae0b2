// SPDX-License-Identifier: Apache-2.0
// Times of units over many steps: compute, copies for them, waits. Newest steps only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace hoist {

struct Spread {
  double min_us = 0;
  double median_us = 0;
  double max_us = 0;
};

struct UnitTimes {
  std::uint64_t steps = 0;
  Spread compute;
  Spread transfer;
  Spread wait;
  std::uint64_t transfer_bytes = 0;  // of the newest step
};

class UnitTiming {
 public:
  // `owners`: by item, the unit that its copies count for. Nothing of steps before `first_step` is taken.
  UnitTiming(std::size_t units, std::vector<std::uint32_t> owners, std::uint64_t first_step, std::size_t limit)
      : units_(units), owners_(std::move(owners)), first_step_(first_step), limit_(limit) {}

  void on_unit(std::uint32_t unit, std::uint64_t step, double wait_us, double compute_us);
  void on_copy(std::uint32_t item, std::uint64_t step, double us, std::uint64_t bytes);
  // Of steps before `horizon` in which the unit ran.
  [[nodiscard]] UnitTimes times(std::uint32_t unit, std::uint64_t horizon) const;

 private:
  struct Run {
    std::uint64_t step = 0;
    double compute_us = 0;
    double transfer_us = 0;
    double wait_us = 0;
    std::uint64_t bytes = 0;
    bool ran = false;
  };
  Run* run_of(std::uint32_t unit, std::uint64_t step);

  std::vector<std::vector<Run>> units_;  // each a ring by step, as long as it has had to be
  std::vector<std::uint32_t> owners_;
  std::uint64_t first_step_;
  std::size_t limit_;
};

}  // namespace hoist
