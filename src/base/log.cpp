// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include <atomic>
#include <cstdio>
#include <mutex>

#include "base/environment.hpp"

namespace hoist {
namespace {

constexpr const char* level_names[] = {"debug", "info", "warning", "error"};

struct Sink {
  std::mutex mutex;
  std::atomic<int> threshold;
  hoist_log_fn_t callback = nullptr;
  void* user_data = nullptr;
  Sink() : threshold(log_threshold()) {}
};

Sink& sink() {
  static Sink* instance = new Sink;  // never freed: detached threads may log at exit
  return *instance;
}

}  // namespace

bool log_enabled(hoist_log_level_t level) noexcept {
  return static_cast<int>(level) >= sink().threshold.load(std::memory_order_relaxed);
}

void log_message(hoist_log_level_t level, const char* message) noexcept {
  if (level < HOIST_LOG_DEBUG || level > HOIST_LOG_ERROR || !log_enabled(level)) return;
  hoist_log_fn_t callback = nullptr;
  void* user_data = nullptr;
  {
    std::lock_guard lock(sink().mutex);
    callback = sink().callback;
    user_data = sink().user_data;
  }
  if (callback != nullptr) {
    callback(user_data, level, message);
  } else {
    std::fprintf(stderr, "hoist: %s: %s\n", level_names[level], message);
  }
}

void log_set(hoist_log_level_t threshold, hoist_log_fn_t callback, void* user_data) {
  if (threshold < HOIST_LOG_DEBUG || threshold > HOIST_LOG_OFF) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("threshold is ", static_cast<int>(threshold), ", no log level"),
         "use HOIST_LOG_DEBUG, INFO, WARNING, ERROR or OFF");
  }
  std::lock_guard lock(sink().mutex);
  sink().callback = callback;
  sink().user_data = user_data;
  sink().threshold.store(static_cast<int>(threshold), std::memory_order_relaxed);
}

}  // namespace hoist
