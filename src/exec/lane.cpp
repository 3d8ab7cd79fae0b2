// SPDX-License-Identifier: Apache-2.0
#include "exec/lane.hpp"

#include <algorithm>
#include <utility>

namespace hoist {

Lane::Lane(std::shared_ptr<Device> device, LaneId id, std::size_t capacity)
    : device_(std::move(device)), id_(id), owns_stream_(id != LaneId::compute) {
  if (owns_stream_) stream_ = device_->stream_create();
  try {
    reserve(capacity);
  } catch (...) {
    for (void* event : events_) device_->event_destroy(event);
    if (owns_stream_) device_->stream_destroy(stream_);
    throw;
  }
}

Lane::~Lane() {
  if (owns_stream_) device_->stream_destroy(stream_);
  for (void* event : events_) device_->event_destroy(event);
}

Mark Lane::record() {
  const Mark mark = next();
  if (mark > events_.size()) wait(mark - events_.size());
  device_->event_record(event(mark), stream_);
  last_ = mark;
  return mark;
}

void Lane::reserve(std::size_t capacity) {
  if (capacity <= events_.size()) return;
  events_.reserve(capacity);
  while (events_.size() < capacity) events_.push_back(device_->event_create());
  // Slots have moved: all older marks must be done with, which is what the caller promises.
  reached_ = last_;
}

bool Lane::poll(Mark mark) {
  if (known_reached(mark)) return true;
  if (!device_->event_poll(event(mark))) return false;
  reached_ = std::max(reached_, mark);
  return true;
}

void Lane::wait(Mark mark) {
  if (known_reached(mark)) return;
  device_->event_wait(event(mark));
  reached_ = std::max(reached_, mark);
}

}  // namespace hoist
