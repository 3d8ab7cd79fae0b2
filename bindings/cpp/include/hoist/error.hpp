// SPDX-License-Identifier: Apache-2.0
// Failures as exceptions, the log, the version.
#pragma once

#if __cplusplus < 202002L
#error "hoist's C++ headers need C++20: compile with -std=c++20 or newer, or use the C header hoist/hoist.h"
#endif

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "hoist/status.h"
#include "hoist/version.h"

namespace hoist {

// What a failed call left in the thread's error record, read at once. what() is "where: message (hint)".
class Exception : public std::runtime_error {
 public:
  explicit Exception(const hoist_error_t& error)
      : std::runtime_error(text(error)),
        code_(error.code),
        message_(error.message),
        where_(error.where),
        hint_(error.hint) {}

  [[nodiscard]] hoist_status_t code() const noexcept { return code_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  [[nodiscard]] const std::string& where() const noexcept { return where_; }
  [[nodiscard]] const std::string& hint() const noexcept { return hint_; }

 private:
  static std::string text(const hoist_error_t& error) {
    std::string all = std::string(error.where) + ": " + error.message;
    return *error.hint == '\0' ? all : all + " (" + error.hint + ")";
  }

  hoist_status_t code_;
  std::string message_, where_, hint_;
};

// Throws the calling thread's error record where a call has failed.
inline void check(hoist_status_t status) {
  if (status == HOIST_OK) return;
  hoist_error_t error = HOIST_ERROR_INIT;
  const hoist_status_t read = hoist_last_error(&error);
  if (read != HOIST_OK || error.code != status) {  // cannot be, but a wrong text would be worse than none
    error.code = status;
    error.message = hoist_status_string(status);
    error.where = error.hint = "";
  }
  throw Exception(error);
}

namespace detail {

// A text for a call of C, which ends it at its first zero byte: one with a zero byte in it would name another thing.
inline const char* c_text(const std::string& text, const char* argument) {
  const std::size_t zero = text.find('\0');
  if (zero == std::string::npos) return text.c_str();
  const std::string message = std::string(argument) + " \"" + text.substr(0, zero) + "\" goes on after a zero byte";
  hoist_error_t error = HOIST_ERROR_INIT;
  error.code = HOIST_ERROR_INVALID_ARGUMENT;
  error.message = message.c_str();
  error.where = "hoist";
  error.hint = "give it without zero bytes";
  throw Exception(error);
}

}  // namespace detail

inline const char* status_string(hoist_status_t status) noexcept { return hoist_status_string(status); }
inline const char* version_string() noexcept { return hoist_version_string(); }
inline std::uint32_t version_abi() noexcept { return hoist_version_abi(); }

// As hoist_log_set: process-wide; the callback must not throw.
inline void log_set(hoist_log_level_t threshold, hoist_log_fn_t callback, void* user_data) {
  check(hoist_log_set(threshold, callback, user_data));
}

}  // namespace hoist
