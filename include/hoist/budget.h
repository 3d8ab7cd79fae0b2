/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * @brief The one byte budget of a device that managers, state sets and pools join.
 *
 * Whoever joins attaches items to the same sequence of units: there is one arena,
 * one set of links, one plan. Sizes are bytes, times are microseconds (µs).
 */
#ifndef HOIST_BUDGET_H
#define HOIST_BUDGET_H

#include <stddef.h>
#include <stdint.h>

#include "hoist/device.h"

HOIST_BEGIN_DECLS

/** A budget over one device. */
typedef struct hoist_budget_t hoist_budget_t;

/** A setting that is on, off, or what the environment says. @since 0.1 */
typedef enum hoist_switch_t {
  HOIST_SWITCH_DEFAULT = 0,          /**< What the environment says, else off. */
  HOIST_SWITCH_OFF = 1,              /**< Off. */
  HOIST_SWITCH_ON = 2,               /**< On. */
  HOIST_SWITCH_FORCE_32 = 0x7fffffff /**< Fixes the size of the enum. */
} hoist_switch_t;

/** Where tensors lie on the device. @since 0.1 */
typedef enum hoist_placement_t {
  HOIST_PLACEMENT_DEFAULT = 0,          /**< What the environment says, else in an arena. */
  HOIST_PLACEMENT_ARENA = 1,            /**< Where the plan says; the same in every step of one plan. */
  HOIST_PLACEMENT_SLOTS = 2,            /**< At one address each from commit to destroy; memory is mapped behind it in
                                             whole blocks, so small, shared and written tensors stay. Where the device
                                             maps no addresses: in an arena, which is logged. */
  HOIST_PLACEMENT_FORCE_32 = 0x7fffffff /**< Fixes the size of the enum. */
} hoist_placement_t;

/** hoist_budget_options_t::profile_steps for none: serve with the first plan's guesses. @since 0.1 */
#define HOIST_PROFILE_STEPS_NONE 0xffffffffu

/**
 * Options of a budget; a zeroed struct with its size is all defaults. Each field is also a key of
 * hoist_budget_options_set and, as HOIST_<KEY>, an environment variable that sets its default.
 * @since 0.1
 */
typedef struct hoist_budget_options_t {
  size_t struct_size;          /**< sizeof(hoist_budget_options_t). */
  uint64_t budget_bytes;       /**< Device bytes for managed tensors and the largest workspace; 0: by share. */
  double budget_share;         /**< Share of the managed tensors' unique bytes, each rounded up to the device's
                                    alignment (plus the largest workspace), at most 1; 0: 1.0, so that all stays. */
  uint64_t pinned_limit_bytes; /**< Most bytes of pinned host memory; 0: no limit. */
  uint32_t profile_steps;      /**< Steps measured between discovery and serving; 0: 7, so that one slow
                                    step does not decide the plan. */
  uint32_t run_ahead_steps;    /**< Steps that may be submitted ahead of the device; step begin waits beyond. 0: 2. */
  uint32_t plan_effort;        /**< Iterations of the planner's search; 0: the planner's default. */
  hoist_switch_t trust;        /**< Trust mode: poison freed places, check resident bytes and handles. Key "trust". */
  hoist_placement_t placement; /**< Where tensors lie: key "placement", "arena" or "slots". In slots a share is of the
                                    bytes in whole blocks. */
} hoist_budget_options_t;

/** Initialiser: all defaults. @since 0.1 */
#define HOIST_BUDGET_OPTIONS_INIT \
  { sizeof(hoist_budget_options_t), 0, 0.0, 0, 0, 0, 0, HOIST_SWITCH_DEFAULT, HOIST_PLACEMENT_DEFAULT }

