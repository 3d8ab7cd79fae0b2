// SPDX-License-Identifier: Apache-2.0
// The kinds of devices of this process: built-in ones register on first use, by the public table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hoist/device_ops.h"

namespace hoist {

// Validates the table, copies it over the stubs. Throws Error as hoist_device_register documents.
const hoist_device_services_t* register_device(const hoist_device_ops_t& ops);

std::uint32_t device_count();
// "host:0", "host:1", ... of every kind.
std::vector<std::string> device_names();

}  // namespace hoist
