// SPDX-License-Identifier: Apache-2.0
#include "exec/unit_clock.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/log.hpp"

namespace hoist {

UnitClock::UnitClock(std::shared_ptr<Device> device, Lane& compute, UnitSink& sink)
    : device_(std::move(device)), compute_(compute), sink_(sink) {
  try {
    reserve(compute_.capacity());
  } catch (...) {
    destroy_events();
    throw;
  }
}

UnitClock::~UnitClock() { destroy_events(); }

void UnitClock::destroy_events() noexcept {
  for (const Entry& entry : entries_) {
    if (entry.begin != nullptr) device_->event_destroy(entry.begin);
    if (entry.compute != nullptr) device_->event_destroy(entry.compute);
  }
}

void UnitClock::reserve(std::size_t capacity) {
  if (capacity > entries_.size()) entries_.resize(capacity);
  for (Entry& entry : entries_) {
    if (entry.begin == nullptr) entry.begin = device_->event_create();
    if (entry.compute == nullptr) entry.compute = device_->event_create();
  }
}

bool UnitClock::is_timed(Mark mark) const noexcept {
  const Entry& entry = entries_[compute_.slot(mark)];
  return entry.mark == mark && entry.timed;  // a barrier is no unit
}

// The slot's older unit, and the one after it, which measures its gap from it, must have been handed over.
void UnitClock::make_room() {
  while (collected_ + compute_.capacity() <= compute_.next()) {
    if (is_timed(collected_ + 1)) compute_.wait(collected_ + 1);
    hand_over(++collected_);
  }
}

void UnitClock::begin(std::uint32_t unit, std::uint64_t step, bool timed) {
  make_room();
  const Mark mark = compute_.next();
  Entry& entry = entries_[compute_.slot(mark)];
  if (timed) device_->event_record(entry.begin, compute_.stream());
  entry.timed = timed;
  entry.mark = mark;
  entry.unit = unit;
  entry.step = step;
}

void UnitClock::waited() {
  const Entry& entry = entries_[compute_.slot(compute_.next())];
  if (entry.timed) device_->event_record(entry.compute, compute_.stream());
}

void UnitClock::end() { compute_.record(); }

void UnitClock::cancel() noexcept { entries_[compute_.slot(compute_.next())].mark = 0; }

void UnitClock::collect(bool all) {
  while (collected_ < compute_.last()) {
    if (is_timed(collected_ + 1)) {
      if (all) compute_.wait(collected_ + 1);
      if (!compute_.poll(collected_ + 1)) return;
    }
    hand_over(++collected_);
  }
}

std::uint64_t UnitClock::oldest_step(std::uint64_t otherwise) const noexcept {
  for (Mark mark = collected_ + 1; mark <= compute_.last(); ++mark) {
    if (is_timed(mark)) return std::min(otherwise, entries_[compute_.slot(mark)].step);
  }
  return otherwise;
}

void UnitClock::hand_over(Mark mark) noexcept {
  if (!is_timed(mark)) return;
  try {
    measure(entries_[compute_.slot(mark)]);
  } catch (const std::exception& error) {
    log(HOIST_LOG_WARNING, "a unit's times are not known: ", error.what());
  }
}

void UnitClock::measure(const Entry& entry) {
  const Mark mark = entry.mark;
  void* end = compute_.event(mark);
  UnitSample sample;
  sample.unit = entry.unit;
  sample.step = entry.step;
  sample.stall_us = device_->event_elapsed_us(entry.begin, entry.compute);
  sample.compute_us = device_->event_elapsed_us(entry.compute, end);
  sample.begin_event = entry.begin;
  sample.compute_event = entry.compute;
  sample.end_event = end;
  const bool follows_unit = mark > gap_from_ && entries_[compute_.slot(mark - 1)].mark == mark - 1;
  if (follows_unit) {
    sample.gap_us = device_->event_elapsed_us(compute_.event(mark - 1), entry.begin);
    sample.gap_known = true;
  }
  sink_.on_unit(sample);
}

}  // namespace hoist