/**
 * @brief Makes all defaults, for callers without the macro.
 * @param[in,out] out_options struct_size is read, the rest written: never more than the caller has room for.
 * @return HOIST_OK, or HOIST_ERROR_INVALID_ARGUMENT for NULL or a size that cannot be.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_budget_options_init(hoist_budget_options_t* out_options) HOIST_NOEXCEPT;

/**
 * @brief Sets an option by name.
 *
 * "budget" takes bytes ("24GiB", "1000000") or a share ("60%"); the other keys are the fields' names.
 * @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT for an unknown key (with the nearest known one), a bad value, or
 *         options that would contradict each other.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_budget_options_set(hoist_budget_options_t* options, const char* key,
                                                                  const char* value) HOIST_NOEXCEPT;

/**
 * @brief Creates a budget over a device, which it keeps alive.
 * @param options NULL for all defaults.
 * @param[out] out_budget The caller owns one reference.
 * @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT for options that cannot be, an environment value that cannot be,
 *         or an unknown HOIST_ environment name (with the nearest known one).
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_budget_create(hoist_device_t* device,
                                                             const hoist_budget_options_t* options,
                                                             hoist_budget_t** out_budget) HOIST_NOEXCEPT;

/**
 * @brief Gives the reference back; what has joined keeps the budget alive. NULL is a no-op.
 * @threadsafe @blocking @since 0.1
 */
HOIST_API void hoist_budget_destroy(hoist_budget_t* budget) HOIST_NOEXCEPT;

/**
 * @brief Changes the budget at run time.
 *
 * The new plan is made and checked, and its memory taken, before the call returns; the next step's begin
 * swaps. Where anything fails the old budget and plan go on. A larger budget's memory is held beside the old one's
 * until the swap; a smaller one's is taken at the swap, when the old one's has gone. Before the first commit it is
 * noted, and checked then.
 * @param budget_bytes New budget; 0: use @p budget_share.
 * @param budget_share New share, at most 1; exactly one of the two is 0.
 * @return HOIST_OK; HOIST_ERROR_INFEASIBLE naming the smallest budget that would do; HOIST_ERROR_OUT_OF_MEMORY;
 *         HOIST_ERROR_INVALID_ARGUMENT for both, neither, or a share that cannot be; HOIST_ERROR_INVALID_STATE between
 *         a step's begin and end, or while suspended; HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 * @externsync @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_budget_set(hoist_budget_t* budget, uint64_t budget_bytes,
                                                          double budget_share) HOIST_NOEXCEPT;

/**
 * @brief Counts device bytes that the caller keeps outside of hoist against the budget of all who joined.
 *
 * What is reserved adds up, whoever asked; each gives back what it took with hoist_budget_release. A budget of bytes
 * leaves tensors and workspaces so much less: the new plan is made as by hoist_budget_set, and the next step's begin
 * swaps. A share is of the managed tensors, beside which reserved bytes lie: nothing is planned anew.
 * @param bytes More bytes; 0 changes nothing.
 * @return As hoist_budget_set, HOIST_ERROR_INFEASIBLE naming the smallest budget that would do with what is reserved;
 *         HOIST_ERROR_INVALID_ARGUMENT where all together would not be a number of bytes. Nothing is reserved then.
 * @externsync @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_budget_reserve(hoist_budget_t* budget, uint64_t bytes) HOIST_NOEXCEPT;

/**
 * @brief Gives reserved bytes back to the budget.
 *
 * The new plan is made as by hoist_budget_set. Within a step, while suspended or while another thread is inside the
 * budget, or where it cannot be made, the bytes are given back all the same, and plans of the next hoist_budget_set,
 * _reserve or _release use them.
 * @param bytes Of those reserved; 0 changes nothing.
 * @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT for more than is reserved.
 * @threadsafe @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_budget_release(hoist_budget_t* budget, uint64_t bytes) HOIST_NOEXCEPT;

/** Where the lifecycle stands. @since 0.1 */
typedef enum hoist_phase_t {
  HOIST_PHASE_BUILDING = 0,         /**< Units and tensors are being added. */
  HOIST_PHASE_DISCOVERY = 1,        /**< The next step shows the order of units. */
  HOIST_PHASE_PROFILING = 2,        /**< Steps are measured under a first plan. */
  HOIST_PHASE_SERVING = 3,          /**< Steps run a plan made from measured times. */
  HOIST_PHASE_SUSPENDED = 4,        /**< Device memory has been given back; resume goes on. */
  HOIST_PHASE_FORCE_32 = 0x7fffffff /**< Fixes the size of the enum. */
} hoist_phase_t;

