/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * @brief The timeline: when units computed and waited, when copies ran.
 */
#ifndef HOIST_TRACE_H
#define HOIST_TRACE_H

#include "hoist/manager.h"

HOIST_BEGIN_DECLS

/**
 * @brief Starts recording the manager's whole budget: one event pair an op, kept up to @p event_limit intervals.
 *
 * All managers of the budget are in it, and any of them may end it. Waits for stores in flight.
 * Recording allocates; it is off by default. What does not fit any more is counted and reported in the export.
 * @param event_limit Most intervals kept; 0: 1,000,000.
 * @return HOIST_OK; HOIST_ERROR_INVALID_STATE within a step, before any commit, or when recording already;
 *         HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 * @externsync @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_trace_begin(hoist_manager_t* manager,
                                                           uint64_t event_limit) HOIST_NOEXCEPT;

/**
 * @brief Ends recording, waits for recorded work and writes Chrome trace JSON, which Perfetto opens.
 *
 * Rows: compute, waits, h2d, d2h; each interval names its unit or tensor, bytes, step and reason.
 * @param path File to write; NULL drops what was recorded.
 * @return HOIST_OK; HOIST_ERROR_IO (what was recorded is kept: try another path); HOIST_ERROR_INVALID_STATE within a
 *         step or when not recording; HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 * @externsync @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_trace_end(hoist_manager_t* manager, const char* path) HOIST_NOEXCEPT;

HOIST_END_DECLS

#endif /* HOIST_TRACE_H */
