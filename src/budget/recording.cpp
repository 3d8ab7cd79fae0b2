// SPDX-License-Identifier: Apache-2.0
// What is watched of a budget's steps, across swaps and members that come and go: a timeline, times of units, links
// under load.
#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "budget/budget.hpp"

namespace hoist {

void Budget::trace_begin(std::uint64_t limit) {
  require_between_steps("a trace begins");
  if (!executor_) fail(HOIST_ERROR_INVALID_STATE, "a trace begins before the commit", "commit first");
  if (recorder_) fail(HOIST_ERROR_INVALID_STATE, "a trace is being recorded already", "end it first");
  if (executor_->residency().copies().on()) collect_watched();  // by the old epoch
  start_epoch();
  executor_->unit_clock().collect(false);
  recorder_ = std::make_unique<Recorder>(limit == 0 ? 1'000'000 : limit);
  try {
    observe();
  } catch (...) {
    recorder_.reset();
    observe();
    throw;
  }
}

void Budget::start_epoch() {
  if (epoch_ == nullptr) epoch_ = device_->event_create();
  device_->event_record(epoch_, executor_->residency().lane(LaneId::d2h).stream());
  device_->event_wait(epoch_);
}

// Copies are timed while anybody wants to know.
void Budget::observe() {
  measure_.watch(recorder_.get(), timing_.get(), loaded_links_.get());
  if (!executor_) return;
  Residency& residency = executor_->residency();
  const bool wanted = recorder_ || timing_ || loaded_links_;
  if (wanted == residency.copies().on()) return;
  if (!wanted) return residency.copies().stop();
  if (epoch_ == nullptr) start_epoch();
  residency.copies().start(&measure_, epoch_, residency.lane(LaneId::h2d), residency.lane(LaneId::d2h));
}

// All that was submitted.
void Budget::collect_watched() {
  executor_->residency().wait_all();
  executor_->unit_clock().collect(true);
  executor_->residency().collect_copies();
}

// What was collected, by the names that it has now.
void Budget::name_recorded() {
  if (!recorder_) return;
  std::vector<std::string> units;
  std::vector<std::string> items;
  for (const CatalogUnit& unit : catalog_.units()) units.push_back(unit.name);
  for (const CatalogItem& item : catalog_.items()) items.push_back(item.name);
  recorder_->name(std::move(units), std::move(items));
}

// Where the file cannot be written the recording goes on.
void Budget::trace_end(const char* path) {
  require_between_steps("a trace ends");
  if (!recorder_) fail(HOIST_ERROR_INVALID_STATE, "no trace is being recorded", "begin a trace first");
  if (executor_) {
    collect_watched();
    name_recorded();
  }
  if (path != nullptr) recorder_->write(path);
  recorder_.reset();
  observe();
}

// Plans that serve are made from links as steps find them, not as an idle machine shows them.
void Budget::observe_links(bool on) {
  if (on == (loaded_links_ != nullptr) || options_.links) return;
  if (!on) {
    executor_->residency().collect_copies();
    links_ = loaded_links_->refine(links_);
    log(HOIST_LOG_INFO, device_->name(), ": under load ", links_.h2d.bytes_per_us / 1e3, " GB/s from the host, ",
        links_.d2h.bytes_per_us / 1e3, " GB/s to it");
    loaded_links_.reset();
    return observe();
  }
  loaded_links_ = std::make_unique<LoadedLinks>();
  try {
    observe();
  } catch (...) {
    loaded_links_.reset();
    observe();
    throw;
  }
}

// By the numbers that units and items have now.
std::unique_ptr<UnitTiming> Budget::new_timing(std::size_t step_limit) const {
  std::vector<std::uint32_t> owners(catalog_.items().size(), no_index);
  for (std::uint32_t unit = 0; unit < catalog_.units().size(); ++unit) {
    for (const UnitUse& use : catalog_.unit_uses()[unit]) owners[use.item] = std::min(owners[use.item], unit);
  }
  const std::uint64_t steps = executor_ ? executor_->counters().steps : carried_counters_.steps;
  return std::make_unique<UnitTiming>(catalog_.units().size(), std::move(owners), steps, step_limit);
}

void Budget::timing_begin(std::size_t step_limit) {
  require_between_steps("timing begins");
  if (!executor_) fail(HOIST_ERROR_INVALID_STATE, "timing begins before the commit", "commit first");
  auto before = std::exchange(timing_, new_timing(step_limit));
  timing_limit_ = step_limit;
  timed_ = executor_->counters().steps;
  try {
    observe();
  } catch (...) {
    timing_ = std::move(before);
    observe();
    throw;
  }
}

void Budget::require_timing(const char* what) const {
  if (!timing_) fail(HOIST_ERROR_INVALID_STATE, text(what, ", but no times are collected"), "begin timing first");
}

// A step whose end has not been reached, or that a copy in flight belongs to, is not known yet.
void Budget::timing_update() {
  require_timing("timing is updated");
  if (!executor_) return;
  Residency& residency = executor_->residency();
  executor_->unit_clock().collect(false);
  for (LaneId id : {LaneId::h2d, LaneId::d2h}) residency.copies().collect(residency.lane(id), false);
  const std::uint64_t steps = executor_->counters().steps;
  timed_ = std::max(timed_, residency.copies().oldest_step(executor_->unit_clock().oldest_step(steps)));
}

UnitTimes Budget::timing(std::uint32_t unit) const {
  require_timing("times are queried");
  return timing_->times(unit, timed_);
}

void Budget::timing_end() {
  require_between_steps("timing ends");
  require_timing("timing ends");
  if (executor_) collect_watched();
  timing_.reset();
  observe();
}

}  // namespace hoist
