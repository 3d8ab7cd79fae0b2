// SPDX-License-Identifier: Apache-2.0
// Times of units as the device saw them: the last few of each, medians for the planner, stalls of a step. And who
// else wants to know of units and copies: a timeline, times over many steps, links under load.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "exec/copy_log.hpp"
#include "exec/unit_clock.hpp"
#include "trace/recorder.hpp"
#include "trace/unit_timing.hpp"
#include "transfer/loaded_links.hpp"

namespace hoist {

class Measure final : public UnitSink, public CopySink {
 public:
  static constexpr std::size_t kept = 8;
  static constexpr double host_noise_us = 20;  // of a unit

  void resize(std::size_t units) { units_.resize(units); }
  void forget() {
    for (Unit& unit : units_) unit = Unit{};
  }
  void set_copy_log(CopyLog* copies) noexcept { copies_ = copies; }
  // Each may be null; they outlive the watching.
  void watch(Recorder* recorder, UnitTiming* timing, LoadedLinks* links) noexcept {
    recorder_ = recorder;
    timing_ = timing;
    links_ = links;
  }
  void on_unit(const UnitSample& sample) override;
  void on_copy(const TraceInterval& copy) override;

  // Median of compute, work since the unit before included; `otherwise` where it never ran.
  [[nodiscard]] double compute_us(std::uint32_t unit, double otherwise) const;
  // Whether the units of the newest timed step took other times than they had: by a quarter of the sum, and by more
  // than what the host's calls between two events take now and then.
  [[nodiscard]] bool is_news() const noexcept {
    const double change_us = std::abs(computed_us_ - usual_us_);
    return change_us > usual_us_ / 4 && change_us > host_noise_us * compared_;
  }
  // What was measured before that step is of another work, or of other inputs, and says nothing about the next.
  void keep_newest() noexcept;
  [[nodiscard]] double last_stall_us() const noexcept { return last_stall_us_; }

 private:
  struct Unit {
    std::array<double, kept> compute{};
    std::array<double, kept> gap{};
    std::uint32_t computes = 0;  // ever
    std::uint32_t gaps = 0;
  };
  void record(const UnitSample& sample);

  std::vector<Unit> units_;
  CopyLog* copies_ = nullptr;
  Recorder* recorder_ = nullptr;
  UnitTiming* timing_ = nullptr;
  LoadedLinks* links_ = nullptr;
  std::uint64_t step_ = 0;
  double stall_us_ = 0;
  std::uint32_t compared_ = 0;  // units of that step that have been timed before,
  double computed_us_ = 0;      // what they took,
  double usual_us_ = 0;         // and what they had taken
  double last_stall_us_ = 0;
};

}  // namespace hoist
