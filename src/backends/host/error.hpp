// SPDX-License-Identifier: Apache-2.0
// Failures inside the host device. plugin.cpp turns them into statuses and services->error_set.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "hoist/device_ops.h"

namespace hoist_host {

class HostError : public std::runtime_error {
 public:
  HostError(hoist_status_t code, const std::string& message, std::string hint = {})
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
  throw HostError(code, message, std::move(hint));
}

}  // namespace hoist_host
