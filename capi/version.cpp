// SPDX-License-Identifier: Apache-2.0
#include "hoist/version.h"

#define HOIST_TEXT_OF(value) #value
#define HOIST_TEXT(value) HOIST_TEXT_OF(value)

const char* hoist_version_string(void) noexcept {
  return HOIST_TEXT(HOIST_VERSION_MAJOR) "." HOIST_TEXT(HOIST_VERSION_MINOR) "." HOIST_TEXT(HOIST_VERSION_PATCH);
}

uint32_t hoist_version_abi(void) noexcept { return HOIST_ABI_VERSION; }
