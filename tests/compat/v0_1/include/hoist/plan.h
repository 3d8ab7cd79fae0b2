/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * @brief Problems and plans: solve, check, simulate, explain, exchange as JSON; replan a manager.
 *
 * The formats and the rules of execution are in doc/design/planner.md. Plans are
 * a pure function of the problem and the effort: equal everywhere, to the byte.
 */
#ifndef HOIST_PLAN_H
#define HOIST_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "hoist/manager.h"

HOIST_BEGIN_DECLS

/** Units, items, links and a budget. Immutable. */
typedef struct hoist_problem_t hoist_problem_t;
/** Residency, ops and places for one problem. Immutable. */
typedef struct hoist_plan_t hoist_plan_t;

/** Options of the planner. @since 0.1 */
typedef struct hoist_plan_options_t {
  size_t struct_size;        /**< sizeof(hoist_plan_options_t). */
  uint32_t effort;           /**< Iterations of search; 0: the default. Part of what decides the plan. */
  uint32_t reserved;         /**< Zero. */
  double time_limit_seconds; /**< 0: none. Past it the call ends with HOIST_ERROR_ABORTED; never a worse plan. */
} hoist_plan_options_t;

/** Initialiser: all defaults. @since 0.1 */
#define HOIST_PLAN_OPTIONS_INIT \
  { sizeof(hoist_plan_options_t), 0, 0, 0.0 }

/**
 * @brief Makes all defaults, for callers without the macro.
 * @param[in,out] out_options struct_size is read, the rest written: never more than the caller has room for.
 * @return HOIST_OK, or HOIST_ERROR_INVALID_ARGUMENT for NULL or a size that cannot be.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_plan_options_init(hoist_plan_options_t* out_options) HOIST_NOEXCEPT;

/** What a plan comes to, predicted or simulated. Times in µs. @since 0.1 */
typedef struct hoist_plan_result_t {
  size_t struct_size;  /**< Bytes of this struct that the caller knows. In. */
  double step_us;      /**< Time of a step in the steady state (single-shot: of the whole). */
  double stall_us;     /**< Of it, compute waiting for bytes or places. */
  double bound_us;     /**< A time that no plan can beat. */
  double windowed_us;  /**< A tighter such time, over windows of units. */
  uint64_t peak_bytes; /**< Most device bytes of items and workspace at once. */
  uint64_t h2d_bytes;  /**< Bytes copied from the host in a step. */
  uint64_t d2h_bytes;  /**< Bytes copied to the host in a step. */
  uint64_t peer_bytes; /**< Bytes copied from peers in a step. */
} hoist_plan_result_t;

/** Initialiser of a ::hoist_plan_result_t. @since 0.1 */
#define HOIST_PLAN_RESULT_INIT \
  { sizeof(hoist_plan_result_t), 0.0, 0.0, 0.0, 0.0, 0, 0, 0, 0 }

/**
 * @brief Reads a problem from JSON.
 * @param json UTF-8, @p bytes long; read during the call only.
 * @param[out] out_problem The caller owns it.
 * @return HOIST_OK; HOIST_ERROR_CORRUPT naming the field and value; HOIST_ERROR_INVALID_ARGUMENT for a problem that
 *         contradicts itself.
 * @threadsafe @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_problem_import(const char* json, size_t bytes,
                                                              hoist_problem_t** out_problem) HOIST_NOEXCEPT;

/**
 * @brief Writes a problem as JSON.
 * @param[in,out] inout_bytes In: room in @p buffer. Out: bytes written, or needed where @p buffer is NULL. No
 *        terminating zero.
 * @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT where the room is too small (the message says how much would do).
 * @threadsafe @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_problem_export(const hoist_problem_t* problem, char* buffer,
                                                              size_t* inout_bytes) HOIST_NOEXCEPT;

/** @brief Frees a problem; plans made from it stay. NULL is a no-op. @threadsafe @nonblocking @since 0.1 */
HOIST_API void hoist_problem_destroy(hoist_problem_t* problem) HOIST_NOEXCEPT;

/**
 * @brief Makes a plan that is valid and never slower than the naive one.
 * @param options NULL for all defaults.
 * @param[out] out_plan The caller owns it.
 * @return HOIST_OK; HOIST_ERROR_INFEASIBLE naming the unit, what it needs and the smallest budget that would do;
 *         HOIST_ERROR_INVALID_ARGUMENT for a time limit that cannot be; HOIST_ERROR_ABORTED at the time limit.
 * @threadsafe @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_plan_solve(const hoist_problem_t* problem,
                                                          const hoist_plan_options_t* options,
                                                          hoist_plan_t** out_plan) HOIST_NOEXCEPT;

/**
 * @brief Reads a plan for a problem from JSON. Call hoist_plan_check to know whether it is valid.
 * @return HOIST_OK; HOIST_ERROR_CORRUPT or HOIST_ERROR_INVALID_PLAN naming the field, item and value.
 * @threadsafe @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_plan_import(const hoist_problem_t* problem, const char* json,
                                                           size_t bytes, hoist_plan_t** out_plan) HOIST_NOEXCEPT;

/**
 * @brief Writes a plan as JSON; buffer rules as in hoist_problem_export.
 * @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT where the room is too small.
 * @threadsafe @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_plan_export(const hoist_plan_t* plan, char* buffer,
                                                           size_t* inout_bytes) HOIST_NOEXCEPT;

/** @brief Frees a plan. NULL is a no-op. @threadsafe @nonblocking @since 0.1 */
HOIST_API void hoist_plan_destroy(hoist_plan_t* plan) HOIST_NOEXCEPT;

