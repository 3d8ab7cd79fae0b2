// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace hoist {

// The calling thread's own T, at any time: destructors of other thread-local and static objects still call the library
// when this one's has run. They get another one, whose destructor never runs.
template <typename T>
T& of_thread() noexcept {
  alignas(T) static thread_local std::byte place[sizeof(T)];
  static thread_local T* instance = nullptr;
  struct Keeper {
    ~Keeper() {
      std::destroy_at(instance);
      instance = nullptr;
    }
  };
  if (instance == nullptr) instance = new (place) T;
  static thread_local const Keeper keeper;
  static_cast<void>(keeper);
  return *instance;
}

}  // namespace hoist
