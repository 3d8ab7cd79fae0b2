/* SPDX-License-Identifier: Apache-2.0
 * A child of fork: its parent's handles are refused, its parent's memory may be touched, destroying does nothing,
 * and it may open devices of its own. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hoist/hoist.h"
#include "support/check.h"

/* ThreadSanitizer allows no new threads after a fork of several. */
#if defined(__SANITIZE_THREAD__)
#define CHILDS_MODE "inline"
#else
#define CHILDS_MODE "threaded"
#endif

static void set_flag(void* flag) { *(int*)flag = 1; }

static void in_child(hoist_device_t* device, hoist_stream_t* stream, hoist_event_t* event, void* memory) {
  double now = 0;
  int ready = 0;
  hoist_error_t error = HOIST_ERROR_INIT;
  CHECK(hoist_device_get_time(device, &now) == HOIST_ERROR_FORKED);
  CHECK(hoist_last_error(&error) == HOIST_OK && strstr(error.message, "parent process") != NULL);
  CHECK(hoist_stream_wait(stream) == HOIST_ERROR_FORKED);
  CHECK(hoist_event_poll(event, &ready) == HOIST_ERROR_FORKED);
  CHECK(hoist_memory_create(device, 1, &memory) == HOIST_ERROR_FORKED);
  memset(memory, 1, 4096);
  hoist_memory_destroy(device, memory);
  hoist_event_destroy(event);
  hoist_stream_destroy(stream); /* its thread is not here: must not be waited for */
  hoist_device_close(device);
  hoist_device_t* own = NULL;
  hoist_stream_t* own_stream = NULL;
  int flag = 0;
  CHECK(hoist_device_open("host:0?seed=2&mode=" CHILDS_MODE, &own) == HOIST_OK);
  CHECK(own != device);
  CHECK(hoist_stream_create(own, &own_stream) == HOIST_OK);
  CHECK(hoist_stream_submit_host(own_stream, set_flag, &flag, 0) == HOIST_OK);
  CHECK(hoist_stream_wait(own_stream) == HOIST_OK && flag == 1);
  hoist_stream_destroy(own_stream);
  hoist_device_close(own);
  _exit(0);
}

int main(void) {
  hoist_device_t* device = NULL;
  hoist_stream_t* stream = NULL;
  hoist_event_t* event = NULL;
  void* memory = NULL;
  CHECK(hoist_device_open("host:0?mode=threaded", &device) == HOIST_OK);
  CHECK(hoist_stream_create(device, &stream) == HOIST_OK);
  CHECK(hoist_event_create(device, &event) == HOIST_OK);
  CHECK(hoist_memory_create(device, 4096, &memory) == HOIST_OK);
  CHECK(hoist_event_record(event, stream) == HOIST_OK);
  CHECK(hoist_event_wait(event) == HOIST_OK);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) in_child(device, stream, event, memory);
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(hoist_stream_submit_fill(stream, memory, 3, 4096) == HOIST_OK); /* the parent goes on */
  CHECK(hoist_stream_wait(stream) == HOIST_OK && *(char*)memory == 3);
  hoist_memory_destroy(device, memory);
  hoist_event_destroy(event);
  hoist_stream_destroy(stream);
  hoist_device_close(device);
  return 0;
}
