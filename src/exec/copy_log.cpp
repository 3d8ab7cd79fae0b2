// SPDX-License-Identifier: Apache-2.0
#include "exec/copy_log.hpp"

#include <algorithm>

namespace hoist {

void CopyLog::start(CopySink* sink, void* epoch, const Lane& h2d, const Lane& d2h) {
  try {
    for (Ring& ring : rings_) ring.head = ring.tail = 0;
    reserve(h2d, d2h);
  } catch (...) {
    stop();
    throw;
  }
  epoch_ = epoch;
  sink_ = sink;
}

void CopyLog::reserve(const Lane& h2d, const Lane& d2h) {
  grow(rings_[0], h2d.capacity() / 2);
  grow(rings_[1], d2h.capacity() / 2);
}

void CopyLog::grow(Ring& ring, std::size_t capacity) {
  if (capacity <= ring.entries.size()) return;
  std::vector<Entry> more(capacity - ring.entries.size());
  try {
    ring.entries.reserve(capacity);
    for (Entry& entry : more) entry.begin = device_->event_create();
  } catch (...) {
    for (const Entry& entry : more) {
      if (entry.begin != nullptr) device_->event_destroy(entry.begin);
    }
    throw;
  }
  ring.entries.insert(ring.entries.end(), more.begin(), more.end());
  ring.head = ring.tail = 0;
}

void CopyLog::stop() noexcept {
  sink_ = nullptr;
  for (Ring& ring : rings_) {
    for (Entry& entry : ring.entries) {
      if (entry.begin != nullptr) device_->event_destroy(entry.begin);
    }
    ring.entries.clear();
  }
}

void CopyLog::begin(Lane& lane) {
  Ring& r = ring(lane);
  // An end event may be taken by a later mark once the lane's ring comes round: hand over well before.
  if (r.head - r.tail > r.entries.size() / 2) collect(lane, false);
  if (r.head - r.tail == r.entries.size()) {
    lane.wait(r.entries[r.tail % r.entries.size()].mark);
    collect(lane, false);
  }
  device_->event_record(r.entries[r.head % r.entries.size()].begin, lane.stream());
}

void CopyLog::end(Lane& lane, Mark mark, const TraceInterval& what) noexcept {
  Ring& r = ring(lane);
  Entry& entry = r.entries[r.head % r.entries.size()];
  entry.mark = mark;
  entry.what = what;
  ++r.head;
}

void CopyLog::collect(Lane& lane, bool all) {
  Ring& r = ring(lane);
  while (r.tail != r.head) {
    Entry& entry = r.entries[r.tail % r.entries.size()];
    if (all) lane.wait(entry.mark);
    if (!lane.poll(entry.mark)) return;
    TraceInterval interval = entry.what;
    interval.begin_us = since_epoch_us(entry.begin);
    // Devices tell long times roughly: a copy's own is not the difference of two of them.
    interval.end_us = interval.begin_us + device_->event_elapsed_us(entry.begin, lane.event(entry.mark));
    ++r.tail;
    sink_->on_copy(interval);
  }
}

std::uint64_t CopyLog::oldest_step(std::uint64_t otherwise) const noexcept {
  for (const Ring& r : rings_) {
    if (r.tail != r.head) otherwise = std::min(otherwise, r.entries[r.tail % r.entries.size()].what.step);
  }
  return otherwise;
}

}  // namespace hoist
