/* SPDX-License-Identifier: Apache-2.0
 * The smallest device plugin: a device that is there. PLUGIN_MOOD says what is wrong with it. */
#include <stdlib.h>
#include <string.h>

#include "hoist/device_ops.h"

static int is_mood(const char* wanted) {
  const char* mood = getenv("PLUGIN_MOOD");
  return mood != NULL && strcmp(mood, wanted) == 0;
}
static hoist_status_t count(void* driver, uint32_t* out) {
  (void)driver;
  *out = 3;
  return HOIST_OK;
}
static hoist_status_t query(void* self, hoist_device_properties_t* out);
static hoist_status_t describe(void* driver, uint32_t index, hoist_device_properties_t* out) {
  (void)index;
  return query(driver, out);
}
static hoist_status_t open_one(void* driver, uint32_t index, const char* options, void** out) {
  (void)driver;
  (void)index;
  (void)options;
  *out = NULL;
  return HOIST_OK;
}
static void close_one(void* self) { (void)self; }
static hoist_status_t query(void* self, hoist_device_properties_t* out) {
  (void)self;
  strcpy(out->name, "mini");
  out->alignment = 128;
  if (is_mood("claims")) out->capabilities = HOIST_CAPABILITY_ASYNC | HOIST_CAPABILITY_ACCESS;
  return HOIST_OK;
}
static hoist_status_t query_memory(void* self, uint64_t* f, uint64_t* t) {
  (void)self;
  *f = *t = 0;
  return HOIST_OK;
}
static hoist_status_t get_time(void* self, double* out) {
  (void)self;
  *out = 42;
  return HOIST_OK;
}
static hoist_status_t create(void* self, void** out) {
  (void)self;
  *out = NULL;
  return HOIST_OK;
}
static hoist_status_t memory(void* self, uint64_t bytes, void** out) {
  (void)bytes;
  return create(self, out);
}
static void destroy(void* self, void* one) {
  (void)self;
  (void)one;
}
static hoist_status_t range(void* self, void* m, uint64_t b) {
  (void)self;
  (void)m;
  (void)b;
  return HOIST_OK;
}
static hoist_status_t one(void* self, void* a) {
  (void)self;
  (void)a;
  return HOIST_OK;
}
static hoist_status_t two(void* self, void* a, void* b) {
  (void)self;
  (void)a;
  (void)b;
  return HOIST_OK;
}
static hoist_status_t poll_one(void* self, void* e, int* out) {
  (void)self;
  (void)e;
  *out = 1;
  return HOIST_OK;
}
static hoist_status_t elapsed(void* self, void* a, void* b, double* out) {
  *out = 0;
  return two(self, a, b);
}
static hoist_status_t copy(void* self, void* s, hoist_copy_kind_t k, void* d, const void* f, uint64_t b) {
  (void)k;
  (void)f;
  (void)b;
  return two(self, s, d);
}
static hoist_status_t fill(void* self, void* s, void* d, uint8_t v, uint64_t b) {
  (void)v;
  (void)b;
  return two(self, s, d);
}
static hoist_status_t host(void* self, void* s, hoist_host_fn_t f, void* u, double us) {
  (void)us;
  f(u);
  return one(self, s);
}

__attribute__((visibility("default"))) hoist_status_t hoist_device_plugin_init(uint32_t requested_abi,
                                                                               const hoist_device_services_t* services,
                                                                               hoist_device_ops_t* out_ops) {
  if (requested_abi != 1 || is_mood("no level")) return HOIST_ERROR_UNSUPPORTED;
  if (is_mood("refuses")) {
    services->error_set(HOIST_ERROR_DEVICE, "the card is on fire", "put it out");
    return HOIST_ERROR_DEVICE;
  }
  if (out_ops->struct_size != sizeof *out_ops) return HOIST_ERROR_INTERNAL;
  const hoist_device_ops_t ops = {.struct_size = sizeof ops,
                                  .abi_version = 1,
                                  .name = "mini",
                                  .count = count,
                                  .describe = describe,
                                  .open = open_one,
                                  .close = close_one,
                                  .query = query,
                                  .query_memory = query_memory,
                                  .get_time = get_time,
                                  .memory_create = memory,
                                  .memory_destroy = destroy,
                                  .host_register = range,
                                  .host_unregister = range,
                                  .stream_create = create,
                                  .stream_destroy = destroy,
                                  .stream_wait = one,
                                  .stream_wait_event = two,
                                  .event_create = create,
                                  .event_destroy = destroy,
                                  .event_record = two,
                                  .event_poll = poll_one,
                                  .event_wait = one,
                                  .event_get_elapsed = elapsed,
                                  .copy = copy,
                                  .fill = fill,
                                  .host_function = host};
  *out_ops = ops;
  if (is_mood("no copy")) out_ops->copy = NULL;
  if (is_mood("short")) out_ops->struct_size -= sizeof(void*);
  if (is_mood("past")) out_ops->abi_version = 0;
  if (is_mood("future")) out_ops->abi_version = 2;
  if (is_mood("endless")) out_ops->struct_size = 1 << 20;
  if (is_mood("more")) { /* as one that was built with newer headers, and looks at no level */
    out_ops->struct_size += sizeof(void*);
    memset(out_ops + 1, 0x7f, sizeof(void*));
  }
  return HOIST_OK;
}