/** Counts and sizes; counts run from the commit. @since 0.1 */
typedef struct hoist_budget_status_t {
  size_t struct_size;           /**< Bytes of this struct that the caller knows. In. */
  hoist_phase_t phase;          /**< Where the lifecycle stands. */
  uint32_t unit_count;          /**< Units of all that joined. */
  uint64_t tensor_count;        /**< Tensors (aliases apart) of all that joined. */
  uint64_t tensor_bytes;        /**< Unique bytes of these, each rounded up to the device's alignment. */
  uint64_t budget_bytes;        /**< The budget in force, less what of it was reserved when its plan was made. */
  uint64_t arena_bytes;         /**< Device memory held for tensors, a waiting plan's included. */
  uint64_t peak_bytes;          /**< Measured: most arena bytes that tensors had at once since the present plan
                                     was swapped in or resumed. */
  uint64_t pinned_bytes;        /**< Pinned host memory held. */
  uint64_t adopted_bytes;       /**< Host memory of callers that is registered where it is. */
  uint64_t steps;               /**< Steps ended, aborted ones included. */
  uint64_t aborted_steps;       /**< Steps aborted. */
  uint64_t mispredictions;      /**< Units begun out of the planned order, after discovery. */
  uint64_t demand_loads;        /**< Loads that no plan had asked for, after discovery. */
  uint64_t replans;             /**< Plans swapped in after the first. */
  uint64_t h2d_bytes;           /**< Bytes copied from the host. */
  uint64_t d2h_bytes;           /**< Bytes copied to the host. */
  uint64_t last_step_h2d_bytes; /**< Of the last ended step: bytes submitted between its begin and its end. */
  uint64_t last_step_d2h_bytes; /**< The same, to the host. */
  double predicted_step_us;     /**< Of the present plan. */
  double bound_us;              /**< A time that no plan can beat, for the present problem. */
  double last_step_us;          /**< Of the newest step whose end has been reached: from its begin to the next begin's
                                     place on the device, that is the period of steps. 0: none yet. */
  double last_stall_us;         /**< Waiting for bytes in the newest step whose units were timed. While serving that is
                                     one step in eight, and each of eight where the plan or the times of units are new. */
  uint64_t pageable_bytes;      /**< Of pinned_bytes and adopted_bytes, what the device refused to pin: copies of it are
                                     right, but slow. */
  uint64_t refused_ops;         /**< Ops of a plan that the device refused, and that were made up for later. */
  uint64_t steps_before_serving; /**< Steps that must end well until a plan made from measured times is served; 0: it is
                                      served, or the next step's begin swaps it in. */
  uint64_t reserved_bytes;       /**< Of hoist_budget_reserve, all callers together. */
} hoist_budget_status_t;

/** Initialiser of a ::hoist_budget_status_t. @since 0.1 */
#define HOIST_BUDGET_STATUS_INIT                                                                                      \
  {                                                                                                                   \
    sizeof(hoist_budget_status_t), HOIST_PHASE_BUILDING, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, 0.0, \
        0.0, 0.0, 0, 0, 0, 0                                                                                          \
  }

/**
 * @brief Reads counts and sizes; changes nothing.
 * @param[in,out] out_status struct_size is read, the rest written.
 * @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT; HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_budget_query(const hoist_budget_t* budget,
                                                            hoist_budget_status_t* out_status) HOIST_NOEXCEPT;

HOIST_END_DECLS

#endif /* HOIST_BUDGET_H */
