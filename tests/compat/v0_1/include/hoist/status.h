/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * @brief Statuses, the error record of the calling thread, the log callback.
 *
 * Every call that can fail returns a ::hoist_status_t. On failure its out
 * parameters are untouched and the calling thread's error record says what
 * happened to which object and what would do. Success never touches the record.
 *
 * An @return lists what is the call's own. Besides, any call may return
 * HOIST_ERROR_INVALID_ARGUMENT (NULL, a handle of another kind, a struct_size that
 * cannot be), HOIST_ERROR_INVALID_STATE (a destroyed handle), HOIST_ERROR_FORKED,
 * HOIST_ERROR_OUT_OF_MEMORY (of the host) and HOIST_ERROR_INTERNAL. What is listed as
 * HOIST_ERROR_DEVICE may come as the closer status that the device's table returned.
 */
#ifndef HOIST_STATUS_H
#define HOIST_STATUS_H

#include <stddef.h>
#include <stdint.h>

#include "hoist/export.h"

HOIST_BEGIN_DECLS

/** What a call came to. 0 is success; the numbers never change. @since 0.1 */
typedef enum hoist_status_t {
  HOIST_OK = 0,                      /**< Done. */
  HOIST_ERROR_INVALID_ARGUMENT = 1,  /**< An argument, option or name has a value that cannot be. */
  HOIST_ERROR_INVALID_STATE = 2,     /**< The object is not in a state that allows the call. */
  HOIST_ERROR_NOT_FOUND = 3,         /**< No device, unit, tensor, file or name like that. */
  HOIST_ERROR_ALREADY_EXISTS = 4,    /**< A name is taken, or the thing was done before. */
  HOIST_ERROR_UNSUPPORTED = 5,       /**< This device or build cannot do it. */
  HOIST_ERROR_OUT_OF_MEMORY = 6,     /**< Host, pinned or device memory was refused. */
  HOIST_ERROR_INFEASIBLE = 7,        /**< No plan fits the budget; the message names one that would do. */
  HOIST_ERROR_BUSY = 8,              /**< Another thread is inside the same object. */
  HOIST_ERROR_ORDER = 9,             /**< Calls or ops came in an order that is not allowed. */
  HOIST_ERROR_STALE = 10,            /**< The bytes asked for are gone or older than the live ones. */
  HOIST_ERROR_FORKED = 11,           /**< The handle belongs to the parent process. */
  HOIST_ERROR_IO = 12,               /**< The operating system refused a file operation. */
  HOIST_ERROR_CORRUPT = 13,          /**< A file or document contradicts itself or its format. */
  HOIST_ERROR_INVALID_PLAN = 14,     /**< A plan breaks the rules of execution. */
  HOIST_ERROR_DEVICE = 15,           /**< The device reported a failure. */
  HOIST_ERROR_ABORTED = 16,          /**< Given up on request or at a time limit. */
  HOIST_ERROR_INTERNAL = 17,         /**< A defect of hoist itself; please report it. */
  HOIST_STATUS_FORCE_32 = 0x7fffffff /**< Fixes the size of the enum; never returned. */
} hoist_status_t;

/** The error record of a thread. All strings are UTF-8, never NULL. @since 0.1 */
typedef struct hoist_error_t {
  size_t struct_size;  /**< Bytes of this struct that the caller knows. In. */
  hoist_status_t code; /**< Status of the call that failed last on this thread. */
  uint32_t reserved;   /**< Zero. */
  const char* message; /**< What happened: the object, the value it got. */
  const char* where;   /**< The public call that failed. */
  const char* hint;    /**< What would do; empty where nothing is known. */
} hoist_error_t;

/** Initialiser of a ::hoist_error_t. @since 0.1 */
#define HOIST_ERROR_INIT \
  { sizeof(hoist_error_t), HOIST_OK, 0, "", "", "" }

/**
 * @brief Returns a status's name, such as "HOIST_ERROR_BUSY".
 * @param status Any value.
 * @return A static string, never NULL; "HOIST_ERROR_UNKNOWN" for an unknown value.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API const char* hoist_status_string(hoist_status_t status) HOIST_NOEXCEPT;

/**
 * @brief Reads the error record of the calling thread.
 *
 * Only failures write the record, so clean-up calls do not erase it. Before the
 * first failure the code is HOIST_OK and the strings are empty.
 * @param[in,out] out_error struct_size is read; the rest is written. The strings
 *        belong to the library and live until the next failure on this thread.
 * @return HOIST_OK, or HOIST_ERROR_INVALID_ARGUMENT for NULL or a struct_size that is too small.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_last_error(hoist_error_t* out_error) HOIST_NOEXCEPT;

/** How much a log message matters. @since 0.1 */
typedef enum hoist_log_level_t {
  HOIST_LOG_DEBUG = 0,            /**< For those who look into hoist. */
  HOIST_LOG_INFO = 1,             /**< What was decided: a plan, a replan, a phase. */
  HOIST_LOG_WARNING = 2,          /**< A slower right path was taken, or something has no effect. */
  HOIST_LOG_ERROR = 3,            /**< Something failed where no caller could be told. */
  HOIST_LOG_OFF = 4,              /**< As a threshold: nothing. */
  HOIST_LOG_FORCE_32 = 0x7fffffff /**< Fixes the size of the enum. */
} hoist_log_level_t;

/**
 * A log callback. Called on whichever thread has something to say, with no lock
 * of hoist held; it may be called from several threads at once. @p message is
 * valid during the call only. @since 0.1
 */
typedef void (*hoist_log_fn_t)(void* user_data, hoist_log_level_t level, const char* message);

/**
 * @brief Sets the process-wide log callback.
 *
 * The default writes warnings and errors to stderr. The environment variable
 * HOIST_LOG (debug, info, warning, error, off) sets the default threshold.
 * @param threshold Messages below it are not formatted.
 * @param callback NULL restores the default sink.
 * @param user_data Passed to the callback; stays the caller's and must outlive its use.
 * @return HOIST_OK, or HOIST_ERROR_INVALID_ARGUMENT for an unknown threshold.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_log_set(hoist_log_level_t threshold, hoist_log_fn_t callback,
                                                       void* user_data) HOIST_NOEXCEPT;

HOIST_END_DECLS

#endif /* HOIST_STATUS_H */
