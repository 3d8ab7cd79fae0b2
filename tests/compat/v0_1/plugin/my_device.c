/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's side, and the table. Start here. */
#include "my_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hoist_status_t count(void* driver, uint32_t* out_count) {
  (void)driver;
  *out_count = MY_COUNT;
  return HOIST_OK;
}

static void fill_in(uint32_t index, uint64_t total, hoist_device_properties_t* out) {
  snprintf(out->name, sizeof out->name, "my:%u", (unsigned)index);
  snprintf(out->description, sizeof out->description, "host memory behind threads, an example of a plugin");
  out->memory_bytes = total;
  out->alignment = MY_ALIGNMENT;
  out->capabilities = HOIST_CAPABILITY_ASYNC | HOIST_CAPABILITY_HOST_ADDRESSABLE;
}

static const uint64_t default_memory = (uint64_t)1 << 30;

static hoist_status_t check_index(uint32_t index) {
  if (index < MY_COUNT) return HOIST_OK;
  return my_fail(HOIST_ERROR_NOT_FOUND, "open my:0 or my:1", "there is no my:%u", (unsigned)index);
}

static hoist_status_t describe(void* driver, uint32_t index, hoist_device_properties_t* out_properties) {
  (void)driver;
  const hoist_status_t status = check_index(index);
  if (status == HOIST_OK) fill_in(index, default_memory, out_properties);
  return status;
}

/* A number, maybe with KiB, MiB or GiB after it, up to an & or the end. */
static bool parse(const char* text, double* out) {
  char* end;
  *out = strtod(text, &end);
  if (end == text || !(*out >= 0) || *out > 1e15) return false;
  if (strncmp(end, "KiB", 3) == 0)
    *out *= 1024, end += 3;
  else if (strncmp(end, "MiB", 3) == 0)
    *out *= 1048576, end += 3;
  else if (strncmp(end, "GiB", 3) == 0)
    *out *= 1073741824, end += 3;
  return *end == '\0' || *end == '&';
}

static hoist_status_t parse_options(my_device_t* device, const char* options) {
  while (*options != '\0') {
    double value;
    if (strncmp(options, "memory=", 7) == 0 && parse(options + 7, &value) && value >= 1) {
      device->total = (uint64_t)value;
    } else if (strncmp(options, "copy_delay_us=", 14) == 0 && parse(options + 14, &value)) {
      device->copy_delay_us = value;
    } else {
      return my_fail(HOIST_ERROR_INVALID_ARGUMENT, "give memory=512MiB or copy_delay_us=100", "options '%s'", options);
    }
    options += strcspn(options, "&");
    options += *options == '&';
  }
  return HOIST_OK;
}

static void close_device(void* self) {
  my_device_t* device = self;
  my_free_ranges(device->memory, true);
  my_free_ranges(device->registered, false);
  my_free_ops(device->spare_ops);
  my_free_marks(device->spare_marks);
  pthread_mutex_destroy(&device->mutex);
  free(device);
}

static hoist_status_t open_device(void* driver, uint32_t index, const char* options, void** out_self) {
  (void)driver;
  hoist_status_t status = check_index(index);
  if (status != HOIST_OK) return status;
  my_device_t* device = calloc(1, sizeof *device);
  if (device == NULL) return my_fail(HOIST_ERROR_OUT_OF_MEMORY, "", "no host memory for a device");
  device->index = index;
  device->total = default_memory;
  device->opened_us = my_now_us();
  pthread_mutex_init(&device->mutex, NULL);
  status = parse_options(device, options);
  if (status == HOIST_OK && !(my_add_spare_ops(device, MY_IN_FLIGHT) && my_add_spare_marks(device, MY_IN_FLIGHT))) {
    status = my_fail(HOIST_ERROR_OUT_OF_MEMORY, "", "no host memory for work in flight");
  }
  if (status == HOIST_OK)
    *out_self = device;
  else
    close_device(device);
  return status;
}

static hoist_status_t query(void* self, hoist_device_properties_t* out_properties) {
  my_device_t* device = self;
  const hoist_status_t status = my_fault(device, "query");
  if (status == HOIST_OK) fill_in(device->index, device->total, out_properties);
  return status;
}

static hoist_status_t get_time(void* self, double* out_us) {
  my_device_t* device = self;
  const hoist_status_t status = my_fault(device, "get_time");
  if (status == HOIST_OK) *out_us = my_now_us() - device->opened_us;
  return status;
}

/* What tests make of the device: slow, short of memory, failing. */
static hoist_status_t set(void* self, const char* key, const char* value) {
  my_device_t* device = self;
  double number = 0;
  if (strcmp(key, "fail") == 0) return my_set_fault(device, value);
  const bool delays = strcmp(key, "copy_delay_us") == 0;
  if (!delays && strcmp(key, "memory_taken") != 0) {
    return my_fail(HOIST_ERROR_INVALID_ARGUMENT, "the settings are fail, copy_delay_us and memory_taken",
                   "setting '%s' is unknown", key);
  }
  if (!parse(value, &number)) return my_fail(HOIST_ERROR_INVALID_ARGUMENT, "", "setting %s is '%s'", key, value);
  pthread_mutex_lock(&device->mutex);
  if (delays)
    device->copy_delay_us = number;
  else
    device->taken = (uint64_t)number;
  pthread_mutex_unlock(&device->mutex);
  return HOIST_OK;
}

static const hoist_device_ops_t table = {.struct_size = sizeof table,
                                         .abi_version = HOIST_DEVICE_ABI_VERSION,
                                         .name = "my",
                                         .count = count,
                                         .describe = describe,
                                         .open = open_device,
                                         .close = close_device,
                                         .query = query,
                                         .query_memory = my_query_memory,
                                         .set = set,
                                         .get_time = get_time,
                                         .memory_create = my_memory_create,
                                         .memory_destroy = my_memory_destroy,
                                         .host_register = my_host_register,
                                         .host_unregister = my_host_unregister,
                                         .stream_create = my_stream_create,
                                         .stream_destroy = my_stream_destroy,
                                         .stream_wait = my_stream_wait,
                                         .stream_wait_event = my_stream_wait_event,
                                         .event_create = my_event_create,
                                         .event_destroy = my_event_destroy,
                                         .event_record = my_event_record,
                                         .event_poll = my_event_poll,
                                         .event_wait = my_event_wait,
                                         .event_get_elapsed = my_event_get_elapsed,
                                         .copy = my_copy,
                                         .fill = my_fill,
                                         .host_function = my_host_function};

/* The plugin was built for one level. A hoist that offers less room, or asks for less, cannot take its table. */
__attribute__((visibility("default"))) hoist_status_t hoist_device_plugin_init(uint32_t requested_abi,
                                                                               const hoist_device_services_t* services,
                                                                               hoist_device_ops_t* out_ops) {
  if (requested_abi != HOIST_DEVICE_ABI_VERSION || out_ops->struct_size < sizeof table) return HOIST_ERROR_UNSUPPORTED;
  my_services = services;
  *out_ops = table;
  return HOIST_OK;
}
