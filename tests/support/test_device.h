/* SPDX-License-Identifier: Apache-2.0
 * A device and two streams for a test in C. */
#ifndef HOIST_TESTS_SUPPORT_TEST_DEVICE_H
#define HOIST_TESTS_SUPPORT_TEST_DEVICE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hoist/device.h"
#include "support/check.h"

typedef struct {
  hoist_device_t* device;
  hoist_stream_t* stream;
  hoist_stream_t* other;
} device_t;

/* HOIST_TEST_DEVICES names a device in the place of a threaded host device, as in in_place_of.hpp. */
static inline device_t open_device(const char* name) {
  static const char threaded[] = "host:0?mode=threaded";
  const char* given = getenv("HOIST_TEST_DEVICES");
  device_t on = {NULL, NULL, NULL};
  char other[256];
  if (given != NULL && strncmp(name, threaded, sizeof threaded - 1) == 0) {
    const char* rest = name + sizeof threaded - 1;
    if (strncmp(given, "cuda:", 5) == 0) rest = ""; /* which has no options */
    snprintf(other, sizeof other, "%s%s%s", given, *rest == '&' ? "?" : "", *rest == '&' ? rest + 1 : rest);
    name = other;
  }
  OK(hoist_device_open(name, &on.device));
  OK(hoist_stream_create(on.device, &on.stream));
  OK(hoist_stream_create(on.device, &on.other));
  return on;
}

static inline void close_device(const device_t* on) {
  hoist_stream_destroy(on->other);
  hoist_stream_destroy(on->stream);
  hoist_device_close(on->device);
}

#endif /* HOIST_TESTS_SUPPORT_TEST_DEVICE_H */
