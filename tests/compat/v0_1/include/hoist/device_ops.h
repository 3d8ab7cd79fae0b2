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
 * - A slot left NULL is served by a stub that returns HOIST_ERROR_UNSUPPORTED. A capability whose slot is NULL is an
 *   error of open.
 * - In a child of fork nothing of the parent's is used, and no slot of the driver waits for a thread that stayed
 *   behind: count, describe and open answer, be it with a failure.
 * - What is destroyed leaves nothing behind, and neither does work that has run: no memory, no thread, no open file.
 * `hoist device-check` looks at every one of these sentences on a device.
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

/** What is done with a word in stream order. @since 0.1 */
typedef enum hoist_word_op_kind_t {
  HOIST_WORD_WAIT = 0,                /**< Until (int32_t)(*word - value) is at least 0. */
  HOIST_WORD_WRITE = 1,               /**< value is stored, all earlier work of the stream visible before it. */
  HOIST_WORD_OP_FORCE_32 = 0x7fffffff /**< Fixes the size of the enum. */
} hoist_word_op_kind_t;

/** One operation on a word of words_create. @since 0.1 */
typedef struct hoist_word_op_t {
  uint32_t* word;            /**< Which. */
  uint32_t value;            /**< To be reached, or stored. */
  hoist_word_op_kind_t kind; /**< What. */
} hoist_word_op_t;

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
   * Required. Fills every field but struct_size as query would for device `index` opened without options, and opens
   * nothing for it: no context, no thread.
   */
  hoist_status_t (*describe)(void* driver, uint32_t index, hoist_device_properties_t* out_properties);
  /**
   * Required; may block. Opens device `index`; `options` is "key=value&key=value" or "". Where count gives 0 it is
   * called all the same: its failure says why there is none.
   */
  hoist_status_t (*open)(void* driver, uint32_t index, const char* options, void** out_self);
  /** Required; may block. Called once, when nothing uses the device any more. */
  void (*close)(void* self);
  /** Required. Fills every field but struct_size. */
  hoist_status_t (*query)(void* self, hoist_device_properties_t* out_properties);
  /** Required. Free and total device memory in bytes, of what memory_create can give. Fails once all is lost. */
  hoist_status_t (*query_memory)(void* self, uint64_t* out_free, uint64_t* out_total);
  /**
   * Optional. Changes a setting of the open device; HOIST_ERROR_INVALID_ARGUMENT for an unknown key or value. By
   * convention key "fail" with "SLOT@N" makes the N-th next call of a slot fail, with "SLOT@N+" that one and all later
   * ones, with "" none; SLOT may be work, for a copy, fill or host function that fails when it runs.
   */
  hoist_status_t (*set)(void* self, const char* key, const char* value);
  /** Required. A clock that runs as that of events does, in µs; where it starts is the device's choice. */
  hoist_status_t (*get_time)(void* self, double* out_us);

  /* ---- memory ---- */
  /**
   * Required; may block. Aligned to the properties' alignment; HOIST_ERROR_OUT_OF_MEMORY when refused. 0 bytes give a
   * pointer, NULL or not, that may only be destroyed.
   */
  hoist_status_t (*memory_create)(void* self, uint64_t bytes, void** out_memory);
  /** Required; may block. Nothing uses it any more; its bytes are free when this returns. NULL is a no-op. */
  void (*memory_destroy)(void* self, void* memory);
  /**
   * Required; may block. Makes touched host memory fit for asynchronous copies (pins it).
   * HOIST_ERROR_ALREADY_EXISTS: somebody pinned it before, or a part of it. HOIST_ERROR_UNSUPPORTED: it cannot be
   * pinned, and copies work without. Either way hoist goes on; other failures fail the caller.
   * HOIST_ERROR_INVALID_ARGUMENT for NULL.
   */
  hoist_status_t (*host_register)(void* self, void* memory, uint64_t bytes);
  /** Required; may block. Undoes host_register of exactly that range; HOIST_ERROR_INVALID_ARGUMENT for another. */
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
  /**
   * Required. The stream waits on the device for the event's latest recording at the time of this call.
   * HOIST_ERROR_ORDER for an event that was never recorded.
   */
  hoist_status_t (*stream_wait_event)(void* self, void* stream, void* event);

  /* ---- events ---- */
  /** Required. Events can be timed. */
  hoist_status_t (*event_create)(void* self, void** out_event);
  /** Required. Submitted work that waits for it still runs. */
  void (*event_destroy)(void* self, void* event);
  /** Required. Records at the stream's present end; recording again moves it. */
  hoist_status_t (*event_record)(void* self, void* event, void* stream);
  /** Required. 1 when the latest recording has been reached, else 0. An event never recorded is not ready. */
  hoist_status_t (*event_poll)(void* self, void* event, int* out_ready);
  /**
   * Required; blocks until the latest recording has been reached. Several threads may wait for one event.
   * HOIST_ERROR_ORDER for an event that was never recorded.
   */
  hoist_status_t (*event_wait)(void* self, void* event);
  /** Required. µs from `begin` to `end`; HOIST_ERROR_INVALID_STATE where one has not been reached. */
  hoist_status_t (*event_get_elapsed)(void* self, void* begin, void* end, double* out_us);

  /* ---- work ---- */
  /**
   * Required. At least one byte, at any address; host memory is registered, or the copy may be slow and may block.
   * HOIST_ERROR_INVALID_ARGUMENT for NULL or another kind. `src` of HOIST_COPY_D2D may be memory of another device of
   * this kind; where that cannot be, HOIST_ERROR_UNSUPPORTED.
   */
  hoist_status_t (*copy)(void* self, void* stream, hoist_copy_kind_t kind, void* dst, const void* src, uint64_t bytes);
  /** Optional (HOIST_CAPABILITY_BATCH). `count` independent copies of one kind, none of zero bytes. */
  hoist_status_t (*copy_batch)(void* self, void* stream, hoist_copy_kind_t kind, uint64_t count, void* const* dst,
                               const void* const* src, const uint64_t* bytes);
  /** Required. At least one byte of device memory. */
  hoist_status_t (*fill)(void* self, void* stream, void* dst, uint8_t value, uint64_t bytes);
  /**
   * Required. Runs `function` in stream order on a thread of the device; HOIST_ERROR_INVALID_ARGUMENT for NULL.
   * `modelled_us` is what it takes on a virtual clock.
   */
  hoist_status_t (*host_function)(void* self, void* stream, hoist_host_fn_t function, void* user_data,
                                  double modelled_us);

  /* ---- access from host functions (HOIST_CAPABILITY_ACCESS) ---- */
  /** Optional. In stream order: the pages of [memory, memory + bytes) open for host functions; counted. */
  hoist_status_t (*access_begin)(void* self, void* stream, void* memory, uint64_t bytes);
  /** Optional. In stream order: undoes one access_begin of the same range. */
  hoist_status_t (*access_end)(void* self, void* stream, void* memory, uint64_t bytes);

  /* ---- addresses that outlive the memory behind them (HOIST_CAPABILITY_REMAP) ---- */
  /** Optional; may block. Memory without an address. Bytes: a multiple of the properties' granularity, above 0. */
  hoist_status_t (*handle_create)(void* self, uint64_t bytes, void** out_handle);
  /** Optional; may block. It is mapped nowhere any more. */
  void (*handle_destroy)(void* self, void* handle);
  /** Optional; may block. Addresses without memory, aligned to the granularity; bytes as for handle_create. */
  hoist_status_t (*address_reserve)(void* self, uint64_t bytes, void** out_address);
  /** Optional; may block. Exactly what was reserved; nothing is mapped there any more. */
  void (*address_release)(void* self, void* address, uint64_t bytes);
  /**
   * Optional; may block. Puts a whole handle of `bytes` behind [address, address + bytes), which lie within one
   * reservation and have nothing behind them. A handle may be behind several addresses at once.
   */
  hoist_status_t (*memory_map)(void* self, void* address, uint64_t bytes, void* handle);
  /** Optional; may block. Exactly what was mapped; no work that has been submitted uses it. */
  hoist_status_t (*memory_unmap)(void* self, void* address, uint64_t bytes);

  /* ---- words that streams wait for (HOIST_CAPABILITY_WORDS) ---- */
  /** Optional; may block. Words that streams and the host read and write, all 0 at first. */
  hoist_status_t (*words_create)(void* self, uint64_t count, uint32_t** out_words);
  /** Optional; may block. Nothing uses them any more. */
  void (*words_destroy)(void* self, uint32_t* words);
  /** Optional. `count` operations, at least one, in their order. Can be captured. */
  hoist_status_t (*words_submit)(void* self, void* stream, uint64_t count, const hoist_word_op_t* operations);

  /* ---- graphs (HOIST_CAPABILITY_GRAPH) ---- */
  /**
   * Optional. 1 while what is submitted to the stream goes into a graph, whoever captures it. As any call it reports
   * that the stream's work has failed: so a stream is asked about that without a wait.
   */
  hoist_status_t (*capture_query)(void* self, void* stream, int* out_capturing);
  /** Optional. From here on copies, fills, host functions and words of the stream go into a graph. */
  hoist_status_t (*capture_begin)(void* self, void* stream);
  /** Optional; may block. The graph, ready to be launched; where it fails the capture has ended all the same. */
  hoist_status_t (*capture_end)(void* self, void* stream, void** out_graph);
  /** Optional. The graph's work, in its order, at the stream's end. */
  hoist_status_t (*graph_launch)(void* self, void* graph, void* stream);
  /** Optional. Work that was launched still runs. */
  void (*graph_destroy)(void* self, void* graph);
  /**
   * Optional; may block. A stream of its own that takes work whatever launches of graphs wait for on other threads, and
   * that calls which wait for the whole device pass over: copies into graphs that run come from it. It takes copies,
   * batches, fills, words, stream_wait and stream_destroy; events are not recorded on it.
   */
  hoist_status_t (*stream_create_aside)(void* self, void** out_stream);
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
 * @brief Reads the table of a kind as its author filled it in, for tools that look at a device through its slots.
 * @param kind Such as "host"; read during the call only.
 * @param[in,out] out_ops struct_size is read, the rest written. A device opened by it is the caller's own, beside the
 *                one that hoist has open; it is used by the rules above, and by nothing else of hoist.
 * @return HOIST_OK; HOIST_ERROR_NOT_FOUND with the nearest known kind; for plugins as hoist_device_count.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_device_get_ops(const char* kind,
                                                              hoist_device_ops_t* out_ops) HOIST_NOEXCEPT;

/**
 * The one symbol that a plugin exports, under the name hoist_device_plugin_init; hoist/plugin.h says how plugins are
 * loaded. Called with the newest level that hoist serves, then with older ones while it returns
 * HOIST_ERROR_UNSUPPORTED. @p out_ops comes zeroed, but for struct_size: the bytes that may be written. It is filled in
 * as for hoist_device_register, at a level that is not above the requested one, and @p services are kept. On another
 * failure a status is returned after services->error_set. @since 0.1
 */
typedef hoist_status_t (*hoist_device_plugin_init_fn_t)(uint32_t requested_abi, const hoist_device_services_t* services,
                                                        hoist_device_ops_t* out_ops);

HOIST_END_DECLS

#endif /* HOIST_DEVICE_OPS_H */
