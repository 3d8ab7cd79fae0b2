// SPDX-License-Identifier: Apache-2.0
// A table checked, and one whose every slot can be called: the core never tests a slot for NULL.
#pragma once

#include <cstdint>
#include <string>

#include "hoist/device_ops.h"

namespace hoist {

// The author's table at this library's size. Throws Error as hoist_device_register documents.
hoist_device_ops_t checked_table(const hoist_device_ops_t& given);

// Slots that are NULL say HOIST_ERROR_UNSUPPORTED.
hoist_device_ops_t over_stubs(const hoist_device_ops_t& checked);

// Throws Error(DEVICE) that names the slot of a capability that is claimed without.
void check_capabilities(const hoist_device_ops_t& checked, const std::string& name, std::uint64_t capabilities);

}  // namespace hoist
