// SPDX-License-Identifier: Apache-2.0
#include "backends/host/stream.hpp"

#include "backends/common/error.hpp"

namespace hoist_backend::host {

void Stream::complete(std::uint64_t sequence) {
  std::lock_guard lock(mutex);
  completed.store(sequence, std::memory_order_release);
  if (waiters != 0) done.notify_all();
}

void Stream::await(std::uint64_t sequence) {
  if (reached(sequence)) return;
  std::unique_lock lock(mutex);
  ++waiters;
  done.wait(lock, [&] { return reached(sequence); });
  --waiters;
}

void Stream::set_failed(std::uint64_t sequence, const std::string& message) noexcept {
  std::lock_guard lock(mutex);
  if (failed_at.load(std::memory_order_relaxed) <= sequence) return;
  try {
    failure = message;
  } catch (...) {
    failure.clear();
  }
  failed_at.store(sequence, std::memory_order_release);
}

void Stream::check(std::uint64_t sequence) const {
  if (!failed(sequence)) return;
  std::string message;
  {
    std::lock_guard lock(mutex);
    message = failure;
  }
  fail(HOIST_ERROR_DEVICE, text("work on stream ", index, " failed: ", message),
       "destroy the stream and create another");
}

double Stream::next_random() noexcept {
  random ^= random << 13;
  random ^= random >> 7;
  random ^= random << 17;
  return static_cast<double>(random >> 11) * 0x1p-53;
}

}  // namespace hoist_backend::host