/**
 * @brief Checks a plan against a problem: digest, total order, places, and the rules of execution.
 * @return HOIST_OK or HOIST_ERROR_INVALID_PLAN naming the op or unit and why.
 * @threadsafe @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_plan_check(const hoist_problem_t* problem,
                                                          const hoist_plan_t* plan) HOIST_NOEXCEPT;

/**
 * @brief Runs a plan by the rules of execution, without a device.
 * @param trace_path NULL, or where to write a Chrome trace of the last simulated step.
 * @param[in,out] out_result struct_size is read, the rest written.
 * @return HOIST_OK; HOIST_ERROR_INVALID_PLAN; HOIST_ERROR_IO.
 * @threadsafe @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_plan_simulate(const hoist_problem_t* problem, const hoist_plan_t* plan,
                                                             const char* trace_path,
                                                             hoist_plan_result_t* out_result) HOIST_NOEXCEPT;

/**
 * @brief Gives times that no plan of the problem can beat, and the bytes that must cross.
 * @param[in,out] out_result struct_size is read; bound_us and step_us are the bound, windowed_us the tighter one,
 *        bytes the least ones, the rest 0.
 * @return HOIST_OK or HOIST_ERROR_INVALID_ARGUMENT.
 * @threadsafe @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_plan_bound(const hoist_problem_t* problem,
                                                          hoist_plan_result_t* out_result) HOIST_NOEXCEPT;

/**
 * @brief Says for every item, one line each, why it stays or moves; buffer rules as in hoist_problem_export.
 * @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT where the room is too small; HOIST_ERROR_INVALID_PLAN where the plan
 *         names an item that the problem lacks.
 * @threadsafe @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_plan_explain(const hoist_problem_t* problem, const hoist_plan_t* plan,
                                                            char* buffer, size_t* inout_bytes) HOIST_NOEXCEPT;

/**
 * @brief Gives the present problem of the manager's whole budget: measured units and links, all managers' items.
 * @param[out] out_problem A snapshot that the caller owns.
 * @return HOIST_OK; HOIST_ERROR_INVALID_STATE before the commit; HOIST_ERROR_BUSY.
 * @externsync @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_manager_get_problem(hoist_manager_t* manager,
                                                                   hoist_problem_t** out_problem) HOIST_NOEXCEPT;

/**
 * @brief Gives the plan that the manager's whole budget serves.
 * @param[out] out_plan A snapshot that the caller owns, for the problem of hoist_manager_get_problem.
 * @return As hoist_manager_get_problem.
 * @externsync @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_manager_get_plan(hoist_manager_t* manager,
                                                                hoist_plan_t** out_plan) HOIST_NOEXCEPT;

/**
 * @brief Times the units of each of the next steps, so that a plan asked for after them is made of new times.
 *
 * A plan is made of the last eight times of each unit. While serving one step in eight is timed by itself, and each of
 * eight where the plan or the times of units are new.
 * @param steps Steps, replays apart; 0: 8.
 * @return HOIST_OK; HOIST_ERROR_INVALID_STATE before the commit or within a step; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_replan_prepare(hoist_manager_t* manager, uint32_t steps) HOIST_NOEXCEPT;

/**
 * @brief Asks for another plan of the manager's whole budget; the next step's begin swaps it in, whole or not at all.
 *
 * With NULL and NULL the manager plans anew from what it has measured since. With a problem and a plan of the
 * caller's: the problem must have the manager's units, items, sizes and alignment, and a budget within its own;
 * times may differ. Everything is checked here, and the old plan goes on where anything fails.
 * @return HOIST_OK; HOIST_ERROR_INVALID_PLAN; HOIST_ERROR_INVALID_ARGUMENT for a problem that is not the manager's,
 *         naming the first difference; HOIST_ERROR_INFEASIBLE; HOIST_ERROR_OUT_OF_MEMORY; HOIST_ERROR_DEVICE;
 *         HOIST_ERROR_INVALID_STATE before discovery has ended, within a step, or while suspended; HOIST_ERROR_BUSY.
 * @externsync @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_replan_request(hoist_manager_t* manager, const hoist_problem_t* problem,
                                                              const hoist_plan_t* plan) HOIST_NOEXCEPT;

/** What became of a replan. @since 0.1 */
typedef enum hoist_replan_state_t {
  HOIST_REPLAN_NONE = 0,             /**< None was asked for, or the last one is done. */
  HOIST_REPLAN_PENDING = 1,          /**< The next step's begin will swap. */
  HOIST_REPLAN_APPLIED = 2,          /**< The last one has been swapped in. */
  HOIST_REPLAN_FAILED = 3,           /**< The last one failed; the old plan goes on. */
  HOIST_REPLAN_FORCE_32 = 0x7fffffff /**< Fixes the size of the enum. */
} hoist_replan_state_t;

/** How replans stand; reading changes nothing. @since 0.1 */
typedef struct hoist_replan_status_t {
  size_t struct_size;         /**< Bytes of this struct that the caller knows. In. */
  hoist_replan_state_t state; /**< Of the last request. */
  uint32_t can_request;       /**< 1 where hoist_replan_request is allowed now. */
  uint64_t applied;           /**< Of those requested (a changed budget is one), how many have been swapped in. */
  const char* reason;         /**< Why the last one failed, or ""; valid until the manager's next call. */
} hoist_replan_status_t;

/** Initialiser of a ::hoist_replan_status_t. @since 0.1 */
#define HOIST_REPLAN_STATUS_INIT \
  { sizeof(hoist_replan_status_t), HOIST_REPLAN_NONE, 0, 0, "" }

/**
 * @brief Reads how replans stand.
 * @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_replan_query(const hoist_manager_t* manager,
                                                            hoist_replan_status_t* out_status) HOIST_NOEXCEPT;

HOIST_END_DECLS

#endif /* HOIST_PLAN_H */
