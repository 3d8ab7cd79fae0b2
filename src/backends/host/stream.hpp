// SPDX-License-Identifier: Apache-2.0
// Streams, events and the operations that they carry. A recording is a place in a stream, not a state of
// the event: what waits for it is not disturbed when the event moves on or goes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "backends/host/ref.hpp"
#include "backends/host/ring.hpp"
#include "hoist/device_ops.h"

namespace hoist_backend::host {

struct Stream;
struct Event;

struct Recording {
  Ref<Stream> stream;
  std::uint64_t sequence = 0;  // reached when the stream has completed so many operations
};

enum class OpKind : std::uint8_t { copy, fill, host, wait, record, access_begin, access_end, word_wait, word_write };

struct Op {
  OpKind kind = OpKind::fill;
  std::uint8_t value = 0;                        // fill
  hoist_copy_kind_t copy_kind = HOIST_COPY_H2D;  // copy
  void* dst = nullptr;                           // copy, fill, access
  const void* src = nullptr;                     // copy
  std::uint64_t bytes = 0;                       // copy, fill, access
  std::uint32_t* word = nullptr;                 // word
  std::uint32_t word_value = 0;                  // word
  hoist_host_fn_t function = nullptr;            // host
  void* user_data = nullptr;                     // host
  double modelled_us = 0;                        // host
  Recording recording;                           // wait
  Ref<Event> event;                              // record
  std::uint64_t ticket = 0;                      // record
  std::uint64_t order = 0;                       // virtual clock: of submission, over all streams
};

// Words are shared with whoever waits on the host, and with other streams.
inline bool word_reached(const Op& op) noexcept {
  return static_cast<std::int32_t>(std::atomic_ref(*op.word).load(std::memory_order_acquire) - op.word_value) >= 0;
}

// What was submitted to a stream while it was captured.
struct Graph {
  std::vector<Op> ops;
};

// Where a stream stands on the virtual clock. Belongs to the engine's lock.
struct Lane {
  enum class State : std::uint8_t { idle, blocked, watching, delayed, queued, copying, busy } state = State::idle;
  double until = 0;  // delayed, busy, copying: when it ends
  double ready = 0;  // queued: since when
  Op op;
};

struct Stream : Counted {
  Stream(std::uint64_t index_, std::uint64_t seed) : index(index_), random(seed * 0x9e3779b97f4a7c15u + index_ + 1) {}

  // Says that the operation with that number is done; operations complete in order.
  void complete(std::uint64_t sequence);
  // Blocks until so many operations are done.
  void await(std::uint64_t sequence);
  [[nodiscard]] bool reached(std::uint64_t sequence) const noexcept {
    return completed.load(std::memory_order_acquire) >= sequence;
  }
  // The first failure stays; what comes after it is not run.
  void set_failed(std::uint64_t sequence, const std::string& message) noexcept;
  [[nodiscard]] bool failed(std::uint64_t sequence) const noexcept {
    return failed_at.load(std::memory_order_acquire) <= sequence;
  }
  // Throws Error(DEVICE) with the failure, where there is one up to that operation.
  void check(std::uint64_t sequence) const;
  // From 0 to below 1; used by whoever runs the stream's operations.
  double next_random() noexcept;

  const std::uint64_t index;
  std::atomic<std::uint64_t> submitted{0};
  std::atomic<std::uint64_t> completed{0};
  std::atomic<std::uint64_t> failed_at{~std::uint64_t{0}};

  mutable std::mutex mutex;
  std::condition_variable done;  // completed grew
  int waiters = 0;
  std::string failure;

  Ring<Op> queue;
  std::uint64_t random;
  std::unique_ptr<Graph> capture;  // what is submitted goes there

  std::condition_variable work;  // threaded mode: the queue is not empty any more
  bool idle = false;
  bool stopping = false;
  std::thread worker;

  Lane lane;
};

struct Event : Counted {
  mutable std::mutex mutex;
  Recording latest;
  std::uint64_t ticket = 0;       // counts recordings
  std::uint64_t time_ticket = 0;  // the recording that time_us belongs to
  double time_us = 0;
  // Whoever asks takes no lock where the two are equal: the newest recording, and the newest that has been reached by a
  // stream that had not failed.
  std::atomic<std::uint64_t> newest{0};
  std::atomic<std::uint64_t> passed{0};

  // The time of a recording, unless a later one has taken the event; whole: its stream had not failed.
  void mark(std::uint64_t its_ticket, double now_us, bool whole) {
    std::lock_guard lock(mutex);
    if (its_ticket != ticket) return;
    time_ticket = its_ticket;
    time_us = now_us;
    if (whole) passed.store(its_ticket, std::memory_order_release);
  }
  [[nodiscard]] Recording snapshot() const {
    std::lock_guard lock(mutex);
    return latest;
  }
  // Reached, and nothing before it has failed.
  [[nodiscard]] bool reached() const {
    const std::uint64_t done = passed.load(std::memory_order_acquire);
    if (done != 0 && done == newest.load(std::memory_order_acquire)) return true;
    std::lock_guard lock(mutex);
    return latest.stream && latest.stream->reached(latest.sequence) && !latest.stream->failed(latest.sequence);
  }
};

}  // namespace hoist_backend::host
