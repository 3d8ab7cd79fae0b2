// SPDX-License-Identifier: Apache-2.0
// A budget's timeline: recorded across swaps and members that come and go.
#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "budget/budget.hpp"

namespace hoist {

void Budget::trace_begin(std::uint64_t limit) {
  require_between_steps("a trace begins");
  if (!executor_) fail(HOIST_ERROR_INVALID_STATE, "a trace begins before the commit", "commit first");
  if (recorder_) fail(HOIST_ERROR_INVALID_STATE, "a trace is being recorded already", "end it first");
  void* stream = executor_->residency().lane(LaneId::d2h).stream();
  if (epoch_ == nullptr) epoch_ = device_->event_create();
  device_->event_record(epoch_, stream);
  device_->event_wait(epoch_);
  executor_->unit_clock().collect(false);
  recorder_ = std::make_unique<Recorder>(limit == 0 ? 1'000'000 : limit);
  try {
    record_on();
  } catch (...) {
    recorder_.reset();
    throw;
  }
}

void Budget::record_on() {
  Residency& residency = executor_->residency();
  const std::size_t ring = std::min(residency.lane(LaneId::h2d).capacity(), residency.lane(LaneId::d2h).capacity()) / 2;
  residency.copies().start(recorder_.get(), epoch_, ring);
}

// All that was submitted.
void Budget::collect_recorded() {
  if (!recorder_) return;
  executor_->residency().wait_all();
  executor_->unit_clock().collect(true);
  executor_->residency().collect_copies();
}

// What was collected, by the names that it has now.
void Budget::name_recorded() {
  if (!recorder_) return;
  executor_->residency().copies().stop();
  std::vector<std::string> units;
  std::vector<std::string> items;
  for (const CatalogUnit& unit : catalog_.units()) units.push_back(unit.name);
  for (const CatalogItem& item : catalog_.items()) items.push_back(item.name);
  recorder_->name(std::move(units), std::move(items));
}

void Budget::trace_end(const char* path) {
  require_between_steps("a trace ends");
  if (!recorder_) fail(HOIST_ERROR_INVALID_STATE, "no trace is being recorded", "call hoist_trace_begin first");
  if (executor_) {
    collect_recorded();
    name_recorded();
    record_on();  // where the file cannot be written the recording goes on
  }
  if (path != nullptr) recorder_->write(path);
  if (executor_) executor_->residency().copies().stop();
  recorder_.reset();
}

}  // namespace hoist
