// SPDX-License-Identifier: Apache-2.0
// Counted ownership without allocation: submitted work outlives the handles that it names.
#pragma once

#include <atomic>
#include <utility>

namespace hoist_backend::host {

struct Counted {
  std::atomic<int> references{1};
};

template <typename T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* target) noexcept : target_(target) {
    if (target_ != nullptr) target_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Ref(Ref&& other) noexcept : target_(std::exchange(other.target_, nullptr)) {}
  Ref(const Ref& other) noexcept : Ref(other.target_) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(target_, other.target_);
    return *this;
  }
  ~Ref() { release(target_); }

  T* operator->() const noexcept { return target_; }
  T& operator*() const noexcept { return *target_; }
  explicit operator bool() const noexcept { return target_ != nullptr; }

  // Gives one reference back; the last one deletes.
  static void release(T* target) noexcept {
    if (target != nullptr && target->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete target;
  }

 private:
  T* target_ = nullptr;
};

}  // namespace hoist_backend::host
