// SPDX-License-Identifier: Apache-2.0
#include "budget/measure.hpp"

#include <algorithm>

namespace hoist {
namespace {

double median(std::array<double, Measure::kept> values, std::uint32_t count) {
  const auto n = std::min<std::size_t>(count, Measure::kept);
  if (n == 0) return 0;
  std::sort(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n));
  return values[(n - 1) / 2];
}

}  // namespace

void Measure::on_unit(const UnitSample& sample) {
  Unit& unit = units_[sample.unit];
  const double usual_us = median(unit.compute, unit.computes);
  unit.compute[unit.computes++ % kept] = sample.compute_us;
  if (sample.gap_known) unit.gap[unit.gaps++ % kept] = sample.gap_us;
  if (sample.step != step_) {
    last_stall_us_ = stall_us_;
    stall_us_ = computed_us_ = usual_us_ = 0;
    compared_ = 0;
    step_ = sample.step;
  }
  stall_us_ += sample.stall_us;
  if (unit.computes > 1) {
    ++compared_;
    computed_us_ += sample.compute_us;
    usual_us_ += usual_us;
  }
  if (timing_ != nullptr) timing_->on_unit(sample.unit, sample.step, sample.stall_us, sample.compute_us);
  if (recorder_ != nullptr && copies_ != nullptr && copies_->on()) record(sample);
}

void Measure::keep_newest() noexcept {
  for (Unit& unit : units_) {
    if (unit.computes != 0) unit.compute[0] = unit.compute[(unit.computes - 1) % kept];
    if (unit.gaps != 0) unit.gap[0] = unit.gap[(unit.gaps - 1) % kept];
    unit.computes = std::min(unit.computes, 1U);
    unit.gaps = std::min(unit.gaps, 1U);
  }
}

void Measure::on_copy(const TraceInterval& copy) {
  const double us = copy.end_us - copy.begin_us;
  if (recorder_ != nullptr) recorder_->add(copy);
  if (timing_ != nullptr) timing_->on_copy(copy.index, copy.step, us, copy.bytes);
  if (links_ != nullptr) links_->add(copy.row == TraceRow::h2d, copy.bytes, copy.begin_us, copy.end_us);
}

void Measure::record(const UnitSample& sample) {
  const double waited = copies_->since_epoch_us(sample.begin_event);
  const double began = waited + sample.stall_us;
  const double ended = began + sample.compute_us;
  TraceInterval interval;
  interval.index = sample.unit;
  interval.step = sample.step;
  interval.row = TraceRow::wait;
  interval.begin_us = waited;
  interval.end_us = began;
  if (began > waited) recorder_->add(interval);
  interval.row = TraceRow::compute;
  interval.begin_us = began;
  interval.end_us = ended;
  recorder_->add(interval);
}

double Measure::compute_us(std::uint32_t unit, double otherwise) const {
  const Unit& it = units_.at(unit);
  if (it.computes == 0) return otherwise;
  return median(it.compute, it.computes) + median(it.gap, it.gaps);
}

}  // namespace hoist
