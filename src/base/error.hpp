// SPDX-License-Identifier: Apache-2.0
// The one exception of the core. capi/ turns it into a status and the thread's error record.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "hoist/status.h"

namespace hoist {

class Error : public std::runtime_error {
 public:
  Error(hoist_status_t code, const std::string& message, std::string hint = {})
      : std::runtime_error(message), code_(code), hint_(std::move(hint)) {}
  [[nodiscard]] hoist_status_t code() const noexcept { return code_; }
  [[nodiscard]] const std::string& hint() const noexcept { return hint_; }

 private:
  hoist_status_t code_;
  std::string hint_;
};

// Concatenates its arguments as an ostream would print them.
template <typename... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

// Message: the object, the value it got. Hint: what would do.
[[noreturn]] inline void fail(hoist_status_t code, const std::string& message, std::string hint = {}) {
  throw Error(code, message, std::move(hint));
}

}  // namespace hoist
