/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * @brief Devices, streams, events, device memory and copies.
 *
 * What a caller without a vendor's toolkit at hand needs, on any registered
 * device. Sizes are bytes, times are microseconds (µs).
 */
#ifndef HOIST_DEVICE_H
#define HOIST_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "hoist/status.h"

HOIST_BEGIN_DECLS

/** An open device. Counted: every open needs its close; streams, events and managers keep it alive. */
typedef struct hoist_device_t hoist_device_t;
/** A queue of work that runs in order on a device. */
typedef struct hoist_stream_t hoist_stream_t;
/** A point in a stream that others can wait for. */
typedef struct hoist_event_t hoist_event_t;

/** What a device can do beyond the required calls. Bits of hoist_device_properties_t::capabilities. @since 0.1 */
typedef enum hoist_capability_t {
  HOIST_CAPABILITY_HOST_ADDRESSABLE = 1 << 0, /**< Device pointers may be read and written by host functions. */
  HOIST_CAPABILITY_ASYNC = 1 << 1,            /**< Work runs beside the calling thread. */
  HOIST_CAPABILITY_BATCH = 1 << 2,            /**< Has copy_batch. */
  HOIST_CAPABILITY_WRAP = 1 << 3,             /**< Wraps native streams. */
  HOIST_CAPABILITY_ACCESS = 1 << 4,        /**< Memory must be opened for host functions (access_begin, access_end). */
  HOIST_CAPABILITY_VIRTUAL_CLOCK = 1 << 5, /**< Times are modelled; the clock advances inside host waits only. */
  HOIST_CAPABILITY_NO_BYTES = 1 << 6,      /**< Bytes are not moved: only times and sizes are real. */
  HOIST_CAPABILITY_REMAP = 1 << 7,         /**< Addresses outlive the memory that they are mapped to. */
  HOIST_CAPABILITY_WORDS = 1 << 8,         /**< Streams wait for words of memory and write them. */
  HOIST_CAPABILITY_GRAPH = 1 << 9,         /**< Work is captured into graphs and launched again. */
  HOIST_CAPABILITY_FORCE_32 = 0x7fffffff   /**< Fixes the size of the enum. */
} hoist_capability_t;

/** Facts about a device. @since 0.1 */
typedef struct hoist_device_properties_t {
  size_t struct_size;    /**< Bytes of this struct that the caller knows. In. */
  char name[64];         /**< As opened without options, such as "host:0". */
  char description[128]; /**< For people: model, mode. */
  uint64_t memory_bytes; /**< Device memory in all. */
  uint64_t alignment;    /**< Sizes and offsets of managed tensors are rounded up to it, in bytes. */
  uint64_t capabilities; /**< Bits of ::hoist_capability_t. */
  uint64_t granularity;  /**< With HOIST_CAPABILITY_REMAP: sizes of what is mapped are multiples of it, in bytes. */
  int32_t dlpack_type;   /**< DLPack's number for this kind of device (1: CPU, 2: CUDA); 0: its memory has no views. */
  int32_t dlpack_index;  /**< DLPack's index of the device. */
  char pci_address[16];  /**< Where it is plugged in, "0000:3b:00.0"; "" for no PCI device. */
} hoist_device_properties_t;

/** Which way a copy goes. @since 0.1 */
typedef enum hoist_copy_kind_t {
  HOIST_COPY_H2D = 0,                   /**< Host to device. */
  HOIST_COPY_D2H = 1,                   /**< Device to host. */
  HOIST_COPY_D2D = 2,                   /**< Within a device, or from a peer's memory. */
  HOIST_COPY_KIND_FORCE_32 = 0x7fffffff /**< Fixes the size of the enum. */
} hoist_copy_kind_t;

/**
 * A host function that runs in stream order. On a device with
 * HOIST_CAPABILITY_HOST_ADDRESSABLE it may use device pointers: this is how compute
 * runs on the host device. It must not call hoist. Runs on a thread of the device. @since 0.1
 */
typedef void (*hoist_host_fn_t)(void* user_data);

