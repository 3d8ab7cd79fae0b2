/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * @brief Host memory that a device copies from and to at full rate.
 *
 * For a caller's own inputs, outputs and staging. What a manager holds it pins by itself.
 */
#ifndef HOIST_HOST_MEMORY_H
#define HOIST_HOST_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "hoist/device.h"

HOIST_BEGIN_DECLS

/**
 * @brief Takes host memory that is pinned for the device: zeroed, whole pages of exactly the size asked for, on the
 *        device's NUMA node where hwloc knows it.
 *
 * Where the device refuses to pin it the memory is there all the same, pageable: copies are right, but slow and may
 * block. That is said in the log.
 * @param bytes 0 gives NULL.
 * @param[out] out_memory Freed by hoist_host_memory_destroy, or with the device's last close.
 * @param[out] out_pinned 1 when pinned, 0 when pageable. May be NULL.
 * @return HOIST_OK; HOIST_ERROR_OUT_OF_MEMORY; HOIST_ERROR_DEVICE.
 * @threadsafe @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_host_memory_create(hoist_device_t* device, uint64_t bytes,
                                                                  void** out_memory, int* out_pinned) HOIST_NOEXCEPT;

/**
 * @brief Frees what hoist_host_memory_create gave. The caller has made sure that no work uses it. NULL is a no-op.
 * @threadsafe @blocking @since 0.1
 */
HOIST_API void hoist_host_memory_destroy(hoist_device_t* device, void* memory) HOIST_NOEXCEPT;

HOIST_END_DECLS

#endif /* HOIST_HOST_MEMORY_H */
