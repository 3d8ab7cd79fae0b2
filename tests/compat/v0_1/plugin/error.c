/* SPDX-License-Identifier: Apache-2.0 */
/* How a slot fails: words first, then the status. And failures on demand, so that hoist's tests can try each. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "my_device.h"

const hoist_device_services_t* my_services;

hoist_status_t my_fail(hoist_status_t code, const char* hint, const char* format, ...) {
  char message[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  my_services->error_set(code, message, hint);
  return code;
}

static bool is_slot(const char* name, size_t length) {
  static const char* const slots[] = {"query",         "query_memory",      "get_time",
                                      "memory_create", "host_register",     "host_unregister",
                                      "stream_create", "stream_wait",       "stream_wait_event",
                                      "event_create",  "event_record",      "event_poll",
                                      "event_wait",    "event_get_elapsed", "copy",
                                      "fill",          "host_function",     "work"};
  for (size_t i = 0; i < sizeof slots / sizeof *slots; ++i) {
    if (strlen(slots[i]) == length && strncmp(slots[i], name, length) == 0) return true;
  }
  return false;
}

/* "copy@3": the third next copy fails; "copy@3+": that and all later ones; "": none. */
hoist_status_t my_set_fault(my_device_t* device, const char* spec) {
  const size_t length = strcspn(spec, "@");
  char* end = NULL;
  const long turn = spec[length] == '@' ? strtol(spec + length + 1, &end, 10) : 0;
  const bool stays = end != NULL && *end == '+';
  const bool good = is_slot(spec, length) && turn >= 1 && end[stays] == '\0';
  if (!good && *spec != '\0') {
    return my_fail(HOIST_ERROR_INVALID_ARGUMENT, "give SLOT@N or SLOT@N+, or nothing", "setting fail is '%s'", spec);
  }
  pthread_mutex_lock(&device->mutex);
  snprintf(device->fault_slot, sizeof device->fault_slot, "%.*s", (int)length, spec);
  device->fault_turn = turn;
  device->fault_stays = stays;
  pthread_mutex_unlock(&device->mutex);
  return HOIST_OK;
}

hoist_status_t my_fault(my_device_t* device, const char* slot) {
  bool fails = false;
  pthread_mutex_lock(&device->mutex);
  if (strcmp(device->fault_slot, slot) == 0) {
    fails = device->fault_turn <= 1;
    if (device->fault_turn > 1)
      --device->fault_turn;
    else if (!device->fault_stays)
      device->fault_slot[0] = '\0';
  }
  pthread_mutex_unlock(&device->mutex);
  if (!fails) return HOIST_OK;
  const bool memory = strcmp(slot, "memory_create") == 0 || strcmp(slot, "host_register") == 0;
  return my_fail(memory ? HOIST_ERROR_OUT_OF_MEMORY : HOIST_ERROR_DEVICE, "setting fail to \"\" ends it",
                 "failure injected at %s", slot);
}
