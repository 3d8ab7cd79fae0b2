/* SPDX-License-Identifier: Apache-2.0
 * status.h, version.h and device.h from C: what each call promises, and what it says when it refuses. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hoist/device_ops.h"
#include "hoist/hoist.h"
#include "support/check.h"

static void test_records(void) {
  hoist_error_t error = HOIST_ERROR_INIT;
  error.code = HOIST_ERROR_IO;
  OK(hoist_last_error(&error));
  CHECK(error.code == HOIST_OK && error.message[0] == '\0' && error.where[0] == '\0' && error.hint[0] == '\0');
  CHECK(failed(hoist_last_error(NULL), HOIST_ERROR_INVALID_ARGUMENT, "hoist_last_error", "out_error is NULL"));
  error.struct_size = 4;
  CHECK(failed(hoist_last_error(&error), HOIST_ERROR_INVALID_ARGUMENT, "hoist_last_error", "struct_size is 4"));
  uint32_t count = 0;
  OK(hoist_device_count(&count)); /* success does not touch the record */
  CHECK(failed(HOIST_ERROR_INVALID_ARGUMENT, HOIST_ERROR_INVALID_ARGUMENT, "hoist_last_error", "struct_size is 4"));
  CHECK(strcmp(hoist_status_string(HOIST_ERROR_BUSY), "HOIST_ERROR_BUSY") == 0);
  CHECK(strcmp(hoist_status_string((hoist_status_t)1234), "HOIST_ERROR_UNKNOWN") == 0);
  CHECK(hoist_version_abi() >= HOIST_ABI_VERSION);
  char version[32];
  snprintf(version, sizeof version, "%d.%d.%d", HOIST_VERSION_MAJOR, HOIST_VERSION_MINOR, HOIST_VERSION_PATCH);
  CHECK(strcmp(hoist_version_string(), version) == 0);
}

static void count_line(void* lines, hoist_log_level_t level, const char* message) {
  if (level == HOIST_LOG_ERROR && strlen(message) > 0) ++*(int*)lines;
}

static void test_log(void) {
  int lines = 0;
  OK(hoist_log_set(HOIST_LOG_ERROR, count_line, &lines));
  hoist_device_t* device = NULL;
  OK(hoist_device_open("host:0?mode=inline", &device));
  hoist_memory_destroy(device, &lines); /* not memory of the device: nobody can be told but the log */
  CHECK(lines == 1);
  OK(hoist_log_set(HOIST_LOG_WARNING, NULL, NULL));
  CHECK(hoist_log_set((hoist_log_level_t)9, NULL, NULL) == HOIST_ERROR_INVALID_ARGUMENT);
  hoist_device_close(device);
}

static void test_open(void) {
  uint32_t count = 0;
  OK(hoist_device_count(&count));
  CHECK(count >= 2);
  hoist_device_t* one = NULL;
  hoist_device_t* two = NULL;
  OK(hoist_device_open("host:0?mode=virtual&latency_us=5", &one));
  OK(hoist_device_open("host:0", &two));
  CHECK(one == two);
  hoist_device_t* untouched = (hoist_device_t*)&count;
  CHECK(failed(hoist_device_open("host:0?mode=inline", &untouched), HOIST_ERROR_ALREADY_EXISTS, "hoist_device_open",
               "mode=inline"));
  CHECK(untouched == (hoist_device_t*)&count);
  CHECK(failed(hoist_device_open("host:7", &untouched), HOIST_ERROR_NOT_FOUND, "hoist_device_open", "host:1"));
  CHECK(failed(hoist_device_open("host:1?mdoe=inline", &untouched), HOIST_ERROR_INVALID_ARGUMENT, "hoist_device_open",
               "'mode'"));
  CHECK(failed(hoist_device_open(NULL, &untouched), HOIST_ERROR_INVALID_ARGUMENT, "hoist_device_open", "name is NULL"));
  CHECK(hoist_device_open("host:0", NULL) == HOIST_ERROR_INVALID_ARGUMENT);
  CHECK(hoist_device_count(NULL) == HOIST_ERROR_INVALID_ARGUMENT);
  hoist_device_close(one);
  double now = -1;
  OK(hoist_device_get_time(two, &now)); /* every open needs its close */
  CHECK(now == 0);
  hoist_device_close(two);
  hoist_device_close(NULL);
  CHECK(failed(hoist_device_get_time(two, &now), HOIST_ERROR_INVALID_STATE, "hoist_device_get_time", "destroyed"));
}

