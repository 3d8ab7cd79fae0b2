/* SPDX-License-Identifier: Apache-2.0 */
/* The device of doc/writing-a-device.md: host memory, everything done when it is submitted. */
/* [start] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hoist/device_ops.h"

static const hoist_device_services_t* services;

static hoist_status_t fail(hoist_status_t code, const char* message) {
  services->error_set(code, message, "");
  return code;
}
/* [end] */

/* [driver] */
static const uint64_t total = 256 << 20;

static hoist_status_t count(void* driver, uint32_t* out) { return (void)driver, *out = 1, HOIST_OK; }

static hoist_status_t describe(void* driver, uint32_t index, hoist_device_properties_t* out) {
  (void)driver;
  if (index != 0) return fail(HOIST_ERROR_NOT_FOUND, "there is npu:0 alone");
  snprintf(out->name, sizeof out->name, "npu:0");
  snprintf(out->description, sizeof out->description, "a first device");
  out->memory_bytes = total;
  out->alignment = 64;
  out->capabilities = HOIST_CAPABILITY_HOST_ADDRESSABLE;
  return HOIST_OK;
}

typedef struct {
  pthread_mutex_t mutex;
  uint64_t used;
  struct {
    char* begin;
    uint64_t bytes;
  } pinned[256];
} npu_t;

static hoist_status_t open_npu(void* driver, uint32_t index, const char* options, void** out) {
  (void)driver;
  if (index != 0) return fail(HOIST_ERROR_NOT_FOUND, "there is npu:0 alone");
  if (options[0] != '\0') return fail(HOIST_ERROR_INVALID_ARGUMENT, "npu:0 has no options");
  npu_t* npu = calloc(1, sizeof *npu);
  if (npu == NULL) return fail(HOIST_ERROR_OUT_OF_MEMORY, "no host memory for a device");
  pthread_mutex_init(&npu->mutex, NULL);
  *out = npu;
  return HOIST_OK;
}

static void close_npu(void* self) { free(self); }

static hoist_status_t query(void* self, hoist_device_properties_t* out) { return (void)self, describe(NULL, 0, out); }

