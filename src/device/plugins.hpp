// SPDX-License-Identifier: Apache-2.0
// Devices in shared objects of their own, as HOIST_DEVICE_PLUGINS lists them.
#pragma once

#include <vector>

#include "hoist/device_ops.h"

namespace hoist {

// The tables as their authors filled them in. Throws Error that names the plugin.
std::vector<hoist_device_ops_t> load_plugins();

}  // namespace hoist