static void test_query(void) {
  hoist_device_t* device = NULL;
  OK(hoist_device_open("host:1?mode=guarded&memory=1MiB", &device));
  struct {
    hoist_device_properties_t known;
    uint64_t newer;
  } later;
  memset(&later, 0x55, sizeof later);
  later.known.struct_size = sizeof later;
  OK(hoist_device_query(device, &later.known));
  CHECK(strcmp(later.known.name, "host:1") == 0 && later.known.alignment == 4096);
  CHECK(later.known.memory_bytes == 1 << 20 && later.known.struct_size == sizeof later);
  CHECK((later.known.capabilities & HOIST_CAPABILITY_ACCESS) != 0 && later.newer == 0);
  hoist_device_properties_t shorter;
  memset(&shorter, 0x55, sizeof shorter);
  shorter.struct_size = offsetof(hoist_device_properties_t, alignment);
  OK(hoist_device_query(device, &shorter));
  CHECK(shorter.memory_bytes == 1 << 20 && shorter.alignment == UINT64_C(0x5555555555555555));
  shorter.struct_size = 0;
  CHECK(failed(hoist_device_query(device, &shorter), HOIST_ERROR_INVALID_ARGUMENT, "hoist_device_query",
               "struct_size is 0"));
  uint64_t free_bytes = 7;
  uint64_t total = 7;
  CHECK(hoist_device_query_memory(device, &free_bytes, NULL) == HOIST_ERROR_INVALID_ARGUMENT && free_bytes == 7);
  OK(hoist_device_query_memory(device, &free_bytes, &total));
  CHECK(free_bytes == 1 << 20 && total == 1 << 20);
  void* memory = &total;
  CHECK(failed(hoist_memory_create(device, 2 << 20, &memory), HOIST_ERROR_OUT_OF_MEMORY, "hoist_memory_create",
               "2097152"));
  CHECK(memory == &total);
  CHECK(failed(hoist_device_set(device, "memory_takn", "1"), HOIST_ERROR_INVALID_ARGUMENT, "hoist_device_set",
               "'memory_taken'"));
  hoist_device_close(device);
}

typedef struct add_t {
  unsigned char* bytes;
  size_t count;
} add_t;

static void add_one(void* user) {
  const add_t* work = user;
  for (size_t i = 0; i < work->count; ++i) ++work->bytes[i];
}

static void test_work(const char* name) {
  hoist_device_t* device = NULL;
  OK(hoist_device_open(name, &device));
  hoist_stream_t* copies = NULL;
  hoist_stream_t* compute = NULL;
  hoist_event_t* loaded = NULL;
  hoist_event_t* done = NULL;
  OK(hoist_stream_create(device, &copies));
  OK(hoist_stream_create(device, &compute));
  OK(hoist_event_create(device, &loaded));
  OK(hoist_event_create(device, &done));
  void* memory = NULL;
  OK(hoist_memory_create(device, 1000, &memory));
  unsigned char in[1000];
  unsigned char out[1000] = {0};
  for (int i = 0; i < 1000; ++i) in[i] = (unsigned char)(i * 7);
  CHECK(failed(hoist_stream_wait_event(compute, loaded), HOIST_ERROR_ORDER, "hoist_stream_wait_event", "recorded"));
  CHECK(failed(hoist_event_wait(loaded), HOIST_ERROR_ORDER, "hoist_event_wait", "recorded"));
  OK(hoist_stream_submit_fill(copies, memory, 0, 1000));
  OK(hoist_stream_submit_copy(copies, HOIST_COPY_H2D, memory, in, 1000));
  OK(hoist_event_record(loaded, copies));
  OK(hoist_stream_wait_event(compute, loaded));
  add_t work = {memory, 1000};
  OK(hoist_stream_submit_host(compute, add_one, &work, 20));
  OK(hoist_stream_submit_copy(compute, HOIST_COPY_D2H, out, memory, 1000));
  OK(hoist_event_record(done, compute));
  hoist_device_close(device); /* streams and events keep it alive */
  OK(hoist_event_wait(done));
  int ready = 0;
  OK(hoist_event_poll(loaded, &ready));
  CHECK(ready == 1);
  double us = -1;
  OK(hoist_event_get_elapsed(loaded, done, &us));
  CHECK(us >= 0);
  for (int i = 0; i < 1000; ++i) CHECK(out[i] == (unsigned char)(i * 7 + 1));
  CHECK(failed(hoist_stream_submit_host(compute, NULL, NULL, 0), HOIST_ERROR_INVALID_ARGUMENT,
               "hoist_stream_submit_host", "function is NULL"));
  CHECK(failed(hoist_stream_submit_copy(compute, HOIST_COPY_H2D, in, out, 1), HOIST_ERROR_INVALID_ARGUMENT,
               "hoist_stream_submit_copy", "destination"));
  OK(hoist_stream_wait(compute));
  OK(hoist_device_open(name, &device));
  hoist_memory_destroy(device, memory);
  hoist_device_close(device);
  hoist_event_destroy(loaded);
  hoist_event_destroy(done);
  hoist_stream_destroy(copies);
  hoist_stream_destroy(compute);
}