/**
 * @brief Counts the devices that can be opened, of every registered kind.
 * @param[out] out_count At least 2: two host devices are built in.
 * @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT for an unknown HOIST_ environment name, or a value there that cannot
 *         be; where a plugin of HOIST_DEVICE_PLUGINS cannot be loaded: HOIST_ERROR_NOT_FOUND,
 *         HOIST_ERROR_INVALID_ARGUMENT, HOIST_ERROR_ALREADY_EXISTS or the status that it gave; HOIST_ERROR_DEVICE.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_device_count(uint32_t* out_count) HOIST_NOEXCEPT;

/**
 * @brief Reads the facts of a device without opening it: what it would be without options.
 * @param index Below the count of hoist_device_count, over all kinds.
 * @param[in,out] out_properties struct_size is read, the rest written.
 * @return HOIST_OK; HOIST_ERROR_NOT_FOUND for an index that is not there; HOIST_ERROR_DEVICE; for plugins as
 *         hoist_device_count.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t
hoist_device_get_properties(uint32_t index, hoist_device_properties_t* out_properties) HOIST_NOEXCEPT;

/**
 * @brief Opens a device by name: "host:0", "host:1?mode=virtual&h2d_gbps=55".
 *
 * Options of the host device: mode (inline, threaded, guarded, virtual), memory (bytes, such as
 * 512MiB), h2d_gbps, d2h_gbps (10^9 bytes a second, 1e-6 to 1e6; 0: as fast as memcpy), latency_us, duplex_factor,
 * alignment, bytes (real, none), copy_delay_us (a random delay up to it before each copy), seed,
 * lacks (capabilities to do without: remap, words, graph, with + between).
 * Cuda devices have no options; where there are none, the error says why (no driver, none visible).
 * Opening a device that is open already gives the same one; options that differ are an error.
 * @param name Kind, colon, index, then options; read during the call only.
 * @param[out] out_device The caller owns one reference; close it with hoist_device_close.
 * @return HOIST_OK; HOIST_ERROR_NOT_FOUND for a kind or index that is not there; HOIST_ERROR_INVALID_ARGUMENT
 *         for an option that is unknown (with the nearest known one) or has a bad value;
 *         HOIST_ERROR_ALREADY_EXISTS where it is open with other options; HOIST_ERROR_UNSUPPORTED for a driver or GPU
 *         that is too old; HOIST_ERROR_OUT_OF_MEMORY; HOIST_ERROR_DEVICE; for plugins as hoist_device_count.
 * @threadsafe @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_device_open(const char* name,
                                                           hoist_device_t** out_device) HOIST_NOEXCEPT;

/**
 * @brief Gives a reference back; the last one (children included) closes the device. NULL is a no-op.
 * @threadsafe @blocking @since 0.1
 */
HOIST_API void hoist_device_close(hoist_device_t* device) HOIST_NOEXCEPT;

/**
 * @brief Reads a device's facts.
 * @param[in,out] out_properties struct_size is read, the rest written.
 * @return HOIST_OK or HOIST_ERROR_INVALID_ARGUMENT.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_device_query(const hoist_device_t* device,
                                                            hoist_device_properties_t* out_properties) HOIST_NOEXCEPT;

/**
 * @brief Reads how much device memory is free, and how much there is, in bytes.
 * @return HOIST_OK or HOIST_ERROR_DEVICE.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_device_query_memory(const hoist_device_t* device, uint64_t* out_free,
                                                                   uint64_t* out_total) HOIST_NOEXCEPT;

/**
 * @brief Changes a setting of an open device.
 *
 * Host device: "copy_delay_us"; "memory_taken" (bytes that somebody else took, to try shortages);
 * "fail" = "SLOT@N" makes the N-th next call of a slot of the table fail ("SLOT@N+" that one and all
 * later ones; "" none), so that every error path can be tried. Cuda device: "fail" alone.
 * @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT for an unknown key (with the nearest known one) or value;
 *         HOIST_ERROR_UNSUPPORTED where the device has no settings; HOIST_ERROR_DEVICE.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_device_set(hoist_device_t* device, const char* key,
                                                          const char* value) HOIST_NOEXCEPT;

/**
 * @brief Reads the device's clock, in µs since it was opened; modelled time on a virtual clock.
 * @return HOIST_OK or HOIST_ERROR_DEVICE.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_device_get_time(const hoist_device_t* device,
                                                               double* out_us) HOIST_NOEXCEPT;

/**
 * @brief Allocates device memory.
 * @param bytes 0 gives a pointer that may only be freed.
 * @param[out] out_memory A device pointer, aligned to the device's alignment.
 * @return HOIST_OK; HOIST_ERROR_OUT_OF_MEMORY with what was asked for and what is free; HOIST_ERROR_DEVICE.
 * @threadsafe @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_memory_create(hoist_device_t* device, uint64_t bytes,
                                                             void** out_memory) HOIST_NOEXCEPT;

/**
 * @brief Frees device memory. The caller has made sure that no work uses it. NULL is a no-op.
 * @threadsafe @blocking @since 0.1
 */
HOIST_API void hoist_memory_destroy(hoist_device_t* device, void* memory) HOIST_NOEXCEPT;

/**
 * @brief Creates a stream. It keeps the device alive.
 * @return HOIST_OK; HOIST_ERROR_OUT_OF_MEMORY; HOIST_ERROR_DEVICE.
 * @threadsafe @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_stream_create(hoist_device_t* device,
                                                             hoist_stream_t** out_stream) HOIST_NOEXCEPT;

/**
 * @brief Makes a handle for a stream of the device's own kind that the caller owns.
 * @param native For cuda a CUstream. The caller keeps it alive until the handle is destroyed and, where a unit is open
 *        on it then, until that unit has ended.
 * @return HOIST_OK; HOIST_ERROR_UNSUPPORTED where there are no native streams; HOIST_ERROR_INVALID_ARGUMENT for one of
 *         another device; HOIST_ERROR_DEVICE.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_stream_wrap(hoist_device_t* device, void* native,
                                                           hoist_stream_t** out_stream) HOIST_NOEXCEPT;

/**
 * @brief Destroys a stream after its work has run, or the handle of a wrapped one. NULL is a no-op.
 * @externsync @blocking @since 0.1
 */
