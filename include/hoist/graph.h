/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * @brief Graphs: work that is captured once and launched again, and steps in them.
 *
 * A step between hoist_step_begin and hoist_step_end on a stream that is being captured, by these calls or by the
 * device's own (torch.cuda.graph, cuStreamBeginCapture), goes into the graph: waits for bytes, the caller's work, words
 * that units have ended. Launching the graph again runs a step, bytes streamed as in any other, without a call of
 * hoist. Under the placement in slots a new plan needs no new graph. doc/design/graphs.md has the rules.
 */
#ifndef HOIST_GRAPH_H
#define HOIST_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "hoist/manager.h"

HOIST_BEGIN_DECLS

/** Captured work, ready to be launched. */
typedef struct hoist_graph_t hoist_graph_t;

/**
 * @brief From here on the stream's work goes into a graph instead of running.
 *
 * Host functions run at each launch, so their data must live as long as the graph. Events are not recorded there.
 * @return HOIST_OK; HOIST_ERROR_UNSUPPORTED without HOIST_CAPABILITY_GRAPH; HOIST_ERROR_INVALID_STATE where it is being
 *         captured already; HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_capture_begin(hoist_stream_t* stream) HOIST_NOEXCEPT;

/**
 * @brief Ends the capture, on failure too.
 * @param[out] out_graph The caller owns it. It keeps the device alive.
 * @return HOIST_OK; HOIST_ERROR_INVALID_STATE where the stream is not being captured; HOIST_ERROR_OUT_OF_MEMORY;
 *         HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 * @externsync @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_capture_end(hoist_stream_t* stream,
                                                           hoist_graph_t** out_graph) HOIST_NOEXCEPT;

/**
 * @brief Submits the graph's work to the stream; launches of one graph run one after the other.
 * @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT where the two are of different devices; HOIST_ERROR_DEVICE, also,
 *         once, where an earlier replay of a step in the graph failed: nothing has been launched then;
 *         HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_graph_launch(hoist_graph_t* graph,
                                                            hoist_stream_t* stream) HOIST_NOEXCEPT;

/** @brief Destroys a graph; what was launched still runs. NULL is a no-op. @externsync @nonblocking @since 0.1 */
HOIST_API void hoist_graph_destroy(hoist_graph_t* graph) HOIST_NOEXCEPT;

/** How replays of a budget's captured steps stand. @since 0.1 */
typedef enum hoist_replay_state_t {
  HOIST_REPLAY_NONE = 0,    /**< No step has been captured. */
  HOIST_REPLAY_OPEN = 1,    /**< Graphs may be launched. */
  HOIST_REPLAY_HELD = 2,    /**< Replays wait at their head: suspended, or a step outside of a graph is open. */
  HOIST_REPLAY_STARVED = 3, /**< Replays wait for bytes that the device refuses; see reason. */
  HOIST_REPLAY_FORCE_32 = 0x7fffffff /**< Fixes the size of the enum. */
} hoist_replay_state_t;

/** Counts of replays. @since 0.1 */
typedef struct hoist_replay_status_t {
  size_t struct_size;          /**< Bytes of this struct that the caller knows. In. */
  hoist_replay_state_t state;  /**< How they stand. */
  hoist_placement_t placement; /**< In force: arena, where the device maps no addresses. */
  uint64_t captures;           /**< Steps that were captured. */
  uint64_t begun;              /**< Replays that have begun. */
  uint64_t ended;              /**< Of these, whose copies have all run. */
  uint64_t aborted;            /**< Let go without their bytes: what they computed is worth nothing. */
  double last_us;              /**< From one replay's begin to the next one's. */
  const char* reason;          /**< What the device said last, or ""; valid until the manager's next call. */
} hoist_replay_status_t;

/** Initialiser of a ::hoist_replay_status_t. @since 0.1 */
#define HOIST_REPLAY_STATUS_INIT \
  { sizeof(hoist_replay_status_t), HOIST_REPLAY_NONE, HOIST_PLACEMENT_DEFAULT, 0, 0, 0, 0, 0.0, "" }

/**
 * @brief Reads how replays of the manager's budget stand; waits for none.
 * @param[in,out] out_status struct_size is read, the rest written.
 * @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT; HOIST_ERROR_BUSY.
 * @externsync @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_replay_query(hoist_manager_t* manager,
                                                            hoist_replay_status_t* out_status) HOIST_NOEXCEPT;

/**
 * @brief Lets replays go that wait for bytes that do not come, be it that another thread waits for them or for hoist.
 *
 * What they compute is worth nothing, and they are counted. Returns when those that had begun have ended; the next ones
 * begin with their bytes in place. Where nothing waits it does nothing. The manager must not be destroyed meanwhile.
 * @return HOIST_OK; HOIST_ERROR_INVALID_ARGUMENT; HOIST_ERROR_INVALID_STATE for a destroyed manager.
 * @threadsafe @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_replay_abort(hoist_manager_t* manager) HOIST_NOEXCEPT;

/**
 * @brief Says that no graph with a step of the manager's budget is launched any more; waits for replays that have
 * begun.
 *
 * Plans may then change that graphs held in place. Wait for the streams that they were launched on first, as before the
 * manager is destroyed: launching one later, or one that has not begun, is undefined.
 * @return HOIST_OK; HOIST_ERROR_INVALID_STATE within a captured step; HOIST_ERROR_DEVICE; HOIST_ERROR_BUSY.
 * @externsync @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_replay_release(hoist_manager_t* manager) HOIST_NOEXCEPT;

HOIST_END_DECLS

#endif /* HOIST_GRAPH_H */
