// SPDX-License-Identifier: Apache-2.0
// Three events a unit that is timed: before its waits W, after them B, its end E (the compute lane's mark, which each
// has). stall = B - W, compute = (E - B) + (W - E of the unit before), so that work between units counts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "exec/lane.hpp"

namespace hoist {

struct UnitSample {
  std::uint32_t unit = 0;
  std::uint64_t step = 0;
  double gap_us = 0;  // since the end of the unit before; 0 where there was none
  double stall_us = 0;
  double compute_us = 0;  // E - B
  bool gap_known = false;
  void* begin_event = nullptr;  // W, B and E, valid during the call
  void* compute_event = nullptr;
  void* end_event = nullptr;
};

class UnitSink {
 public:
  virtual ~UnitSink() = default;
  virtual void on_unit(const UnitSample& sample) = 0;
};

class UnitClock {
 public:
  UnitClock(std::shared_ptr<Device> device, Lane& compute, UnitSink& sink);
  ~UnitClock();
  UnitClock(const UnitClock&) = delete;
  UnitClock& operator=(const UnitClock&) = delete;

  // Before the compute lane grows to that capacity; nothing is in flight and all has been collected.
  void reserve(std::size_t capacity);
  // What follows is no continuation of the units before: the gap to them says nothing.
  void interrupt() noexcept { gap_from_ = compute_.next(); }
  // Before a mark is recorded on the compute lane by others: hands over whose event it takes.
  void make_room();
  // W; waits on the host only where the ring is full. A unit that is not timed only counts for the gap of the next one.
  void begin(std::uint32_t unit, std::uint64_t step, bool timed);
  void waited();           // B
  void end();              // E
  void cancel() noexcept;  // the unit that was begun does not take place
  // Hands over the timed units that have been reached; with `all`, waits for the rest.
  void collect(bool all);
  // The step of the oldest unit that was not handed over; `otherwise` where there is none.
  [[nodiscard]] std::uint64_t oldest_step(std::uint64_t otherwise) const noexcept;

 private:
  struct Entry {
    void* begin = nullptr;
    void* compute = nullptr;
    Mark mark = 0;
    std::uint32_t unit = 0;
    std::uint64_t step = 0;
    bool timed = false;
  };
  [[nodiscard]] bool is_timed(Mark mark) const noexcept;
  void hand_over(Mark mark) noexcept;
  void measure(const Entry& entry);
  void destroy_events() noexcept;

  std::shared_ptr<Device> device_;
  Lane& compute_;
  UnitSink& sink_;
  std::vector<Entry> entries_;
  Mark collected_ = 0;
  Mark gap_from_ = 1;  // units up to this mark have no gap
};

}  // namespace hoist