HOIST_API void hoist_stream_destroy(hoist_stream_t* stream) HOIST_NOEXCEPT;

/**
 * @brief Waits on the calling thread until all work submitted to the stream has run.
 * @return HOIST_OK; HOIST_ERROR_DEVICE with the failure of that work, or of copies that a replay on the stream needed
 *         (once); HOIST_ERROR_ORDER where a virtual clock can never get there.
 * @threadsafe @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_stream_wait(hoist_stream_t* stream) HOIST_NOEXCEPT;

/**
 * @brief Makes the stream wait, on the device, for an event; returns at once.
 * @param event Recorded already.
 * @return HOIST_OK; HOIST_ERROR_ORDER for an event that was never recorded; HOIST_ERROR_INVALID_ARGUMENT where the two
 *         are of different devices; HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_stream_wait_event(hoist_stream_t* stream,
                                                                 hoist_event_t* event) HOIST_NOEXCEPT;

/**
 * @brief Submits a copy to the stream.
 *
 * Host memory of an asynchronous copy stays valid and unchanged until the copy has run. 0 bytes is a no-op.
 * @param kind Which way.
 * @param dst Must not overlap @p src.
 * @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT for an unknown kind, NULL, or memory that is not the device's;
 *         HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_stream_submit_copy(hoist_stream_t* stream, hoist_copy_kind_t kind,
                                                                  void* dst, const void* src,
                                                                  uint64_t bytes) HOIST_NOEXCEPT;

/**
 * @brief Submits a fill of device memory with one byte value.
 * @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT for memory that is not the device's; HOIST_ERROR_DEVICE;
 *         HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_stream_submit_fill(hoist_stream_t* stream, void* dst, uint8_t value,
                                                                  uint64_t bytes) HOIST_NOEXCEPT;

/**
 * @brief Submits a host function to the stream: compute, on the host device.
 * @param function Runs in stream order; see ::hoist_host_fn_t.
 * @param user_data Passed to it; stays the caller's and must live until it has run.
 * @param modelled_us Time that it takes on a virtual clock, up to 1e12; elsewhere ignored.
 * @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT for no function, or a time that cannot be; HOIST_ERROR_DEVICE;
 *         HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_stream_submit_host(hoist_stream_t* stream, hoist_host_fn_t function,
                                                                  void* user_data, double modelled_us) HOIST_NOEXCEPT;

/**
 * @brief Creates an event that can be timed. It keeps the device alive.
 * @return HOIST_OK; HOIST_ERROR_OUT_OF_MEMORY; HOIST_ERROR_DEVICE.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_event_create(hoist_device_t* device,
                                                            hoist_event_t** out_event) HOIST_NOEXCEPT;

/**
 * @brief Destroys an event; work that waits for it still runs. NULL is a no-op.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API void hoist_event_destroy(hoist_event_t* event) HOIST_NOEXCEPT;

/**
 * @brief Records the event at the stream's present end; recording again moves it.
 * @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT where the two are of different devices; HOIST_ERROR_UNSUPPORTED on a
 *         wrapped stream that is being captured; HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_event_record(hoist_event_t* event,
                                                            hoist_stream_t* stream) HOIST_NOEXCEPT;

/**
 * @brief Says whether the recorded point has been reached.
 * @param[out] out_ready 1 when reached, 0 when not yet or never recorded.
 * @return HOIST_OK, also where it has not been reached; HOIST_ERROR_DEVICE with the failure of the work before it.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_event_poll(hoist_event_t* event, int* out_ready) HOIST_NOEXCEPT;

/**
 * @brief Waits on the calling thread until the recorded point has been reached.
 * @return HOIST_OK; HOIST_ERROR_ORDER for an event that was never recorded or can never be reached;
 *         HOIST_ERROR_DEVICE with the failure of the work before it.
 * @threadsafe @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_event_wait(hoist_event_t* event) HOIST_NOEXCEPT;

/**
 * @brief Gives the time between two reached events, in µs.
 * @return HOIST_OK; HOIST_ERROR_INVALID_STATE where one has not been reached; HOIST_ERROR_INVALID_ARGUMENT where the
 *         two are of different devices; HOIST_ERROR_DEVICE.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_event_get_elapsed(const hoist_event_t* begin, const hoist_event_t* end,
                                                                 double* out_us) HOIST_NOEXCEPT;

HOIST_END_DECLS

#endif /* HOIST_DEVICE_H */
