// SPDX-License-Identifier: Apache-2.0
#include "exec/lane.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/log.hpp"

namespace hoist {

Lane::Lane(std::shared_ptr<Device> device, LaneId id, std::size_t capacity)
    : device_(std::move(device)), id_(id), owns_stream_(id != LaneId::compute) {
  if (owns_stream_) stream_ = device_->stream_create();
  try {
    reserve(capacity);
  } catch (...) {
    if (owns_stream_) device_->stream_destroy(stream_);
    throw;
  }
}

Lane::~Lane() {
  if (owns_stream_) device_->stream_destroy(stream_);
  for (void* event : events_) device_->event_destroy(event);
}

// The slot's older mark must have been reached. One half a ring newer mostly has been as well: asked about that, the
// device need not be asked again for half a ring of marks.
void Lane::take_slot(Mark mark) {
  const Mark older = mark - events_.size();
  if (known_reached(older) || poll(older + events_.size() / 2)) return;
  wait(older);
}

Mark Lane::record() {
  const Mark mark = next();
  if (mark > events_.size()) take_slot(mark);
  device_->event_record(event(mark), stream_);
  promised_ = false;
  last_ = mark;
  return mark;
}

void Lane::try_close() noexcept {
  try {
    close();
  } catch (const std::exception& error) {
    log(HOIST_LOG_WARNING, "an event was refused, whoever waits for it tries again: ", error.what());
  }
}

void Lane::reserve(std::size_t capacity) {
  if (capacity <= events_.size()) return;
  const std::size_t before = events_.size();
  events_.reserve(capacity);
  std::vector<void*> more;
  more.reserve(capacity - before);
  try {
    while (more.size() < capacity - before) more.push_back(device_->event_create());
  } catch (...) {
    for (void* event : more) device_->event_destroy(event);
    throw;
  }
  events_.insert(events_.end(), more.begin(), more.end());
  // Slots have moved: all older marks must be done with, which is what the caller promises.
  reached_ = last_;
}

bool Lane::poll(Mark mark) {
  if (known_reached(mark)) return true;
  if (mark > last_) close();
  if (!device_->event_poll(event(mark))) return false;
  reached_ = std::max(reached_, mark);
  return true;
}

void Lane::wait(Mark mark) {
  if (known_reached(mark)) return;
  if (mark > last_) close();
  device_->event_wait(event(mark));
  reached_ = std::max(reached_, mark);
}

void Lane::wait_all() {
  close();
  wait(last_);
}

}  // namespace hoist
