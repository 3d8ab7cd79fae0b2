// SPDX-License-Identifier: Apache-2.0
// The calling thread's last failure. Written on failure only, so that clean-up cannot erase it.
#pragma once

#include <cstdint>
#include <string>

#include "hoist/status.h"

namespace hoist {

struct ErrorRecord {
  std::uint64_t number = 0;  // grows with every record of the thread
  hoist_status_t code = HOIST_OK;
  std::string message;
  std::string where;
  std::string hint;
};

const ErrorRecord& error_record() noexcept;

// Where memory runs out while recording, the code stays right and the strings are dropped.
void record_error(hoist_status_t code, const char* message, const char* where, const char* hint) noexcept;

// "HOIST_ERROR_BUSY"; "HOIST_ERROR_UNKNOWN" for what is no status.
const char* status_name(hoist_status_t status) noexcept;

}  // namespace hoist