static hoist_status_t get_time(void* self, double* out_us) {
  struct timespec now;
  (void)self;
  clock_gettime(CLOCK_MONOTONIC, &now);
  *out_us = (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
  return HOIST_OK;
}
/* [end] */

/* [memory] */
static hoist_status_t query_memory(void* self, uint64_t* out_free, uint64_t* out_total) {
  npu_t* npu = self;
  pthread_mutex_lock(&npu->mutex);
  *out_free = total - npu->used;
  *out_total = total;
  pthread_mutex_unlock(&npu->mutex);
  return HOIST_OK;
}

/* 64 bytes before each block hold its size. */
static hoist_status_t memory_create(void* self, uint64_t bytes, void** out) {
  npu_t* npu = self;
  void* block = NULL;
  pthread_mutex_lock(&npu->mutex);
  if (bytes <= total - npu->used && posix_memalign(&block, 64, bytes + 64) == 0) npu->used += bytes;
  pthread_mutex_unlock(&npu->mutex);
  if (block == NULL) return fail(HOIST_ERROR_OUT_OF_MEMORY, "that much device memory is not free");
  *(uint64_t*)block = bytes;
  *out = (char*)block + 64;
  return HOIST_OK;
}

static void memory_destroy(void* self, void* memory) {
  npu_t* npu = self;
  if (memory == NULL) return;
  uint64_t* block = (uint64_t*)((char*)memory - 64);
  pthread_mutex_lock(&npu->mutex);
  npu->used -= *block;
  pthread_mutex_unlock(&npu->mutex);
  free(block);
}

static hoist_status_t host_register(void* self, void* memory, uint64_t bytes) {
  npu_t* npu = self;
  int place = -1;
  int meets = 0;
  if (memory == NULL) return fail(HOIST_ERROR_INVALID_ARGUMENT, "host memory is NULL");
  pthread_mutex_lock(&npu->mutex);
  for (int i = 0; i < 256; ++i) {
    char* begin = npu->pinned[i].begin;
    if (begin == NULL)
      place = i;
    else if ((char*)memory < begin + npu->pinned[i].bytes && begin < (char*)memory + bytes)
      meets = 1;
  }
  if (place >= 0 && !meets) {
    npu->pinned[place].begin = memory;
    npu->pinned[place].bytes = bytes;
  }
  pthread_mutex_unlock(&npu->mutex);
  if (meets) return fail(HOIST_ERROR_ALREADY_EXISTS, "a part of it is registered already");
  return place >= 0 ? HOIST_OK : fail(HOIST_ERROR_UNSUPPORTED, "256 ranges are registered already");
}

static hoist_status_t host_unregister(void* self, void* memory, uint64_t bytes) {
  npu_t* npu = self;
  int known = 0;
  pthread_mutex_lock(&npu->mutex);
  for (int i = 0; i < 256 && !known; ++i) {
    known = npu->pinned[i].begin == memory && npu->pinned[i].bytes == bytes;
    if (known) npu->pinned[i].begin = NULL;
  }
  pthread_mutex_unlock(&npu->mutex);
  return known ? HOIST_OK : fail(HOIST_ERROR_INVALID_ARGUMENT, "that range is not registered");
}
/* [end] */

/* [streams] */
typedef struct {
  int recorded;
  double time_us;
} event_t;

static hoist_status_t create(void** out) {
  *out = calloc(1, sizeof(event_t));
  return *out != NULL ? HOIST_OK : fail(HOIST_ERROR_OUT_OF_MEMORY, "no host memory");
}

static hoist_status_t stream_create(void* self, void** out) { return (void)self, create(out); }
static void stream_destroy(void* self, void* stream) { (void)self, free(stream); }
static hoist_status_t stream_wait(void* self, void* stream) { return (void)self, (void)stream, HOIST_OK; }

static hoist_status_t event_create(void* self, void** out) { return (void)self, create(out); }
static void event_destroy(void* self, void* event) { (void)self, free(event); }

static hoist_status_t event_record(void* self, void* event, void* stream) {
  (void)stream;
  ((event_t*)event)->recorded = 1;
  return get_time(self, &((event_t*)event)->time_us);
}

static hoist_status_t event_poll(void* self, void* event, int* out) {
  return (void)self, *out = ((event_t*)event)->recorded, HOIST_OK;
}

static hoist_status_t event_wait(void* self, void* event) {
  (void)self;
  return ((event_t*)event)->recorded ? HOIST_OK : fail(HOIST_ERROR_ORDER, "the event was never recorded");
}

static hoist_status_t stream_wait_event(void* self, void* stream, void* event) {
  return (void)stream, event_wait(self, event);
}

static hoist_status_t event_get_elapsed(void* self, void* begin, void* end, double* out_us) {
  const event_t* first = begin;
  const event_t* last = end;
  (void)self;
  if (!first->recorded || !last->recorded) return fail(HOIST_ERROR_INVALID_STATE, "an event has not been reached");
  *out_us = last->time_us - first->time_us;
  return HOIST_OK;
}
/* [end] */

/* [work] */
static hoist_status_t copy(void* self, void* stream, hoist_copy_kind_t kind, void* dst, const void* src,
                           uint64_t bytes) {
  (void)self, (void)stream;
  if (dst == NULL || src == NULL) return fail(HOIST_ERROR_INVALID_ARGUMENT, "a pointer of a copy is NULL");
  if (kind != HOIST_COPY_H2D && kind != HOIST_COPY_D2H && kind != HOIST_COPY_D2D) {
    return fail(HOIST_ERROR_INVALID_ARGUMENT, "that kind of copy is unknown");
  }
  memcpy(dst, src, bytes);
  return HOIST_OK;
}

static hoist_status_t fill(void* self, void* stream, void* dst, uint8_t value, uint64_t bytes) {
  return (void)self, (void)stream, memset(dst, value, bytes), HOIST_OK;
}

static hoist_status_t host_function(void* self, void* stream, hoist_host_fn_t function, void* user_data,
                                    double modelled_us) {
  (void)self, (void)stream, (void)modelled_us;
  if (function == NULL) return fail(HOIST_ERROR_INVALID_ARGUMENT, "function is NULL");
  function(user_data);
  return HOIST_OK;
}
/* [end] */

/* [table] */
static const hoist_device_ops_t table = {.struct_size = sizeof table,
                                         .abi_version = HOIST_DEVICE_ABI_VERSION,
                                         .name = "npu",
                                         .count = count,
                                         .describe = describe,
                                         .open = open_npu,
                                         .close = close_npu,
                                         .query = query,
                                         .query_memory = query_memory,
                                         .get_time = get_time,
                                         .memory_create = memory_create,
                                         .memory_destroy = memory_destroy,
                                         .host_register = host_register,
                                         .host_unregister = host_unregister,
                                         .stream_create = stream_create,
                                         .stream_destroy = stream_destroy,
                                         .stream_wait = stream_wait,
                                         .stream_wait_event = stream_wait_event,
                                         .event_create = event_create,
                                         .event_destroy = event_destroy,
                                         .event_record = event_record,
                                         .event_poll = event_poll,
                                         .event_wait = event_wait,
                                         .event_get_elapsed = event_get_elapsed,
                                         .copy = copy,
                                         .fill = fill,
                                         .host_function = host_function};

__attribute__((visibility("default"))) hoist_status_t hoist_device_plugin_init(uint32_t requested_abi,
                                                                               const hoist_device_services_t* given,
                                                                               hoist_device_ops_t* out_ops) {
  if (requested_abi != HOIST_DEVICE_ABI_VERSION || out_ops->struct_size < sizeof table) return HOIST_ERROR_UNSUPPORTED;
  services = given;
  *out_ops = table;
  return HOIST_OK;
}
/* [end] */
