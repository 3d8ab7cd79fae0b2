/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * @brief Checkpoints: safetensors files, single or sharded, mapped and checked before anything is read.
 */
#ifndef HOIST_CHECKPOINT_H
#define HOIST_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "hoist/status.h"

HOIST_BEGIN_DECLS

/** An open checkpoint: headers parsed and checked, bytes mapped read-only. */
typedef struct hoist_checkpoint_t hoist_checkpoint_t;

/** Most dimensions of a tensor. @since 0.1 */
#define HOIST_CHECKPOINT_RANK_MAX 16

/** A tensor of a checkpoint. Strings and bytes live as long as the checkpoint. @since 0.1 */
typedef struct hoist_checkpoint_tensor_t {
  size_t struct_size;                        /**< Bytes of this struct that the caller knows. In. */
  const char* name;                          /**< Its name. */
  const char* dtype;                         /**< As in the file: "F32", "BF16", "I8", ... */
  const char* file;                          /**< Path of the file that holds it. */
  const void* data;                          /**< Its bytes, mapped; little-endian. NULL for none. */
  uint64_t bytes;                            /**< Its size. */
  uint64_t offset;                           /**< Of its bytes in the file. */
  uint32_t rank;                             /**< Dimensions. */
  uint32_t item_bits;                        /**< Bits of one element. */
  uint64_t shape[HOIST_CHECKPOINT_RANK_MAX]; /**< The first `rank` are set. */
} hoist_checkpoint_tensor_t;

/** Initialiser of a ::hoist_checkpoint_tensor_t. @since 0.1 */
#define HOIST_CHECKPOINT_TENSOR_INIT                                             \
  {                                                                              \
    sizeof(hoist_checkpoint_tensor_t), NULL, NULL, NULL, NULL, 0, 0, 0, 0, { 0 } \
  }

/**
 * @brief Opens MODEL.safetensors, or MODEL.safetensors.index.json with all shards that it names.
 *
 * Headers are checked whole first: sizes against the file, dtypes against shapes, overlaps, holes, missing shards,
 * names that repeat. Tensors are in the order of file and offset.
 * @param[out] out_checkpoint The caller owns it.
 * @return HOIST_OK; HOIST_ERROR_NOT_FOUND; HOIST_ERROR_IO; HOIST_ERROR_CORRUPT naming file, tensor and offset.
 * @threadsafe @blocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_checkpoint_open(const char* path,
                                                               hoist_checkpoint_t** out_checkpoint) HOIST_NOEXCEPT;

/** @brief Unmaps and frees. NULL is a no-op. @externsync @blocking @since 0.1 */
HOIST_API void hoist_checkpoint_close(hoist_checkpoint_t* checkpoint) HOIST_NOEXCEPT;

/**
 * @brief Counts the tensors.
 * @return HOIST_OK.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_checkpoint_get_count(const hoist_checkpoint_t* checkpoint,
                                                                    uint64_t* out_count) HOIST_NOEXCEPT;

/**
 * @brief Reads the facts of a tensor by index.
 * @param[in,out] out_tensor struct_size is read, the rest written.
 * @return HOIST_OK; HOIST_ERROR_NOT_FOUND; HOIST_ERROR_INVALID_ARGUMENT.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_checkpoint_query_tensor(
    const hoist_checkpoint_t* checkpoint, uint64_t index, hoist_checkpoint_tensor_t* out_tensor) HOIST_NOEXCEPT;

/**
 * @brief Finds a tensor by name.
 * @return HOIST_OK or HOIST_ERROR_NOT_FOUND with the nearest name.
 * @threadsafe @nonblocking @since 0.1
 */
HOIST_API HOIST_NODISCARD hoist_status_t hoist_checkpoint_get_tensor(const hoist_checkpoint_t* checkpoint,
                                                                     const char* name,
                                                                     uint64_t* out_index) HOIST_NOEXCEPT;

HOIST_END_DECLS

#endif /* HOIST_CHECKPOINT_H */
