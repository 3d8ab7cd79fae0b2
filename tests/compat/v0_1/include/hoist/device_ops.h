/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * @brief The table that a device's author fills in. Users of devices never need it.
 *
 * The built-in devices register through this table and see nothing else of hoist.
 * Rules for every slot:
 * - `self` is what open gave out. A slot may be called from any thread, several at once,
 *   but never twice at once for the same stream or event, unless its text says otherwise.
 * - No slot may call back into hoist other than by hoist_device_services_t.
 * - "may block" slots may wait for work; all others return at once.
 * - A slot that fails returns a status after services->error_set; a failure stays with its call.
 * - A failure of work that was submitted earlier is reported by stream_wait and event_wait, and
 *   by every later call on that stream.
 * - A slot left NULL is served by a stub that returns HOIST_ERROR_UNSUPPORTED.
 */
#ifndef HOIST_DEVICE_OPS_H
#define HOIST_DEVICE_OPS_H

#include <stddef.h>
#include <stdint.h>

#include "hoist/device.h"

HOIST_BEGIN_DECLS

/** Level of ::hoist_device_ops_t that these headers describe. @since 0.1 */
#define HOIST_DEVICE_ABI_VERSION 1

/** What hoist offers to a device. Valid for the life of the process. @since 0.1 */
typedef struct hoist_device_services_t {
  size_t struct_size;   /**< Bytes of this struct. */
  uint32_t abi_version; /**< Level of hoist. */
  uint32_t reserved;    /**< Zero. */
  /** Sets the calling thread's error text: what happened, and what would do ("" where unknown). */
  void (*error_set)(hoist_status_t code, const char* message, const char* hint);
  /** Says something to the log. */
  void (*log)(hoist_log_level_t level, const char* message);
} hoist_device_services_t;

