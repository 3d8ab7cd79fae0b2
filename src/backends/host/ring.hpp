// SPDX-License-Identifier: Apache-2.0
// A queue that allocates only when it is full. Its first room is for a backlog of a few steps: where a worker lags, a
// smaller one would grow in the middle of the steady state.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace hoist_backend::host {

template <typename T>
class Ring {
 public:
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }

  void push(T&& value) {
    if (count_ == slots_.size()) grow();
    slots_[(first_ + count_) & (slots_.size() - 1)] = std::move(value);
    ++count_;
  }

  T pop() noexcept {
    T value = std::move(slots_[first_]);
    first_ = (first_ + 1) & (slots_.size() - 1);
    --count_;
    return value;
  }

 private:
  // A power of two, so that a mask wraps.
  void grow() {
    std::vector<T> larger(slots_.empty() ? 1024 : 2 * slots_.size());
    for (std::size_t i = 0; i < count_; ++i) larger[i] = std::move(slots_[(first_ + i) & (slots_.size() - 1)]);
    slots_.swap(larger);
    first_ = 0;
  }

  std::vector<T> slots_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace hoist_backend::host
