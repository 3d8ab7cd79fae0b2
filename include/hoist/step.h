/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * @brief Steps: begin, any order of unit begin and end, end or abort.
 *
 * Begins and ends of units, and a step's begin, are ordered on the stream that they
 * name. In the steady state nothing here waits on the host or allocates, but for a
 * step's begin beyond run_ahead_steps; a step's end waits where a plan is due.
 */
#ifndef HOIST_STEP_H
#define HOIST_STEP_H

#include <stddef.h>
#include <stdint.h>

#include "hoist/manager.h"

HOIST_BEGIN_DECLS

/** A tensor on the device, during its unit. @since 0.1 */
typedef struct hoist_tensor_view_t {
  void* data;            /**< Device pointer, aligned to the device's alignment. Ordered on the unit's stream. */
  uint64_t bytes;        /**< Its size. */
  hoist_tensor_t tensor; /**< Which one. */
  hoist_use_mode_t mode; /**< What the unit said that it does with it. */
} hoist_tensor_view_t;

/** A unit's tensors, in the order in which uses were added. Belongs to the manager until the unit's end. @since 0.1 */
typedef struct hoist_unit_view_t {
  size_t struct_size;                 /**< Bytes of this struct that the caller knows. In. */
  size_t count;                       /**< Tensors. */
  size_t stride;                      /**< Bytes from one ::hoist_tensor_view_t to the next. */
  const hoist_tensor_view_t* tensors; /**< The first. NULL for none. */
} hoist_unit_view_t;

/** Initialiser of a ::hoist_unit_view_t. @since 0.1 */
#define HOIST_UNIT_VIEW_INIT \
  { sizeof(hoist_unit_view_t), 0, 0, NULL }

/**
 * @brief Begins a step of the manager's budget.
 *
 * Waits on the host where more than run_ahead_steps are in flight. A requested plan is swapped in here.
 * @param stream Of the same device; the step's work is ordered on it until a unit names another.
 * @return HOIST_OK; HOIST_ERROR_INVALID_STATE (a manager has not committed, suspended, a step is open);
 *         HOIST_ERROR_INVALID_ARGUMENT for another device's stream; HOIST_ERROR_OUT_OF_MEMORY for the first plan's
 *         memory or that of one that goes on; HOIST_ERROR_INFEASIBLE after another manager has left;
 *         HOIST_ERROR_CORRUPT in trust mode, for bytes that a unit changed without saying so; HOIST_ERROR_DEVICE;
 *         HOIST_ERROR_BUSY.
 * @externsync @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_step_begin(hoist_manager_t* manager,
                                                          hoist_stream_t* stream) HOIST_NOEXCEPT;

/**
 * @brief Begins a unit: the stream waits, on the device, for the unit's bytes.
 *
 * A unit other than the planned next one is served by loading on demand, and counted.
 * @param[in,out] out_view struct_size is read; device pointers, good until the unit's end.
 * @return HOIST_OK; HOIST_ERROR_ORDER where a unit is open or no step is; HOIST_ERROR_NOT_FOUND;
 *         HOIST_ERROR_STALE where it reads a transient that this step has not written or that is past its last use;
 *         HOIST_ERROR_INVALID_ARGUMENT for another device's stream; HOIST_ERROR_OUT_OF_MEMORY where bytes that make
 *         room need host memory; HOIST_ERROR_CORRUPT as hoist_step_begin; HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_unit_begin(hoist_manager_t* manager, hoist_unit_t unit,
                                                          hoist_stream_t* stream,
                                                          hoist_unit_view_t* out_view) HOIST_NOEXCEPT;

/**
 * @brief Ends a unit: once the stream gets here its places may be refilled and its writes stored.
 * @param stream The one that the unit began on.
 * @return HOIST_OK; HOIST_ERROR_ORDER where another unit or none is open, or on another stream; HOIST_ERROR_NOT_FOUND;
 *         HOIST_ERROR_INVALID_ARGUMENT for another device's stream; HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_unit_end(hoist_manager_t* manager, hoist_unit_t unit,
                                                        hoist_stream_t* stream) HOIST_NOEXCEPT;

/**
 * @brief Ends the step; units that did not run count as skipped.
 *
 * At the end of discovery and of profiling it waits for the device; then, and where another order of units has come
 * twice, it plans on the host, which takes as long as hoist_plan_solve. A plan that cannot be made is logged, and the
 * old one goes on.
 * @param stream Checked to be of the device; orders nothing.
 * @return HOIST_OK; HOIST_ERROR_ORDER where a unit or no step is open; HOIST_ERROR_INVALID_ARGUMENT for another
 *         device's stream; HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 * @externsync @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_step_end(hoist_manager_t* manager,
                                                        hoist_stream_t* stream) HOIST_NOEXCEPT;

/**
 * @brief Gives the step up after an error in the user's compute.
 *
 * An open unit counts as ended with its writes done, the rest as skipped. The next step goes on as usual.
 * @param stream Checked to be of the device; orders nothing.
 * @return HOIST_OK; HOIST_ERROR_ORDER where no step is open; HOIST_ERROR_INVALID_ARGUMENT for another device's stream;
 *         HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_step_abort(hoist_manager_t* manager,
                                                          hoist_stream_t* stream) HOIST_NOEXCEPT;

HOIST_END_DECLS

#endif /* HOIST_STEP_H */
