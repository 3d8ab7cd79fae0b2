/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * @brief How long units compute, wait and have bytes moved for them, over many steps.
 *
 * Reset (begin), go on stepping, update, collect (query). Times are taken by the device's own events, in
 * microseconds (µs).
 */
#ifndef HOIST_TIMING_H
#define HOIST_TIMING_H

#include "hoist/manager.h"

HOIST_BEGIN_DECLS

/**
 * Times of one unit in µs, over the steps that were kept. A unit that runs twice in a step counts by its sum.
 * @since 0.1
 */
typedef struct hoist_unit_timing_t {
  size_t struct_size;        /**< Bytes of this struct that the caller knows. In. */
  uint64_t steps;            /**< Steps that it ran in and that are in these numbers. 0: all times are 0. */
  double compute_min_us;     /**< From the end of its waits to its end. */
  double compute_median_us;  /**< The same. */
  double compute_max_us;     /**< The same. */
  double transfer_min_us;    /**< Copies, both ways, of the tensors whose first unit it is. */
  double transfer_median_us; /**< The same. */
  double transfer_max_us;    /**< The same. */
  double wait_min_us;        /**< Its stream waiting for its bytes: 0 where copies hide behind compute. */
  double wait_median_us;     /**< The same. */
  double wait_max_us;        /**< The same. */
  uint64_t transfer_bytes;   /**< That these copies moved, in the newest of the steps. */
} hoist_unit_timing_t;

/** Initialiser of a ::hoist_unit_timing_t. @since 0.1 */
#define HOIST_UNIT_TIMING_INIT \
  { sizeof(hoist_unit_timing_t), 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0 }

/**
 * @brief Starts collecting for the manager's whole budget, or forgets what has been collected and goes on.
 *
 * An event pair a copy; off by default. Allocates here, and never while steps run.
 * @param step_limit Most steps kept, the newest ones; 0: 1,024.
 * @return HOIST_OK; HOIST_ERROR_INVALID_STATE within a step or before any commit; HOIST_ERROR_INVALID_ARGUMENT for
 *         more than 1,048,576 steps; HOIST_ERROR_OUT_OF_MEMORY; HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 * @externsync @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_timing_begin(hoist_manager_t* manager,
                                                            uint32_t step_limit) HOIST_NOEXCEPT;

/**
 * @brief Takes in the times of all that the device has reached by now; steps do so by themselves as they go on.
 * @return HOIST_OK; HOIST_ERROR_INVALID_STATE where nothing is being collected; HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_timing_update(hoist_manager_t* manager) HOIST_NOEXCEPT;

/**
 * @brief Collects a unit's times, over steps that have ended and were reached at the last update.
 * @param[in,out] out_timing struct_size is read, the rest written.
 * @return HOIST_OK; HOIST_ERROR_INVALID_STATE where nothing is being collected; HOIST_ERROR_NOT_FOUND for an unknown
 *         unit; HOIST_ERROR_INVALID_ARGUMENT; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_timing_query(hoist_manager_t* manager, hoist_unit_t unit,
                                                            hoist_unit_timing_t* out_timing) HOIST_NOEXCEPT;

/**
 * @brief Ends collecting and forgets all. Waits for copies in flight.
 * @return HOIST_OK; HOIST_ERROR_INVALID_STATE within a step, or where nothing is being collected; HOIST_ERROR_DEVICE;
 *         HOIST_ERROR_BUSY.
 * @externsync @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_timing_end(hoist_manager_t* manager) HOIST_NOEXCEPT;

HOIST_END_DECLS

#endif /* HOIST_TIMING_H */
