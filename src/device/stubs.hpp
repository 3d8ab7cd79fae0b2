// SPDX-License-Identifier: Apache-2.0
// A full table whose every slot says HOIST_ERROR_UNSUPPORTED: the core never tests a slot for NULL.
#pragma once

#include "hoist/device_ops.h"

namespace hoist {

// Checks the author's table and lays it over the stubs. Throws Error as hoist_device_register documents.
hoist_device_ops_t checked_table(const hoist_device_ops_t& given);

}  // namespace hoist
