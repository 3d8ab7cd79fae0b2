// SPDX-License-Identifier: Apache-2.0
#include "backends/host/engine.hpp"

#include <chrono>
#include <cstring>
#include <thread>

#include "backends/common/error.hpp"

namespace hoist_backend::host {
namespace {

// Whoever writes the word wakes nobody: a while of looking, then short sleeps.
void await_word(const Op& op) {
  for (int looks = 0; !word_reached(op); ++looks) {
    if (looks < 100) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
}

}  // namespace

void Engine::move(Stream&, const Op& op) {
  switch (op.kind) {
    case OpKind::copy: {
      parts_.faults.check(Slot::work);
      if (!parts_.options.move_bytes) return;
      const OpenPages to(parts_.memory, op.dst, op.bytes);
      const OpenPages from(parts_.memory, op.src, op.bytes);
      std::memcpy(op.dst, op.src, op.bytes);
      return;
    }
    case OpKind::fill: {
      parts_.faults.check(Slot::work);
      if (!parts_.options.move_bytes) return;
      const OpenPages to(parts_.memory, op.dst, op.bytes);
      std::memset(op.dst, op.value, op.bytes);
      return;
    }
    case OpKind::host:
      parts_.faults.check(Slot::work);
      return op.function(op.user_data);
    case OpKind::access_begin:
      return parts_.memory.open(op.dst, op.bytes);
    case OpKind::access_end:
      return parts_.memory.close(op.dst, op.bytes);
    case OpKind::word_wait:
      return await_word(op);
    case OpKind::word_write:
      return std::atomic_ref(*op.word).store(op.word_value, std::memory_order_release);
    case OpKind::wait:
    case OpKind::record:
      return;
  }
}

double Engine::random_delay_us(Stream& stream) {
  const double most = parts_.copy_delay_us.load(std::memory_order_relaxed);
  return most > 0 ? most * stream.next_random() : 0;
}

void Engine::pass_failure_on(Stream& stream, std::uint64_t sequence, const Recording& recording) {
  if (!recording.stream->failed(recording.sequence)) return;
  try {
    recording.stream->check(recording.sequence);
  } catch (const Error& error) {
    stream.set_failed(sequence, error.what());
  }
}

void Engine::run_checked(Stream& stream, std::uint64_t sequence, Op& op) {
  if (op.kind == OpKind::wait) {
    op.recording.stream->await(op.recording.sequence);
    return pass_failure_on(stream, sequence, op.recording);
  }
  if (op.kind == OpKind::record) return op.event->mark(op.ticket, now_us(), !stream.failed(sequence));
  if (stream.failed(sequence)) return;
  if (op.kind == OpKind::copy || op.kind == OpKind::fill) sleep_us(random_delay_us(stream));
  if (op.kind == OpKind::copy) {
    const Throttle::Hold hold(parts_.throttle, op.copy_kind, op.bytes);
    return move(stream, op);
  }
  move(stream, op);
}

void Engine::run(Stream& stream, std::uint64_t sequence, Op& op) {
  try {
    run_checked(stream, sequence, op);
  } catch (const std::exception& error) {
    stream.set_failed(sequence, error.what());
  } catch (...) {
    stream.set_failed(sequence, "a host function threw");
  }
}

}  // namespace hoist_backend::host
