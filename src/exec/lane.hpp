// SPDX-License-Identifier: Apache-2.0
// A stream and its marks. A mark is a recorded event with a number that grows; events are kept in a
// ring, so an old mark is either known to have been reached or still has its event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/device.hpp"

namespace hoist {

// The last four in trust mode only. Poison that waits for a store has a lane of its own, so that it never holds up
// poison that does not, and so has poison whose store is older than one that the former waits for; the same for checks.
enum class LaneId : std::uint8_t { compute, h2d, d2h, poison, late_poison, old_poison, check };
inline constexpr std::size_t lane_count = 7;

using Mark = std::uint64_t;  // 0: nothing to wait for

class Lane {
 public:
  // Owns its stream unless it is the compute lane, whose stream is the user's.
  Lane(std::shared_ptr<Device> device, LaneId id, std::size_t capacity);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  [[nodiscard]] LaneId id() const noexcept { return id_; }
  [[nodiscard]] void* stream() const noexcept { return stream_; }
  void set_stream(void* stream) noexcept { stream_ = stream; }

  [[nodiscard]] std::size_t capacity() const noexcept { return events_.size(); }
  [[nodiscard]] std::size_t slot(Mark mark) const noexcept { return mark % events_.size(); }
  [[nodiscard]] Mark last() const noexcept { return last_; }
  [[nodiscard]] Mark next() const noexcept { return last_ + 1; }
  [[nodiscard]] void* event(Mark mark) const noexcept { return events_[slot(mark)]; }

  // Records the next mark; waits on the host only where the ring is full.
  Mark record();
  // The mark that what has been submitted will get: recorded by close(), or by whoever waits for it first.
  Mark promise() noexcept {
    promised_ = true;
    return next();
  }
  void close() {
    if (promised_) record();
  }
  // As close(); where the event is refused, whoever waits for the mark first tries again.
  void try_close() noexcept;
  // Grows the ring, to be called when nothing is in flight. On failure nothing has changed.
  void reserve(std::size_t capacity);

  [[nodiscard]] bool known_reached(Mark mark) const noexcept { return mark <= reached_; }
  // Asks the device about marks not known to have been reached yet; moves the known ones on.
  bool poll(Mark mark);
  void wait(Mark mark);
  void wait_all();

 private:
  void take_slot(Mark mark);

  std::shared_ptr<Device> device_;
  LaneId id_;
  bool owns_stream_;
  bool promised_ = false;
  void* stream_ = nullptr;
  std::vector<void*> events_;
  Mark last_ = 0;
  Mark reached_ = 0;
};

}  // namespace hoist
