// SPDX-License-Identifier: Apache-2.0
// The kinds of devices of this process: built-in ones register on first use, by the public table.
#pragma once

#include <cstdint>
#include <string>

#include "hoist/device_ops.h"

namespace hoist {

// Validates the table, copies it over the stubs. Throws Error as hoist_device_register documents.
const hoist_device_services_t* register_device(const hoist_device_ops_t& ops);

// Gives the kind that the plugin has. Throws Error as hoist_plugin_load documents.
const char* load_device_plugin(const std::string& path);

// As registered: NULL stays NULL.
hoist_device_ops_t device_ops(const std::string& kind);

std::uint32_t device_count();
// Without opening it; indexes count over all kinds.
hoist_device_properties_t device_properties(std::uint32_t index);

}  // namespace hoist