static void test_handles(void) {
  hoist_device_t* device = NULL;
  hoist_device_t* other = NULL;
  hoist_stream_t* stream = NULL;
  hoist_stream_t* foreign = NULL;
  hoist_event_t* event = NULL;
  OK(hoist_device_open("host:0?mode=inline", &device));
  OK(hoist_device_open("host:1?mode=inline", &other));
  OK(hoist_stream_create(device, &stream));
  OK(hoist_stream_create(other, &foreign));
  OK(hoist_event_create(device, &event));
  CHECK(failed(hoist_stream_wait(NULL), HOIST_ERROR_INVALID_ARGUMENT, "hoist_stream_wait", "stream is NULL"));
  CHECK(failed(hoist_event_record(event, NULL), HOIST_ERROR_INVALID_ARGUMENT, "hoist_event_record", "stream is NULL"));
  CHECK(failed(hoist_stream_wait((hoist_stream_t*)event), HOIST_ERROR_INVALID_ARGUMENT, "hoist_stream_wait",
               "no hoist_stream_t"));
  CHECK(failed(hoist_event_record(event, foreign), HOIST_ERROR_INVALID_ARGUMENT, "hoist_event_record", "host:1"));
  OK(hoist_event_record(event, stream));
  CHECK(failed(hoist_stream_wait_event(foreign, event), HOIST_ERROR_INVALID_ARGUMENT, "hoist_stream_wait_event",
               "host:1"));
  CHECK(failed(hoist_stream_wrap(device, &stream, &foreign), HOIST_ERROR_UNSUPPORTED, "hoist_stream_wrap", "host:0"));
  hoist_stream_destroy(NULL);
  hoist_event_destroy(NULL);
  hoist_memory_destroy(device, NULL);
  hoist_memory_destroy(NULL, NULL);
  hoist_event_destroy(event);
  hoist_stream_destroy(stream);
  hoist_stream_destroy(foreign);
  /* Trust mode is on in tests: shells stay, so that late uses are told. */
  CHECK(failed(hoist_stream_wait(stream), HOIST_ERROR_INVALID_STATE, "hoist_stream_wait", "destroyed"));
  int ready = 0;
  CHECK(failed(hoist_event_poll(event, &ready), HOIST_ERROR_INVALID_STATE, "hoist_event_poll", "destroyed"));
  OK(hoist_log_set(HOIST_LOG_OFF, NULL, NULL));
  hoist_event_destroy(event); /* twice: logged */
  OK(hoist_log_set(HOIST_LOG_WARNING, NULL, NULL));
  hoist_device_close(device);
  hoist_device_close(other);
}

typedef struct meeting_t {
  hoist_stream_t* stream;
  hoist_status_t second;
} meeting_t;

static void* submit_second(void* user) {
  meeting_t* meeting = user;
  meeting->second = hoist_stream_submit_fill(meeting->stream, NULL, 0, 0);
  CHECK(failed(meeting->second, HOIST_ERROR_BUSY, "hoist_stream_submit_fill", "another thread"));
  return NULL;
}

/* Runs inside the first thread's submission. */
static void meet(void* user) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, submit_second, user) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
}

static void test_busy(void) {
  hoist_device_t* device = NULL;
  OK(hoist_device_open("host:0?mode=inline", &device));
  meeting_t meeting = {NULL, HOIST_OK};
  OK(hoist_stream_create(device, &meeting.stream));
  OK(hoist_stream_submit_host(meeting.stream, meet, &meeting, 0));
  CHECK(meeting.second == HOIST_ERROR_BUSY);
  OK(hoist_stream_submit_fill(meeting.stream, NULL, 0, 0)); /* free again */
  hoist_stream_destroy(meeting.stream);
  hoist_device_close(device);
}

static void test_virtual_clock(void) {
  hoist_device_t* device = NULL;
  hoist_stream_t* stream = NULL;
  void* memory = NULL;
  char host[10000] = {0};
  double now = -1;
  OK(hoist_device_open("host:0?mode=virtual&h2d_gbps=10&latency_us=5", &device));
  OK(hoist_stream_create(device, &stream));
  OK(hoist_memory_create(device, sizeof host, &memory));
  OK(hoist_stream_submit_copy(stream, HOIST_COPY_H2D, memory, host, sizeof host));
  OK(hoist_device_get_time(device, &now));
  CHECK(now == 0);
  OK(hoist_stream_wait(stream));
  OK(hoist_device_get_time(device, &now));
  CHECK(now == 6);
  hoist_memory_destroy(device, memory);
  hoist_stream_destroy(stream);
  hoist_device_close(device);
}

static void test_register(void) {
  const hoist_device_services_t* services = NULL;
  hoist_device_ops_t ops;
  memset(&ops, 0, sizeof ops);
  CHECK(failed(hoist_device_register(NULL, &services), HOIST_ERROR_INVALID_ARGUMENT, "hoist_device_register", "ops"));
  ops.abi_version = HOIST_DEVICE_ABI_VERSION;
  CHECK(failed(hoist_device_register(&ops, &services), HOIST_ERROR_INVALID_ARGUMENT, "hoist_device_register",
               "cut short"));
  ops.struct_size = sizeof ops;
  ops.name = "mine";
  CHECK(failed(hoist_device_register(&ops, &services), HOIST_ERROR_INVALID_ARGUMENT, "hoist_device_register",
               "required slot count"));
  CHECK(services == NULL);
}

int main(void) {
  test_records();
  test_log();
  test_open();
  test_query();
  test_work("host:0?mode=inline");
  test_work("host:0?mode=threaded");
  test_work("host:0?mode=virtual");
  test_handles();
  test_busy();
  test_virtual_clock();
  test_register();
  return 0;
}
