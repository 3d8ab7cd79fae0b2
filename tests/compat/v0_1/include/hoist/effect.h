/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * @brief Ordered effects: what a compiled graph does beside computing, in the order that was meant.
 *
 * A compiler may drop, merge or move an operation whose result nobody uses. So order
 * is data: each effect of a sequence takes the token of the one before and gives its
 * own. And it is checked: an effect that comes out of its place is refused before it
 * runs. A sequence stands for one graph; one run of the graph is one run of it.
 */
#ifndef HOIST_EFFECT_H
#define HOIST_EFFECT_H

#include <stddef.h>
#include <stdint.h>

#include "hoist/device.h"

HOIST_BEGIN_DECLS

/** The effects of one graph, in order. */
typedef struct hoist_sequence_t hoist_sequence_t;
/** Index of an effect in its sequence, from 0 in the order of registering, which is the order of running. */
typedef uint32_t hoist_effect_t;
/** That a run of a sequence has come to a place. Of one run of one sequence; never 0. */
typedef uint64_t hoist_token_t;

/** Most effects of a sequence. */
#define HOIST_EFFECT_COUNT_MAX 0xfffffeu

/**
 * What an effect does. Runs on the submitting thread, within hoist_effect_submit; may call anything of the library
 * but this sequence, which is busy.
 * @param stream As given to hoist_effect_submit: what it submits here is ordered after the effect before.
 * @return HOIST_OK, or what hoist_effect_submit is to return: the run stays where it is.
 */
typedef hoist_status_t (*hoist_effect_fn_t)(void* user_data, hoist_stream_t* stream);

/** Called once, when an effect's user_data is not needed any more. On the destroying thread. */
typedef void (*hoist_effect_release_fn_t)(void* user_data);

/** An effect to register. @since 0.1 */
typedef struct hoist_effect_desc_t {
  size_t struct_size;                /**< sizeof(hoist_effect_desc_t). */
  const char* name;                  /**< For people and errors; copied. Need not be unique. */
  hoist_effect_fn_t function;        /**< What it does. NULL: it only has its place. */
  void* user_data;                   /**< Passed to both. */
  hoist_effect_release_fn_t release; /**< Optional. Not called where registering fails. */
} hoist_effect_desc_t;

/** Initialiser: fields may be set after it. @since 0.1 */
#define HOIST_EFFECT_DESC_INIT \
  { sizeof(hoist_effect_desc_t), NULL, NULL, NULL, NULL }

/**
 * @brief Creates an empty sequence.
 * @param device Whose streams its effects name. Kept alive.
 * @param name Of the graph, for errors; copied.
 * @param[out] out_sequence The caller owns it.
 * @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT; HOIST_ERROR_DEVICE.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_sequence_create(hoist_device_t* device, const char* name,
                                                               hoist_sequence_t** out_sequence) HOIST_NOEXCEPT;

/**
 * @brief Gives an open run up and releases all effects. NULL is a no-op. Submitted work goes on.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API void hoist_sequence_destroy(hoist_sequence_t* sequence) HOIST_NOEXCEPT;

/**
 * @brief Registers the next effect, between runs.
 * @param[out] out_effect Its index.
 * @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT for a name that is NULL or empty, or one effect more than
 *         HOIST_EFFECT_COUNT_MAX; HOIST_ERROR_INVALID_STATE within a run; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_effect_register(hoist_sequence_t* sequence,
                                                               const hoist_effect_desc_t* desc,
                                                               hoist_effect_t* out_effect) HOIST_NOEXCEPT;

/**
 * @brief Begins a run.
 * @param[out] out_token What the first effect takes.
 * @return HOIST_OK; HOIST_ERROR_INVALID_STATE where a run is open, naming the effect that it waits for;
 *         HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_sequence_begin(hoist_sequence_t* sequence,
                                                              hoist_token_t* out_token) HOIST_NOEXCEPT;

/**
 * @brief Runs an effect in its place.
 *
 * Work that effects submit is ordered as the effects are, on whichever streams: a stream that differs from the one
 * before waits for it on the device. No allocation.
 * @param stream Passed to the effect; NULL where it submits nothing.
 * @param token Given out by the effect before, or by hoist_sequence_begin.
 * @param[out] out_token What the next effect, or hoist_sequence_end, takes.
 * @return HOIST_OK; HOIST_ERROR_ORDER for another effect than the one that is due, naming both, or a token of another
 *         place, run or sequence (the effect has not run; the run stays where it is); HOIST_ERROR_NOT_FOUND for an
 *         unknown effect; HOIST_ERROR_INVALID_STATE where no run is open; HOIST_ERROR_INVALID_ARGUMENT for another
 *         device's stream; HOIST_ERROR_DEVICE; what the effect returned; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_effect_submit(hoist_sequence_t* sequence, hoist_effect_t effect,
                                                             hoist_stream_t* stream, hoist_token_t token,
                                                             hoist_token_t* out_token) HOIST_NOEXCEPT;

/**
 * @brief Ends a run in which every effect has run.
 * @param token Given out by the last effect.
 * @return HOIST_OK; HOIST_ERROR_ORDER where effects have not run, naming the first, or for another token (the run
 *         stays open); HOIST_ERROR_INVALID_STATE where no run is open; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_sequence_end(hoist_sequence_t* sequence,
                                                            hoist_token_t token) HOIST_NOEXCEPT;

/**
 * @brief Gives the open run up, after an error; its tokens are of no use any more.
 * @return HOIST_OK; HOIST_ERROR_INVALID_STATE where no run is open; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_sequence_abort(hoist_sequence_t* sequence) HOIST_NOEXCEPT;

/** Counts of a sequence, from its creation. @since 0.1 */
typedef struct hoist_sequence_status_t {
  size_t struct_size;      /**< Bytes of this struct that the caller knows. In. */
  uint32_t effect_count;   /**< Registered. */
  uint32_t is_open;        /**< 1 within a run. */
  hoist_effect_t due;      /**< Within a run: the effect that is due; effect_count: the end is. */
  uint32_t reserved;       /**< Zero. */
  uint64_t runs;           /**< Ended, aborted ones included. */
  uint64_t aborted_runs;   /**< Aborted. */
  uint64_t submitted;      /**< Effects that ran. */
  uint64_t refused;        /**< Effects and ends that were refused for their order. */
  uint64_t stream_changes; /**< Waits on the device between effects on different streams. */
} hoist_sequence_status_t;

/** Initialiser of a ::hoist_sequence_status_t. @since 0.1 */
#define HOIST_SEQUENCE_STATUS_INIT \
  { sizeof(hoist_sequence_status_t), 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * @brief Reads the counts of a sequence; changes nothing.
 * @param[in,out] out_status struct_size is read, the rest written.
 * @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_sequence_query(const hoist_sequence_t* sequence,
                                                              hoist_sequence_status_t* out_status) HOIST_NOEXCEPT;

HOIST_END_DECLS

#endif /* HOIST_EFFECT_H */
