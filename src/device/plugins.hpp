// SPDX-License-Identifier: Apache-2.0
// Devices in shared objects of their own.
#pragma once

#include <string>
#include <vector>

#include "hoist/device_ops.h"

namespace hoist {

struct Plugin {
  hoist_device_ops_t ops{};  // checked, as its author filled it in
  std::string path;
  const void* library = nullptr;  // dlopen's handle, the same for the same file; never closed
};

// Throws Error that names the plugin.
Plugin load_plugin(const std::string& path);

// Those of HOIST_DEVICE_PLUGINS.
std::vector<Plugin> load_listed_plugins();

}  // namespace hoist
