/* SPDX-License-Identifier: Apache-2.0
 * checkpoint.h from C: facts, structs and handles; which files are refused is tests/unit/checkpoint's business. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hoist/hoist.h"
#include "support/check.h"

static const char json[] =
    "{\"b.weight\":{\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[4,16]},"
    "\"a.bias\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
    "\"none\":{\"dtype\":\"F4\",\"shape\":[0],\"data_offsets\":[16,16]}}";
static const unsigned char data[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static void write_file(char* path, size_t data_bytes) {
  const size_t length = sizeof json - 1;
  unsigned char head[8] = {(unsigned char)(length & 0xff), (unsigned char)(length >> 8)};
  FILE* file = fdopen(mkstemp(path), "wb");
  CHECK(file != NULL);
  CHECK(fwrite(head, 1, 8, file) == 8 && fwrite(json, 1, length, file) == length);
  CHECK(fwrite(data, 1, data_bytes, file) == data_bytes && fclose(file) == 0);
}

static void check_facts(const hoist_checkpoint_t* checkpoint, const char* path) {
  uint64_t count = 0;
  CHECK(hoist_checkpoint_get_count(checkpoint, &count) == HOIST_OK && count == 3);
  hoist_checkpoint_tensor_t tensor = HOIST_CHECKPOINT_TENSOR_INIT;
  CHECK(hoist_checkpoint_query_tensor(checkpoint, 1, &tensor) == HOIST_OK);
  CHECK(strcmp(tensor.name, "b.weight") == 0 && strcmp(tensor.dtype, "BF16") == 0 && strcmp(tensor.file, path) == 0);
  CHECK(tensor.bytes == 12 && tensor.rank == 2 && tensor.shape[0] == 2 && tensor.shape[1] == 3);
  CHECK(tensor.item_bits == 16 && tensor.offset == 8 + (sizeof json - 1) + 4);
  CHECK(memcmp(tensor.data, data + 4, 12) == 0);
  CHECK(hoist_checkpoint_query_tensor(checkpoint, 2, &tensor) == HOIST_OK);
  CHECK(tensor.data == NULL && tensor.bytes == 0 && tensor.item_bits == 4);
  uint64_t index = 99;
  CHECK(hoist_checkpoint_get_tensor(checkpoint, "a.bias", &index) == HOIST_OK && index == 0);
}

static void check_refusals(const hoist_checkpoint_t* checkpoint) {
  uint64_t number = 99;
  hoist_checkpoint_tensor_t tensor = HOIST_CHECKPOINT_TENSOR_INIT;
  tensor.bytes = 99;
  CHECK(failed(hoist_checkpoint_query_tensor(checkpoint, 3, &tensor), HOIST_ERROR_NOT_FOUND,
               "hoist_checkpoint_query_tensor", "below 3"));
  CHECK(tensor.bytes == 99);
  CHECK(failed(hoist_checkpoint_get_tensor(checkpoint, "b.wight", &number), HOIST_ERROR_NOT_FOUND,
               "hoist_checkpoint_get_tensor", "b.weight"));
  CHECK(number == 99);
  CHECK(failed(hoist_checkpoint_get_count(checkpoint, NULL), HOIST_ERROR_INVALID_ARGUMENT, "hoist_checkpoint_get_count",
               "out_count"));
  CHECK(failed(hoist_checkpoint_get_count(NULL, &number), HOIST_ERROR_INVALID_ARGUMENT, "hoist_checkpoint_get_count",
               "checkpoint"));
  tensor.struct_size = 0;
  CHECK(failed(hoist_checkpoint_query_tensor(checkpoint, 0, &tensor), HOIST_ERROR_INVALID_ARGUMENT,
               "hoist_checkpoint_query_tensor", "struct_size"));
}

/* A caller of older headers knows fewer fields; what lies behind them stays as it is. */
static void check_short_struct(const hoist_checkpoint_t* checkpoint) {
  hoist_checkpoint_tensor_t tensor;
  memset(&tensor, 0x5a, sizeof tensor);
  tensor.struct_size = offsetof(hoist_checkpoint_tensor_t, bytes);
  CHECK(hoist_checkpoint_query_tensor(checkpoint, 0, &tensor) == HOIST_OK);
  CHECK(strcmp(tensor.name, "a.bias") == 0 && memcmp(tensor.data, data, 4) == 0);
  CHECK(tensor.bytes == 0x5a5a5a5a5a5a5a5aU && tensor.rank == 0x5a5a5a5aU);
}

static void check_open(const char* truncated) {
  hoist_checkpoint_t* checkpoint = NULL;
  CHECK(failed(hoist_checkpoint_open("/nonexistent/m.safetensors", &checkpoint), HOIST_ERROR_NOT_FOUND,
               "hoist_checkpoint_open", "/nonexistent/m.safetensors"));
  CHECK(failed(hoist_checkpoint_open("/", &checkpoint), HOIST_ERROR_IO, "hoist_checkpoint_open", "folder"));
  CHECK(
      failed(hoist_checkpoint_open(truncated, &checkpoint), HOIST_ERROR_CORRUPT, "hoist_checkpoint_open", "b.weight"));
  CHECK(
      failed(hoist_checkpoint_open(NULL, &checkpoint), HOIST_ERROR_INVALID_ARGUMENT, "hoist_checkpoint_open", "path"));
  CHECK(failed(hoist_checkpoint_open(truncated, NULL), HOIST_ERROR_INVALID_ARGUMENT, "hoist_checkpoint_open",
               "out_checkpoint"));
  CHECK(checkpoint == NULL);
}

int main(void) {
  char whole[] = "/tmp/hoist-checkpoint-XXXXXX", truncated[] = "/tmp/hoist-checkpoint-XXXXXX";
  write_file(whole, sizeof data);
  write_file(truncated, sizeof data - 1);
  hoist_checkpoint_t* checkpoint = NULL;
  CHECK(hoist_checkpoint_open(whole, &checkpoint) == HOIST_OK);
  CHECK(unlink(whole) == 0); /* the mapping keeps the file */
  check_facts(checkpoint, whole);
  check_refusals(checkpoint);
  check_short_struct(checkpoint);
  check_open(truncated);
  CHECK(unlink(truncated) == 0);
  hoist_checkpoint_close(checkpoint);
  hoist_checkpoint_close(NULL);
  return 0;
}
