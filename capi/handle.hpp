// SPDX-License-Identifier: Apache-2.0
// Typed handles: `struct hoist_x_t : hoist::capi::Handle<X> { ... }` around a value of the core.
// A handle knows its type, whether it has been destroyed, and which process made it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/fork.hpp"
#include "guard.hpp"

namespace hoist::capi {

template <typename Value>
struct Handle {
  using value_type = Value;

  std::uint64_t magic = 0;
  std::uint32_t generation = fork_generation();
  mutable std::atomic<bool> busy{false};
  std::optional<Value> value;
};

// H says its name: static constexpr const char* type = "hoist_device_t".
template <typename H>
constexpr std::uint64_t magic_of() {
  std::uint64_t magic = 0xcbf29ce484222325u;  // FNV-1a of the name: equal in every build, rare in memory
  for (const char* c = H::type; *c != '\0'; ++c) magic = (magic ^ static_cast<unsigned char>(*c)) * 0x100000001b3u;
  return magic;
}
constexpr std::uint64_t dead_magic = 0xdeaddeaddeaddeadu;

template <typename H, typename... Arguments>
H* create_handle(Arguments&&... arguments) {
  H* handle = new H;
  try {
    handle->value.emplace(std::forward<Arguments>(arguments)...);
  } catch (...) {
    delete handle;
    throw;
  }
  handle->magic = magic_of<H>();
  return handle;
}

// Takes a handle back that a failing create call has not given out yet.
template <typename H>
class Abandon {
 public:
  explicit Abandon(H* handle) : handle_(handle) {}
  ~Abandon() { delete handle_; }
  Abandon(const Abandon&) = delete;
  Abandon& operator=(const Abandon&) = delete;
  H* keep() const { return std::exchange(handle_, nullptr); }

 private:
  mutable H* handle_;
};

// Throws Error for NULL, a foreign pointer, a destroyed handle, a handle of the parent process.
template <typename H>
H& checked(H* handle, const char* parameter) {
  if (handle == nullptr) fail(HOIST_ERROR_INVALID_ARGUMENT, text(parameter, " is NULL"), text("give a ", H::type));
  if (handle->magic == dead_magic) {
    fail(HOIST_ERROR_INVALID_STATE, text(parameter, ": this ", H::type, " has been destroyed"), "use a live one");
  }
  if (handle->magic != magic_of<std::remove_const_t<H>>()) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text(parameter, " is no ", H::type),
         "give what its create or open call gave out");
  }
  if (handle->generation != fork_generation()) {
    fail(HOIST_ERROR_FORKED, text(parameter, ": this ", H::type, " belongs to the parent process"),
         "open devices and create managers after fork, in the process that uses them");
  }
  return *handle;
}

// The value behind a handle.
template <typename H>
auto& value_of(H* handle, const char* parameter) {
  return *checked(handle, parameter).value;
}

// Shells of destroyed handles, in trust mode: kept so that use after destroy is told, reachable for leak checkers.
inline void keep_shell(void* shell) {
  static std::mutex& mutex = *new std::mutex;
  static std::vector<void*>& shells = *new std::vector<void*>;
  std::lock_guard lock(mutex);
  shells.push_back(shell);
}

template <typename H>
void bury(H* handle) noexcept {
  handle->value.reset();
  if (!trust_mode()) {
    delete handle;
  } else {
    keep_shell(handle);
  }
}

// NULL is a no-op. A child leaves its parent's objects alone: they stand for threads and devices that it has not.
// Where the release fails, as a wait for work that failed does, that is told and the object goes nonetheless.
template <typename H, typename Release>
void destroy_handle(H* handle, const char* where, Release&& release) noexcept {
  if (handle == nullptr) return;
  guarded_void(where, [&] {
    if (handle->magic == magic_of<H>() && handle->generation != fork_generation()) return;
    checked(handle, "handle");
    handle->magic = dead_magic;
    const std::unique_ptr<H, void (*)(H*) noexcept> buried(handle, bury<H>);
    release(*handle->value);
  });
}

template <typename H>
void destroy_handle(H* handle, const char* where) noexcept {
  destroy_handle(handle, where, [](auto&) {});
}

// Two threads inside one externally synchronised object: the second gets HOIST_ERROR_BUSY, nobody corruption.
class Busy {
 public:
  Busy(std::atomic<bool>& flag, const char* object) : flag_(flag) {
    if (!flag_.exchange(true, std::memory_order_acquire)) return;
    fail(HOIST_ERROR_BUSY, text("another thread is inside this ", object), "use one thread at a time, or a lock");
  }
  ~Busy() { flag_.store(false, std::memory_order_release); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  std::atomic<bool>& flag_;
};

// For what is left out where another thread is inside.
class BusyIfFree {
 public:
  explicit BusyIfFree(std::atomic<bool>& flag) : flag_(flag), mine_(!flag.exchange(true, std::memory_order_acquire)) {}
  ~BusyIfFree() {
    if (mine_) flag_.store(false, std::memory_order_release);
  }
  BusyIfFree(const BusyIfFree&) = delete;
  BusyIfFree& operator=(const BusyIfFree&) = delete;
  explicit operator bool() const noexcept { return mine_; }

 private:
  std::atomic<bool>& flag_;
  bool mine_;
};

// Checks a handle and holds it for the call: Held stream(handle, "stream"); stream->...
template <typename H>
class Held {
 public:
  Held(H* handle, const char* parameter) : handle_(checked(handle, parameter)), busy_(handle_.busy, H::type) {}
  auto* operator->() const { return &*handle_.value; }
  auto& operator*() const { return *handle_.value; }

 private:
  H& handle_;
  Busy busy_;
};

}  // namespace hoist::capi
