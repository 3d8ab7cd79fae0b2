/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * @brief The manager: units of compute, their tensors, and steps over them.
 *
 * Life: create, add units and tensors, commit, then steps for ever. A step is
 * begin, any order of unit begin and end, end. The first steps discover the order
 * and measure; then a plan is made and served. One thread at a time per manager
 * and budget; a second one gets HOIST_ERROR_BUSY.
 */
#ifndef HOIST_MANAGER_H
#define HOIST_MANAGER_H

#include <stddef.h>
#include <stdint.h>

#include "hoist/budget.h"
#include "hoist/device.h"

HOIST_BEGIN_DECLS

/** Units and tensors that move under one budget. */
typedef struct hoist_manager_t hoist_manager_t;
/** Index of a unit in its manager, from 0 in the order of adding. */
typedef uint32_t hoist_unit_t;
/** Index of a tensor in its manager, from 0 in the order of adding; aliases share it. */
typedef uint32_t hoist_tensor_t;

/** Options of a manager. @since 0.1 */
typedef struct hoist_manager_options_t {
  size_t struct_size;     /**< sizeof(hoist_manager_options_t). */
  hoist_budget_t* budget; /**< The budget to join; NULL: one of its own with that device's defaults. Kept alive. */
} hoist_manager_options_t;

/** Initialiser: all defaults. @since 0.1 */
#define HOIST_MANAGER_OPTIONS_INIT \
  { sizeof(hoist_manager_options_t), NULL }

/**
 * @brief Makes all defaults, for callers without the macro.
 * @param[in,out] out_options struct_size is read, the rest written: never more than the caller has room for.
 * @return HOIST_OK, or HOIST_ERROR_INVALID_ARGUMENT for NULL or a size that cannot be.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_manager_options_init(hoist_manager_options_t* out_options)
    HOIST_NOEXCEPT;

/** What a unit does with a tensor. @since 0.1 */
typedef enum hoist_use_mode_t {
  HOIST_USE_READ = 0,             /**< Reads it. */
  HOIST_USE_WRITE = 1,            /**< Writes all of it; what was there is not needed. */
  HOIST_USE_READ_WRITE = 2,       /**< Reads and writes. */
  HOIST_USE_FORCE_32 = 0x7fffffff /**< Fixes the size of the enum. */
} hoist_use_mode_t;

/** What a tensor is, for people: it names, and never changes how it moves. @since 0.1 */
typedef enum hoist_tensor_class_t {
  HOIST_CLASS_WEIGHT = 0,           /**< A model's weight. */
  HOIST_CLASS_STATE = 1,            /**< An optimizer's state. */
  HOIST_CLASS_ACTIVATION = 2,       /**< An activation. */
  HOIST_CLASS_FORCE_32 = 0x7fffffff /**< Fixes the size of the enum. */
} hoist_tensor_class_t;

/** How a tensor's host bytes are held. Exactly one. @since 0.1 */
typedef enum hoist_tensor_flags_t {
  HOIST_TENSOR_COPY = 1,      /**< Packed into pinned memory at commit; `host` may go then (see `release`). */
  HOIST_TENSOR_ADOPT = 2,     /**< `host` is registered where it is and stays valid until destroy. It is the host copy:
                                   stores write into it. */
  HOIST_TENSOR_TRANSIENT = 4, /**< Has no host bytes: does not exist before its first use in a step, which must write
                                   it, nor after its last. `host` is NULL. */
  HOIST_TENSOR_ZERO = 8,      /**< As COPY of zeros, without a source. `host` is NULL. */
  HOIST_TENSOR_FLAGS_FORCE_32 = 0x7fffffff /**< Fixes the size of the enum. */
} hoist_tensor_flags_t;

/** Called when a tensor's bytes have been packed and `host` is not needed any more. On the committing thread. */
typedef void (*hoist_release_fn_t)(void* user_data);

/** A tensor to add. @since 0.1 */
typedef struct hoist_tensor_desc_t {
  size_t struct_size;                /**< sizeof(hoist_tensor_desc_t). */
  const char* name;                  /**< Unique among the manager's names; copied. */
  uint64_t bytes;                    /**< 0 is allowed. */
  void* host;                        /**< Its bytes; see the flags. Only an adopted tensor's are ever written. */
  uint32_t flags;                    /**< One of ::hoist_tensor_flags_t. */
  hoist_use_mode_t mode;             /**< What the unit that it is added to does with it. */
  hoist_tensor_class_t tensor_class; /**< For people. */
  uint32_t reserved;                 /**< Zero. */
  hoist_release_fn_t release; /**< Optional, COPY only: called once, unit by unit during commit, or at destroy. */
  void* user_data;            /**< Passed to release. */
} hoist_tensor_desc_t;

/** Initialiser: fields may be set after it. @since 0.1 */
#define HOIST_TENSOR_DESC_INIT \
  { sizeof(hoist_tensor_desc_t), NULL, 0, NULL, 0, HOIST_USE_READ, HOIST_CLASS_WEIGHT, 0, NULL, NULL }

