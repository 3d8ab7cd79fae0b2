/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * @brief Version of the library and of its ABI.
 */
#ifndef HOIST_VERSION_H
#define HOIST_VERSION_H

#include <stdint.h>

#include "hoist/export.h"

HOIST_BEGIN_DECLS

#define HOIST_VERSION_MAJOR 0 /**< Major of the package. */
#define HOIST_VERSION_MINOR 1 /**< Minor of the package. */
#define HOIST_VERSION_PATCH 0 /**< Patch of the package. */

/** ABI level that these headers describe; a level only ever adds. @since 0.1 */
#define HOIST_ABI_VERSION 1

/**
 * @brief Returns the version of the loaded library, such as "0.1.0".
 * @return A static string, never NULL.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API const char* hoist_version_string(void) HOIST_NOEXCEPT;

/**
 * @brief Returns the highest ABI level that the loaded library serves.
 * @return A number of at least 1; compare it with HOIST_ABI_VERSION.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API uint32_t hoist_version_abi(void) HOIST_NOEXCEPT;

HOIST_END_DECLS

#endif /* HOIST_VERSION_H */