/** The table. Zero-initialise it, fill in what the device has. @since 0.1 */
typedef struct hoist_device_ops_t {
  size_t struct_size;   /**< sizeof(hoist_device_ops_t) of the author's headers. */
  uint32_t abi_version; /**< HOIST_DEVICE_ABI_VERSION of the author's headers. */
  uint32_t reserved;    /**< Zero. */
  const char* name;     /**< Kind, such as "host": lower-case letters, digits, underscore. Static. */
  void* driver;         /**< Passed to count and open. */

  /* ---- driver ---- */
  /** Required. How many devices there are; 0 where the hardware or its driver is missing. */
  hoist_status_t (*count)(void* driver, uint32_t* out_count);
  /**
   * Required; may block. Opens device `index`; `options` is "key=value&key=value" or "". Where count gives 0 it is
   * called all the same: its failure says why there is none.
   */
  hoist_status_t (*open)(void* driver, uint32_t index, const char* options, void** out_self);
  /** Required; may block. Called once, when nothing uses the device any more. */
  void (*close)(void* self);
  /** Required. Fills every field but struct_size. */
  hoist_status_t (*query)(void* self, hoist_device_properties_t* out_properties);
  /** Required. Free and total device memory in bytes. */
  hoist_status_t (*query_memory)(void* self, uint64_t* out_free, uint64_t* out_total);
  /** Optional. Changes a setting of the open device. */
  hoist_status_t (*set)(void* self, const char* key, const char* value);
  /** Required. A clock that runs as that of events does, in µs; where it starts is the device's choice. */
  hoist_status_t (*get_time)(void* self, double* out_us);

  /* ---- memory ---- */
  /** Required; may block. Aligned to the properties' alignment; HOIST_ERROR_OUT_OF_MEMORY when refused. */
  hoist_status_t (*memory_create)(void* self, uint64_t bytes, void** out_memory);
  /** Required; may block. Nothing uses it any more. */
  void (*memory_destroy)(void* self, void* memory);
  /**
   * Required; may block. Makes touched host memory fit for asynchronous copies (pins it).
   * HOIST_ERROR_ALREADY_EXISTS: somebody pinned it before, or a part of it. HOIST_ERROR_UNSUPPORTED: it cannot be
   * pinned, and copies work without. Either way hoist goes on; other failures fail the caller.
   */
  hoist_status_t (*host_register)(void* self, void* memory, uint64_t bytes);
  /** Required; may block. Undoes host_register of exactly that range. */
  hoist_status_t (*host_unregister)(void* self, void* memory, uint64_t bytes);

  /* ---- streams ---- */
  /** Required; may block. */
  hoist_status_t (*stream_create)(void* self, void** out_stream);
  /** Required; may block. Waits for the stream's work; a wrapped stream itself stays the user's. */
  void (*stream_destroy)(void* self, void* stream);
  /** Optional (HOIST_CAPABILITY_WRAP). A handle for the user's native stream. */
  hoist_status_t (*stream_wrap)(void* self, void* native, void** out_stream);
  /** Required; blocks until all submitted work has run. Several threads may wait for one stream. */
  hoist_status_t (*stream_wait)(void* self, void* stream);
  /** Required. The stream waits on the device for the event's latest recording at the time of this call. */
  hoist_status_t (*stream_wait_event)(void* self, void* stream, void* event);

  /* ---- events ---- */
  /** Required. Events can be timed. */
  hoist_status_t (*event_create)(void* self, void** out_event);
  /** Required. Submitted work that waits for it still runs. */
  void (*event_destroy)(void* self, void* event);
  /** Required. Records at the stream's present end. */
  hoist_status_t (*event_record)(void* self, void* event, void* stream);
  /** Required. 1 when the latest recording has been reached, else 0. An event never recorded is not ready. */
  hoist_status_t (*event_poll)(void* self, void* event, int* out_ready);
  /** Required; blocks until the latest recording has been reached. Several threads may wait for one event. */
  hoist_status_t (*event_wait)(void* self, void* event);
  /** Required. µs from `begin` to `end`, both reached. */
  hoist_status_t (*event_get_elapsed)(void* self, void* begin, void* end, double* out_us);

  /* ---- work ---- */
  /** Required. At least one byte; host memory is registered, or the copy may be slow and may block. */
  hoist_status_t (*copy)(void* self, void* stream, hoist_copy_kind_t kind, void* dst, const void* src, uint64_t bytes);
  /** Optional (HOIST_CAPABILITY_BATCH). `count` independent copies of one kind, none of zero bytes. */
  hoist_status_t (*copy_batch)(void* self, void* stream, hoist_copy_kind_t kind, uint64_t count, void* const* dst,
                               const void* const* src, const uint64_t* bytes);
  /** Required. At least one byte of device memory. */
  hoist_status_t (*fill)(void* self, void* stream, void* dst, uint8_t value, uint64_t bytes);
  /** Required. Runs `function` in stream order on a thread of the device. */
  hoist_status_t (*host_function)(void* self, void* stream, hoist_host_fn_t function, void* user_data,
                                  double modelled_us);

  /* ---- access from host functions (HOIST_CAPABILITY_ACCESS) ---- */
  /** Optional. In stream order: the pages of [memory, memory + bytes) open for host functions; counted. */
  hoist_status_t (*access_begin)(void* self, void* stream, void* memory, uint64_t bytes);
  /** Optional. In stream order: undoes one access_begin of the same range. */
  hoist_status_t (*access_end)(void* self, void* stream, void* memory, uint64_t bytes);
} hoist_device_ops_t;

/**
 * @brief Registers a kind of device.
 * @param ops Copied over the stubs; its name must not be taken. `name` and `driver` stay valid for ever.
 * @param[out] out_services What the device may call.
 * @return HOIST_OK; HOIST_ERROR_ALREADY_EXISTS; HOIST_ERROR_INVALID_ARGUMENT naming the required slot that is
 *         missing, or a table that is cut short or comes from the future; for plugins as hoist_device_count.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t
hoist_device_register(const hoist_device_ops_t* ops, const hoist_device_services_t** out_services) HOIST_NOEXCEPT;

/**
 * The one symbol that a plugin exports, under the name hoist_device_plugin_init. The environment variable
 * HOIST_DEVICE_PLUGINS lists plugins by path, separated by colons; they are loaded on first use of a device, and one
 * that cannot be is an error of that use. Called with the newest level that hoist serves, then with older ones while
 * it returns HOIST_ERROR_UNSUPPORTED. It fills in @p out_ops as for hoist_device_register and keeps @p services;
 * on another failure it returns a status after services->error_set. @since 0.1
 */
typedef hoist_status_t (*hoist_device_plugin_init_fn_t)(uint32_t requested_abi, const hoist_device_services_t* services,
                                                        hoist_device_ops_t* out_ops);

HOIST_END_DECLS

#endif /* HOIST_DEVICE_OPS_H */
