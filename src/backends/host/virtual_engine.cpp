// SPDX-License-Identifier: Apache-2.0
// A simulation by events: bytes move, operations take modelled time, and the clock advances only while the
// host waits. Rules of time: doc/design/planner.md, rules of execution 5 and 6.
#include <algorithm>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <vector>

#include "backends/common/error.hpp"
#include "backends/host/engine.hpp"

namespace hoist_backend::host {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr double d2d_bytes_per_us = 1e6;

// One copy at a time. `until` of its lane is as_of + left / rate.
struct Link {
  double bytes_per_us = 0;
  Stream* stream = nullptr;  // whose copy it carries
  double left_us = 0;        // work that was left at as_of
  double as_of = 0;
  double rate = 1;
};

class VirtualEngine final : public Engine {
 public:
  explicit VirtualEngine(Parts& parts) : Engine(parts) {
    links_[HOIST_COPY_H2D].bytes_per_us = parts.options.h2d_bytes_per_us;
    links_[HOIST_COPY_D2H].bytes_per_us = parts.options.d2h_bytes_per_us;
  }

  void start(Stream& stream) override;
  void stop(Stream& stream) override;
  void submit(Stream& stream, Op&& op) override;
  void wait(Stream& stream, std::uint64_t sequence) override;
  void settle() override;
  [[nodiscard]] double now_us() const override;

 private:
  using Lock = std::unique_lock<std::mutex>;

  void settle_locked(Lock& lock);
  bool step_lanes(Lock& lock);
  bool step(Stream& stream, Lock& lock);
  bool take(Stream& stream, Lock& lock);
  void begin(Stream& stream, Lock& lock);
  void begin_copy(Stream& stream);
  void call(Stream& stream, Lock& lock);
  void finish(Stream& stream, bool moves);
  bool grant(Link& link, hoist_copy_kind_t kind);
  void set_rates();
  bool advance();

