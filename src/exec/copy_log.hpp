// SPDX-License-Identifier: Apache-2.0
// While somebody wants to know: when each copy began and ended, kept until the device has reached it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/device.hpp"
#include "exec/lane.hpp"
#include "trace/recorder.hpp"

namespace hoist {

class CopySink {
 public:
  virtual ~CopySink() = default;
  virtual void on_copy(const TraceInterval& copy) = 0;
};

class CopyLog {
 public:
  explicit CopyLog(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  ~CopyLog() { stop(); }
  CopyLog(const CopyLog&) = delete;
  CopyLog& operator=(const CopyLog&) = delete;

  // Times count from `epoch`, an event that has been recorded. Both outlive the log's recording.
  // A lane's ring has half of the lane's marks, so that none is taken again before its copy has been handed over.
  void start(CopySink* sink, void* epoch, const Lane& h2d, const Lane& d2h);
  // Lanes have grown; all has been handed over. Where a ring is full the host waits for a copy, and the units that it
  // is late for would seem slow. On failure nothing has changed.
  void reserve(const Lane& h2d, const Lane& d2h);
  void stop() noexcept;
  [[nodiscard]] bool on() const noexcept { return sink_ != nullptr; }
  [[nodiscard]] double since_epoch_us(void* event) { return device_->event_elapsed_us(epoch_, event); }

  // Around one copy on a lane, its mark recorded or promised in between by the caller.
  void begin(Lane& lane);
  void end(Lane& lane, Mark mark, const TraceInterval& what) noexcept;
  // Hands over what has been reached; with `all`, waits for the rest.
  void collect(Lane& lane, bool all);
  // The oldest step that a copy which was not handed over belongs to; `otherwise` where there is none.
  [[nodiscard]] std::uint64_t oldest_step(std::uint64_t otherwise) const noexcept;

 private:
  struct Entry {
    void* begin = nullptr;
    Mark mark = 0;
    TraceInterval what;
  };
  struct Ring {
    std::vector<Entry> entries;
    std::size_t head = 0;  // next to be written
    std::size_t tail = 0;  // oldest not handed over
  };
  void grow(Ring& ring, std::size_t capacity);
  Ring& ring(const Lane& lane) { return rings_[lane.id() == LaneId::h2d ? 0 : 1]; }

  std::shared_ptr<Device> device_;
  CopySink* sink_ = nullptr;
  void* epoch_ = nullptr;
  std::array<Ring, 2> rings_;
};

}  // namespace hoist
