/* SPDX-License-Identifier: Apache-2.0 */
/* A device of a released level, as a plugin: compiled against the headers of tests/compat/vX_Y, the present library
 * loads it and serves a manager on it. Host memory, everything done when it is submitted. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hoist/device_ops.h"

enum { MEMORY = 1 << 24 };

static hoist_status_t count(void* driver, uint32_t* out) { return (void)driver, *out = 1, HOIST_OK; }

static hoist_status_t query(void* self, hoist_device_properties_t* out);
static hoist_status_t describe(void* driver, uint32_t index, hoist_device_properties_t* out) {
  return (void)index, query(driver, out);
}

static hoist_status_t open_device(void* driver, uint32_t index, const char* options, void** out) {
  static char self;
  (void)driver, (void)options;
  if (index != 0) return HOIST_ERROR_NOT_FOUND;
  *out = &self;
  return HOIST_OK;
}

static void close_device(void* self) { (void)self; }

static hoist_status_t query(void* self, hoist_device_properties_t* out) {
  (void)self;
  strcpy(out->name, "plain:0");
  strcpy(out->description, "a device of level 0.1");
  out->memory_bytes = MEMORY;
  out->alignment = 64;
  out->capabilities = HOIST_CAPABILITY_HOST_ADDRESSABLE;
  return HOIST_OK;
}

static hoist_status_t query_memory(void* self, uint64_t* out_free, uint64_t* out_total) {
  return (void)self, *out_free = *out_total = MEMORY, HOIST_OK;
}

static hoist_status_t get_time(void* self, double* out_us) {
  struct timespec now;
  (void)self;
  timespec_get(&now, TIME_UTC);
  *out_us = (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
  return HOIST_OK;
}

static hoist_status_t memory_create(void* self, uint64_t bytes, void** out) {
  (void)self;
  *out = aligned_alloc(64, (bytes + 64) / 64 * 64);
  return *out != NULL ? HOIST_OK : HOIST_ERROR_OUT_OF_MEMORY;
}

static void memory_destroy(void* self, void* memory) { (void)self, free(memory); }

static hoist_status_t host_range(void* self, void* memory, uint64_t bytes) {
  return (void)self, (void)memory, (void)bytes, HOIST_OK;
}

/* A stream is nothing, an event the time at which it was recorded. */
static hoist_status_t make(void* self, void** out) {
  (void)self;
  *out = calloc(1, sizeof(double));
  return *out != NULL ? HOIST_OK : HOIST_ERROR_OUT_OF_MEMORY;
}

static void unmake(void* self, void* made) { (void)self, free(made); }
static hoist_status_t wait(void* self, void* made) { return (void)self, (void)made, HOIST_OK; }
static hoist_status_t stream_wait_event(void* self, void* s, void* e) { return (void)self, (void)s, (void)e, HOIST_OK; }
static hoist_status_t event_record(void* self, void* event, void* stream) {
  return (void)stream, get_time(self, event);
}
static hoist_status_t event_poll(void* self, void* e, int* out) { return (void)self, (void)e, *out = 1, HOIST_OK; }

static hoist_status_t event_get_elapsed(void* self, void* begin, void* end, double* out_us) {
  return (void)self, *out_us = *(double*)end - *(double*)begin, HOIST_OK;
}

static hoist_status_t copy(void* self, void* stream, hoist_copy_kind_t kind, void* dst, const void* src,
                           uint64_t bytes) {
  return (void)self, (void)stream, (void)kind, memcpy(dst, src, bytes), HOIST_OK;
}

static hoist_status_t fill(void* self, void* stream, void* dst, uint8_t value, uint64_t bytes) {
  return (void)self, (void)stream, memset(dst, value, bytes), HOIST_OK;
}

static hoist_status_t host_function(void* self, void* stream, hoist_host_fn_t function, void* user_data,
                                    double modelled_us) {
  return (void)self, (void)stream, (void)modelled_us, function(user_data), HOIST_OK;
}

__attribute__((visibility("default"))) hoist_status_t hoist_device_plugin_init(uint32_t requested_abi,
                                                                               const hoist_device_services_t* services,
                                                                               hoist_device_ops_t* out_ops) {
  (void)services;
  if (requested_abi != HOIST_DEVICE_ABI_VERSION) return HOIST_ERROR_UNSUPPORTED;
  *out_ops = (hoist_device_ops_t){.struct_size = sizeof *out_ops,
                                  .abi_version = HOIST_DEVICE_ABI_VERSION,
                                  .name = "plain",
                                  .count = count,
                                  .describe = describe,
                                  .open = open_device,
                                  .close = close_device,
                                  .query = query,
                                  .query_memory = query_memory,
                                  .get_time = get_time,
                                  .memory_create = memory_create,
                                  .memory_destroy = memory_destroy,
                                  .host_register = host_range,
                                  .host_unregister = host_range,
                                  .stream_create = make,
                                  .stream_destroy = unmake,
                                  .stream_wait = wait,
                                  .stream_wait_event = stream_wait_event,
                                  .event_create = make,
                                  .event_destroy = unmake,
                                  .event_record = event_record,
                                  .event_poll = event_poll,
                                  .event_wait = wait,
                                  .event_get_elapsed = event_get_elapsed,
                                  .copy = copy,
                                  .fill = fill,
                                  .host_function = host_function};
  return HOIST_OK;
}
