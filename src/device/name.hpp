// SPDX-License-Identifier: Apache-2.0
// "host:1?mode=virtual&h2d_gbps=55": kind, index, options.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace hoist {

struct DeviceName {
  std::string full;         // as given
  std::string base;         // "host:1"
  std::string kind;         // "host"
  std::uint32_t index = 0;  // 1
  std::string option_text;  // "mode=virtual&h2d_gbps=55"
  std::map<std::string, std::string> options;
};

// Throws Error(INVALID_ARGUMENT) for what has not this shape, or names an option twice.
DeviceName parse_device_name(const std::string& name);

}  // namespace hoist
