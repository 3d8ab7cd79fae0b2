// SPDX-License-Identifier: Apache-2.0
// The process-wide log: a threshold, and a callback that is called with no lock held.
#pragma once

#include <string>

#include "base/error.hpp"
#include "hoist/status.h"

namespace hoist {

[[nodiscard]] bool log_enabled(hoist_log_level_t level) noexcept;
void log_message(hoist_log_level_t level, const char* message) noexcept;

// NULL restores the default sink, stderr. Throws Error(INVALID_ARGUMENT) for an unknown threshold.
void log_set(hoist_log_level_t threshold, hoist_log_fn_t callback, void* user_data);

// Parts are put together only where somebody listens.
template <typename... Parts>
void log(hoist_log_level_t level, const Parts&... parts) noexcept {
  if (!log_enabled(level)) return;
  try {
    log_message(level, text(parts...).c_str());
  } catch (...) {
    log_message(level, "a message could not be put together: out of memory");
  }
}

}  // namespace hoist
