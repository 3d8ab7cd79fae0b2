// SPDX-License-Identifier: Apache-2.0
// What hoist offers to devices, and the text that a failed slot leaves on the calling thread.
#pragma once

#include <string>

#include "hoist/device_ops.h"

namespace hoist {

const hoist_device_services_t& device_services() noexcept;

struct SlotError {
  std::string message;
  std::string hint;
};

// Takes the text of the calling thread's last error_set; a generic one where that was for another status.
SlotError take_slot_error(hoist_status_t status);

}  // namespace hoist