/**
 * @brief Creates a manager.
 * @param device Where its tensors go; must be the budget's device where options name a budget. Kept alive.
 * @param options NULL for all defaults.
 * @param[out] out_manager The caller owns it.
 * @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT for a budget of another device, or an environment that cannot be;
 *         HOIST_ERROR_INVALID_STATE where the budget's steps have begun; HOIST_ERROR_BUSY.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_manager_create(hoist_device_t* device,
                                                              const hoist_manager_options_t* options,
                                                              hoist_manager_t** out_manager) HOIST_NOEXCEPT;

/**
 * @brief Waits for the manager's work and frees all it has. Dirty bytes of adopted tensors are stored first.
 *
 * An open step is given up, unless other managers of the budget can end it and no tensor is adopted: then the step
 * goes on without the manager, which goes with the step's end. Where another thread is inside a manager of the budget
 * it is waited for; within a callback of the same budget the manager goes when the call that the callback is of
 * returns. Failures cannot be told here: call hoist_manager_drain before. NULL is a no-op.
 * @externsync @blocking @since 0.1
 */
HOIST_API void hoist_manager_destroy(hoist_manager_t* manager) HOIST_NOEXCEPT;

/**
 * @brief Adds a unit; an empty one is fine.
 * @param name Unique; copied.
 * @return HOIST_OK; HOIST_ERROR_ALREADY_EXISTS; HOIST_ERROR_INVALID_ARGUMENT for a name that is empty or not UTF-8;
 *         HOIST_ERROR_INVALID_STATE after commit; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_manager_add_unit(hoist_manager_t* manager, const char* name,
                                                                hoist_unit_t* out_unit) HOIST_NOEXCEPT;

/**
 * @brief Says how many bytes of device memory of the user's own a unit needs beside its tensors, within the budget:
 *        the budget keeps the largest free, rounded up to the device's alignment.
 * @return HOIST_OK; HOIST_ERROR_NOT_FOUND for an unknown unit; HOIST_ERROR_INVALID_STATE after commit;
 *         HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_manager_set_workspace(hoist_manager_t* manager, hoist_unit_t unit,
                                                                     uint64_t bytes) HOIST_NOEXCEPT;

/**
 * @brief Adds a tensor, used by @p unit.
 * @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT for flags, modes or pointers that contradict each other, a name that
 *         is empty or not UTF-8, or more bytes than can be planned; HOIST_ERROR_ALREADY_EXISTS; HOIST_ERROR_NOT_FOUND
 *         for an unknown unit; HOIST_ERROR_INVALID_STATE after commit; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_manager_add_tensor(hoist_manager_t* manager, hoist_unit_t unit,
                                                                  const hoist_tensor_desc_t* desc,
                                                                  hoist_tensor_t* out_tensor) HOIST_NOEXCEPT;

/**
 * @brief Says that another unit uses a tensor too; it stays one item, moved and counted once.
 * @return HOIST_OK; HOIST_ERROR_ALREADY_EXISTS where that unit uses it already; HOIST_ERROR_NOT_FOUND;
 *         HOIST_ERROR_INVALID_ARGUMENT for an unknown mode; HOIST_ERROR_INVALID_STATE after commit; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_manager_add_use(hoist_manager_t* manager, hoist_unit_t unit,
                                                               hoist_tensor_t tensor,
                                                               hoist_use_mode_t mode) HOIST_NOEXCEPT;

/**
 * @brief Gives a tensor a further name.
 * @return HOIST_OK; HOIST_ERROR_ALREADY_EXISTS; HOIST_ERROR_NOT_FOUND; HOIST_ERROR_INVALID_ARGUMENT for an empty name;
 *         HOIST_ERROR_INVALID_STATE after commit; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_manager_add_alias(hoist_manager_t* manager, const char* name,
                                                                 hoist_tensor_t tensor) HOIST_NOEXCEPT;

/**
 * @brief Finds a tensor by name or alias.
 * @return HOIST_OK; HOIST_ERROR_NOT_FOUND with the nearest name; HOIST_ERROR_INVALID_ARGUMENT; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_manager_get_tensor(const hoist_manager_t* manager, const char* name,
                                                                  hoist_tensor_t* out_tensor) HOIST_NOEXCEPT;

/**
 * @brief Ends building: pins and packs the host bytes unit by unit, measures the links, takes the arena.
 *
 * All managers of a budget commit before its first step. On failure everything is as before and commit may be
 * tried again, bytes already released excepted: these have been packed and stay so.
 * @return HOIST_OK; HOIST_ERROR_INFEASIBLE naming the smallest budget that would do; HOIST_ERROR_OUT_OF_MEMORY;
 *         HOIST_ERROR_INVALID_ARGUMENT for a transient that is read before it is written, or memory that cannot be
 *         adopted; HOIST_ERROR_INVALID_STATE when committed already, after the budget's first step, or while it is
 *         suspended; HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 * @externsync @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_manager_commit(hoist_manager_t* manager) HOIST_NOEXCEPT;

/**
 * @brief Waits until all submitted work has run and every dirty tensor's bytes are on the host, for the whole budget:
 *        the tensors of all its managers.
 * @return HOIST_OK; HOIST_ERROR_DEVICE; HOIST_ERROR_INVALID_STATE within a step; HOIST_ERROR_BUSY.
 * @externsync @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_manager_drain(hoist_manager_t* manager) HOIST_NOEXCEPT;

/**
 * @brief Drains, then gives the device memory of the whole budget back, that of all its managers. Bytes stay on the
 *        host; steps are refused, those of the other managers too.
 * @return HOIST_OK; HOIST_ERROR_INVALID_STATE within a step, before any commit, or when suspended already;
 *         HOIST_ERROR_DEVICE (not suspended, may be tried again); HOIST_ERROR_BUSY.
 * @externsync @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_manager_suspend(hoist_manager_t* manager) HOIST_NOEXCEPT;

/**
 * @brief Takes the device memory of the whole budget again, whichever manager gave it back; the same plan goes on.
 * @return HOIST_OK; HOIST_ERROR_OUT_OF_MEMORY or HOIST_ERROR_DEVICE (still suspended, may be tried again);
 *         HOIST_ERROR_INVALID_STATE when not suspended; HOIST_ERROR_BUSY.
 * @externsync @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_manager_resume(hoist_manager_t* manager) HOIST_NOEXCEPT;

/**
 * @brief Replaces all of a tensor's bytes, between steps or between units.
 *
 * Host copy and, where it is there, device copy change; units begun later see the new bytes. Where the device refuses
 * the copy the update is done all the same: the bytes are loaded before the next unit that needs them.
 * @param src As many bytes as the tensor has; may go when the call returns.
 * @param stream Checked to be of the device; orders nothing: units that have ended come before, on any stream.
 * @return HOIST_OK; HOIST_ERROR_ORDER where a unit is open; HOIST_ERROR_INVALID_ARGUMENT for a transient, a wrong size
 *         or another device's stream; HOIST_ERROR_INVALID_STATE before commit; HOIST_ERROR_NOT_FOUND;
 *         HOIST_ERROR_DEVICE where waiting failed (nothing has changed); HOIST_ERROR_BUSY.
 * @externsync @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_tensor_update(hoist_manager_t* manager, hoist_tensor_t tensor,
                                                             const void* src, uint64_t bytes,
                                                             hoist_stream_t* stream) HOIST_NOEXCEPT;

/**
 * @brief Reads a tensor's live bytes, wherever they are, between units; takes no device memory.
 * @param dst Room for @p bytes, which must be the tensor's size.
 * @return HOIST_OK; HOIST_ERROR_ORDER where a unit is open; HOIST_ERROR_INVALID_ARGUMENT for a wrong size;
 *         HOIST_ERROR_STALE for a transient that does not exist now; HOIST_ERROR_INVALID_STATE before commit;
 *         HOIST_ERROR_NOT_FOUND; HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 * @externsync @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_tensor_read(hoist_manager_t* manager, hoist_tensor_t tensor, void* dst,
                                                           uint64_t bytes) HOIST_NOEXCEPT;

/** Facts about a tensor. @since 0.1 */
typedef struct hoist_tensor_info_t {
  size_t struct_size;                /**< Bytes of this struct that the caller knows. In. */
  const char* name;                  /**< Its first name; lives as long as the manager. */
  uint64_t bytes;                    /**< Its size. */
  const void* host;                  /**< The host copy; NULL for transients and before commit (adopted ones apart). */
  uint64_t version;                  /**< Grows with every write and update. */
  uint32_t on_device;                /**< 1 while a device copy is there or on its way. */
  uint32_t host_current;             /**< 1 when the host copy is complete and not older than the device's. */
  uint32_t flags;                    /**< As added. */
  hoist_tensor_class_t tensor_class; /**< As added. */
} hoist_tensor_info_t;

/** Initialiser of a ::hoist_tensor_info_t. @since 0.1 */
#define HOIST_TENSOR_INFO_INIT \
  { sizeof(hoist_tensor_info_t), NULL, 0, NULL, 0, 0, 0, 0, HOIST_CLASS_WEIGHT }

/**
 * @brief Reads facts about a tensor; moves nothing.
 * @param[in,out] out_info struct_size is read, the rest written.
 * @return HOIST_OK; HOIST_ERROR_NOT_FOUND; HOIST_ERROR_INVALID_ARGUMENT; HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_tensor_query(const hoist_manager_t* manager, hoist_tensor_t tensor,
                                                            hoist_tensor_info_t* out_info) HOIST_NOEXCEPT;

/**
 * @brief Reads the counts and sizes of the manager's budget.
 * @param[in,out] out_status struct_size is read, the rest written.
 * @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT; HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_manager_query(const hoist_manager_t* manager,
                                                             hoist_budget_status_t* out_status) HOIST_NOEXCEPT;

HOIST_END_DECLS

#endif /* HOIST_MANAGER_H */