  mutable std::mutex mutex_;
  std::condition_variable settled_;
  bool settling_ = false;  // a host function runs without the lock
  double now_ = 0;
  std::uint64_t order_ = 0;
  std::vector<Stream*> streams_;
  Link links_[2];
};

void VirtualEngine::start(Stream& stream) {
  std::lock_guard lock(mutex_);
  streams_.push_back(&stream);
}

void VirtualEngine::stop(Stream& stream) {
  Lock lock(mutex_);
  settled_.wait(lock, [this] { return !settling_; });
  streams_.erase(std::find(streams_.begin(), streams_.end(), &stream));
}

void VirtualEngine::submit(Stream& stream, Op&& op) {
  std::lock_guard lock(mutex_);
  op.order = ++order_;
  stream.queue.push(std::move(op));
  stream.submitted.fetch_add(1, std::memory_order_relaxed);
}

void VirtualEngine::wait(Stream& stream, std::uint64_t sequence) {
  Lock lock(mutex_);
  settle_locked(lock);
  while (!stream.reached(sequence)) {
    if (!advance()) {
      fail(HOIST_ERROR_ORDER, text("stream ", stream.index, " can never get there: nothing is left that could go on"),
           "record an event before anything waits for it, write a word that something waits for");
    }
    settle_locked(lock);
  }
}

void VirtualEngine::settle() {
  Lock lock(mutex_);
  if (!settling_) settle_locked(lock);
}

double VirtualEngine::now_us() const {
  std::lock_guard lock(mutex_);
  return now_;
}

// All that happens at this instant: ends and what follows from them first, then the links take their next copy.
void VirtualEngine::settle_locked(Lock& lock) {
  settled_.wait(lock, [this] { return !settling_; });
  settling_ = true;
  while (step_lanes(lock) || grant(links_[0], HOIST_COPY_H2D) || grant(links_[1], HOIST_COPY_D2H)) {
  }
  set_rates();
  settling_ = false;
  settled_.notify_all();
}

bool VirtualEngine::step_lanes(Lock& lock) {
  bool moved = false;
  for (std::size_t i = 0; i < streams_.size(); ++i) {  // by index: a host function's call may let others add one
    while (step(*streams_[i], lock)) moved = true;
  }
  return moved;
}

bool VirtualEngine::step(Stream& stream, Lock& lock) {
  Lane& lane = stream.lane;
  switch (lane.state) {
    case Lane::State::idle:
      return take(stream, lock);
    case Lane::State::blocked: {
      const Recording& recording = lane.op.recording;
      if (!recording.stream->reached(recording.sequence)) return false;
      pass_failure_on(stream, stream.completed.load(std::memory_order_relaxed) + 1, recording);
      finish(stream, false);
      return true;
    }
    case Lane::State::watching:
      if (!word_reached(lane.op)) return false;
      finish(stream, false);
      return true;
    case Lane::State::delayed:
      if (lane.until > now_) return false;
      begin_copy(stream);
      return true;
    case Lane::State::queued:
      return false;
    case Lane::State::copying:
    case Lane::State::busy:
      if (lane.until > now_) return false;
      finish(stream, lane.op.kind != OpKind::host);
      return true;
  }
  return false;
}

bool VirtualEngine::take(Stream& stream, Lock& lock) {
  if (stream.queue.empty()) return false;
  stream.lane.op = stream.queue.pop();
  begin(stream, lock);
  return true;
}

void VirtualEngine::begin(Stream& stream, Lock& lock) {
  Lane& lane = stream.lane;
  const std::uint64_t sequence = stream.completed.load(std::memory_order_relaxed) + 1;
  const bool ordering = lane.op.kind == OpKind::wait || lane.op.kind == OpKind::record;
  if (!ordering && stream.failed(sequence)) return finish(stream, false);
  switch (lane.op.kind) {
    case OpKind::wait:
      lane.state = Lane::State::blocked;
      return;
    case OpKind::record:
      lane.op.event->mark(lane.op.ticket, now_, false);
      return finish(stream, false);
    case OpKind::copy:
    case OpKind::fill: {
      const double delay = random_delay_us(stream);
      if (delay == 0) return begin_copy(stream);
      lane.state = Lane::State::delayed;
      lane.until = now_ + delay;
      return;
    }
    case OpKind::host:
      lane.state = Lane::State::busy;
      lane.until = now_ + lane.op.modelled_us;
      return call(stream, lock);
    case OpKind::word_wait:
      lane.state = Lane::State::watching;
      return;
    case OpKind::word_write:
    case OpKind::access_begin:
    case OpKind::access_end:
      return finish(stream, true);
  }
}

void VirtualEngine::begin_copy(Stream& stream) {
  Lane& lane = stream.lane;
  if (lane.op.kind == OpKind::fill) return finish(stream, true);
  if (lane.op.copy_kind == HOIST_COPY_D2D) {
    lane.state = Lane::State::busy;
    lane.until = now_ + static_cast<double>(lane.op.bytes) / d2d_bytes_per_us;
    return;
  }
  lane.state = Lane::State::queued;
  lane.ready = now_;
}

// A host function runs at its start, without the lock: a slow one must not hold up polls and submissions.
void VirtualEngine::call(Stream& stream, Lock& lock) {
  const Op& op = stream.lane.op;
  const std::uint64_t sequence = stream.completed.load(std::memory_order_relaxed) + 1;
  lock.unlock();
  try {
    move(stream, op);
  } catch (const std::exception& error) {
    stream.set_failed(sequence, error.what());
  } catch (...) {
    stream.set_failed(sequence, "a host function threw");
  }
  lock.lock();
}

void VirtualEngine::finish(Stream& stream, bool moves) {
  Lane& lane = stream.lane;
  const std::uint64_t sequence = stream.completed.load(std::memory_order_relaxed) + 1;
  try {
    if (moves) move(stream, lane.op);
  } catch (const Error& error) {
    stream.set_failed(sequence, error.what());
  }
  if (lane.state == Lane::State::copying) links_[lane.op.copy_kind].stream = nullptr;
  lane.state = Lane::State::idle;
  lane.op = Op{};
  stream.complete(sequence);
}

// The copy that has been ready longest, of these the one submitted first.
bool VirtualEngine::grant(Link& link, hoist_copy_kind_t kind) {
  if (link.stream != nullptr) return false;
  Stream* best = nullptr;
  for (Stream* stream : streams_) {
    const Lane& lane = stream->lane;
    if (lane.state != Lane::State::queued || lane.op.copy_kind != kind) continue;
    const bool first = best == nullptr || lane.ready < best->lane.ready ||
                       (lane.ready == best->lane.ready && lane.op.order < best->lane.op.order);
    if (first) best = stream;
  }
  if (best == nullptr) return false;
  Lane& lane = best->lane;
  const double transfer = link.bytes_per_us == 0 ? 0 : static_cast<double>(lane.op.bytes) / link.bytes_per_us;
  link.stream = best;
  link.left_us = parts_.options.latency_us + transfer;
  link.as_of = now_;
  link.rate = 1;
  lane.state = Lane::State::copying;
  lane.until = now_ + link.left_us;
  return true;
}

// While both links carry a copy each works at duplex_factor of its rate. A rate that stays leaves its end
// untouched, so that an undisturbed copy takes its cost to the last bit.
void VirtualEngine::set_rates() {
  const bool both = links_[0].stream != nullptr && links_[1].stream != nullptr;
  const double rate = both ? parts_.options.duplex_factor : 1;
  for (Link& link : links_) {
    if (link.stream == nullptr || link.rate == rate) continue;
    link.left_us -= (now_ - link.as_of) * link.rate;
    link.as_of = now_;
    link.rate = rate;
    link.stream->lane.until = now_ + link.left_us / rate;
  }
}

// To the next end of anything; false where nothing has one.
bool VirtualEngine::advance() {
  double next = never;
  for (const Stream* stream : streams_) {
    const Lane& lane = stream->lane;
    const bool timed =
        lane.state == Lane::State::delayed || lane.state == Lane::State::copying || lane.state == Lane::State::busy;
    if (timed) next = std::min(next, lane.until);
  }
  if (next == never) return false;
  now_ = std::max(now_, next);
  return true;
}

}  // namespace

std::unique_ptr<Engine> make_virtual_engine(Parts& parts) { return std::make_unique<VirtualEngine>(parts); }

}  // namespace hoist_backend::host
