// SPDX-License-Identifier: Apache-2.0
// Failures inside a built-in device. Its table (table.hpp) turns them into statuses and services->error_set.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hoist/device_ops.h"

namespace hoist_backend {

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

template <typename... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

[[noreturn]] inline void fail(hoist_status_t code, const std::string& message, std::string hint = {}) {
  throw Error(code, message, std::move(hint));
}

// "the nearest known one is 'copy'"; "" where nothing is known.
std::string nearest_hint(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace hoist_backend
