/* SPDX-License-Identifier: Apache-2.0 */
/* The sample plugin of examples/c/06_my_device, broken in the one way that BROKEN_DEVICE names: `hoist device-check`
 * must fail the check that is about it, and no other. broken.cmake has the list. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "my_device.h"

hoist_status_t my_plugin_init(uint32_t requested_abi, const hoist_device_services_t* services,
                              hoist_device_ops_t* out_ops);

static hoist_device_ops_t sound;
static pid_t first_process;
void* volatile leaked; /* the last one: a compiler may not leave the allocation out */

static void sleep_ms(long ms) {
  const struct timespec time = {0, ms * 1000000};
  nanosleep(&time, NULL);
}

static void do_nothing(void* user_data) { (void)user_data; }

/* ---- the device ---- */

static hoist_status_t query_name_lies(void* self, hoist_device_properties_t* out) {
  const hoist_status_t status = sound.query(self, out);
  strcpy(out->name, "mine:0");
  return status;
}

static hoist_status_t query_claims_batches(void* self, hoist_device_properties_t* out) {
  const hoist_status_t status = sound.query(self, out);
  out->capabilities |= HOIST_CAPABILITY_BATCH;
  return status;
}

static hoist_status_t describe_claims_batches(void* driver, uint32_t index, hoist_device_properties_t* out) {
  const hoist_status_t status = sound.describe(driver, index, out);
  out->capabilities |= HOIST_CAPABILITY_BATCH;
  return status;
}

static void* idle(void* nothing) {
  sleep_ms(900);
  return nothing;
}

static hoist_status_t describe_starts_a_thread(void* driver, uint32_t index, hoist_device_properties_t* out) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, idle, NULL) == 0) pthread_detach(thread);
  return sound.describe(driver, index, out);
}

static hoist_status_t open_hangs_in_a_child(void* driver, uint32_t index, const char* options, void** out) {
  while (getpid() != first_process && getppid() == first_process) sleep_ms(10);
  return sound.open(driver, index, options, out);
}

static hoist_status_t clock_runs_fast(void* self, double* out_us) {
  const hoist_status_t status = sound.get_time(self, out_us);
  *out_us *= 2;
  return status;
}

static hoist_status_t set_takes_all(void* self, const char* key, const char* value) {
  const hoist_status_t status = sound.set(self, key, value);
  return strcmp(key, "fail") == 0 ? status : HOIST_OK;
}

/* ---- memory ---- */

static hoist_status_t info_lies(void* self, uint64_t* out_free, uint64_t* out_total) {
  const hoist_status_t status = sound.query_memory(self, out_free, out_total);
  *out_free = *out_total;
  return status;
}

static void memory_stays_taken(void* self, void* memory) {
  my_device_t* device = self;
  pthread_mutex_lock(&device->mutex);
  const uint64_t used = device->used;
  pthread_mutex_unlock(&device->mutex);
  sound.memory_destroy(self, memory);
  pthread_mutex_lock(&device->mutex);
  device->used = used;
  pthread_mutex_unlock(&device->mutex);
}

static hoist_status_t memory_is_half(void* self, uint64_t bytes, void** out) {
  const bool large = bytes > (uint64_t)40 << 20 && bytes < (uint64_t)60 << 20;
  return sound.memory_create(self, large ? bytes / 2 : bytes, out);
}

static hoist_status_t memory_is_askew(void* self, uint64_t bytes, void** out) {
  const hoist_status_t status = sound.memory_create(self, bytes, out);
  if (status == HOIST_OK && bytes == 100) *out = (char*)*out + 16;
  return status;
}

static void askew_memory_destroy(void* self, void* memory) {
  sound.memory_destroy(self, (char*)memory - (uintptr_t)memory % MY_ALIGNMENT);
}

static hoist_status_t memory_takes_one_thread(void* self, uint64_t bytes, void** out) {
  static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
  if (pthread_mutex_trylock(&one) != 0) return HOIST_ERROR_BUSY;
  sleep_ms(1);
  const hoist_status_t status = sound.memory_create(self, bytes, out);
  pthread_mutex_unlock(&one);
  return status;
}

static hoist_status_t memory_is_never_refused(void* self, uint64_t bytes, void** out) {
  return sound.memory_create(self, bytes > (uint64_t)1 << 30 ? 1 : bytes, out);
}

static hoist_status_t pins_twice(void* self, void* memory, uint64_t bytes) {
  const hoist_status_t status = sound.host_register(self, memory, bytes);
  return status == HOIST_ERROR_ALREADY_EXISTS ? HOIST_OK : status;
}

/* ---- streams and work ---- */

static void* destroy_later(void* stream) {
  sound.stream_destroy(NULL, stream);
  return NULL;
}

static void destroy_does_not_wait(void* self, void* given) {
  my_stream_t* stream = given;
  pthread_t thread;
  pthread_mutex_lock(&stream->mutex);
  const bool busy = stream->completed != stream->submitted;
  pthread_mutex_unlock(&stream->mutex);
  if (!busy || pthread_create(&thread, NULL, destroy_later, stream) != 0)
    sound.stream_destroy(self, stream);
  else
    pthread_detach(thread);
}

static void destroy_leaks(void* self, void* stream) {
  leaked = malloc(200);
  sound.stream_destroy(self, stream);
}

static hoist_status_t wait_tells_no_failure(void* self, void* stream) {
  const hoist_status_t status = sound.stream_wait(self, stream);
  return ((my_stream_t*)stream)->failure[0] != '\0' ? HOIST_OK : status;
}

static bool is_copy(hoist_copy_kind_t kind, const void* dst, const void* src) {
  return dst != NULL && src != NULL && (int)kind >= 0 && (int)kind <= 2;
}

static hoist_status_t copy_ignores_its_stream(void* self, void* stream, hoist_copy_kind_t kind, void* dst,
                                              const void* src, uint64_t bytes) {
  if (!is_copy(kind, dst, src)) return sound.copy(self, stream, kind, dst, src, bytes);
  const hoist_status_t status = my_fault(self, "copy");
  if (status != HOIST_OK) return status;
  memcpy(dst, src, bytes);
  return my_submit(stream, &(my_op_t){.work = MY_HOST, .function = do_nothing});
}

static hoist_status_t copy_is_too_long(void* self, void* stream, hoist_copy_kind_t kind, void* dst, const void* src,
                                       uint64_t bytes) {
  const hoist_status_t status = sound.copy(self, stream, kind, dst, src, bytes);
  if (status != HOIST_OK || kind == HOIST_COPY_D2H || !my_owns(self, (char*)dst + bytes, 1)) return status;
  return sound.copy(self, stream, kind, (char*)dst + bytes, src, 1);
}

static hoist_status_t copy_crashes(void* self, void* stream, hoist_copy_kind_t kind, void* dst, const void* src,
                                   uint64_t bytes) {
  if (bytes == 511) abort();
  return sound.copy(self, stream, kind, dst, src, bytes);
}

static hoist_status_t copy_leaks(void* self, void* stream, hoist_copy_kind_t kind, void* dst, const void* src,
                                 uint64_t bytes) {
  leaked = malloc(64);
  return sound.copy(self, stream, kind, dst, src, bytes);
}

static hoist_status_t copy_fails_without_words(void* self, void* stream, hoist_copy_kind_t kind, void* dst,
                                               const void* src, uint64_t bytes) {
  if (!is_copy(kind, dst, src)) return HOIST_ERROR_INVALID_ARGUMENT;
  return sound.copy(self, stream, kind, dst, src, bytes);
}

static hoist_status_t copy_waits(void* self, void* stream, hoist_copy_kind_t kind, void* dst, const void* src,
                                 uint64_t bytes) {
  const hoist_status_t status = sound.copy(self, stream, kind, dst, src, bytes);
  my_stream_t* busy = stream;
  pthread_mutex_lock(&busy->mutex);
  while (status == HOIST_OK && busy->completed < busy->submitted) pthread_cond_wait(&busy->done, &busy->mutex);
  pthread_mutex_unlock(&busy->mutex);
  return status;
}

static hoist_status_t a_refusal_stays(void* self, void* stream, hoist_copy_kind_t kind, void* dst, const void* src,
                                      uint64_t bytes) {
  const hoist_status_t status = sound.copy(self, stream, kind, dst, src, bytes);
  my_stream_t* poisoned = stream;
  pthread_mutex_lock(&poisoned->mutex);
  if (status == HOIST_ERROR_INVALID_ARGUMENT) strcpy(poisoned->failure, "of a copy that was refused");
  pthread_mutex_unlock(&poisoned->mutex);
  return status;
}

static hoist_status_t fill_is_too_long(void* self, void* stream, void* dst, uint8_t value, uint64_t bytes) {
  const hoist_status_t status = sound.fill(self, stream, dst, value, bytes);
  if (status != HOIST_OK || !my_owns(self, (char*)dst + bytes, 1)) return status;
  return sound.fill(self, stream, (char*)dst + bytes, value, 1);
}

static hoist_status_t fill_ignores_its_stream(void* self, void* stream, void* dst, uint8_t value, uint64_t bytes) {
  const hoist_status_t status = sound.fill(self, stream, dst, value, bytes);
  if (status == HOIST_OK) memset(dst, value, bytes);
  return status;
}

/* A function that comes twice in a row overtakes. */
static hoist_status_t host_functions_overtake(void* self, void* stream, hoist_host_fn_t function, void* user_data,
                                              double modelled_us) {
  static void* last_stream;
  static hoist_host_fn_t last;
  const bool again = last_stream == stream && last == function && function != NULL;
  last_stream = stream;
  last = function;
  if (!again) return sound.host_function(self, stream, function, user_data, modelled_us);
  function(user_data);
  return HOIST_OK;
}

/* ---- events ---- */

static bool was_recorded(void* event) { return ((my_event_t*)event)->latest != NULL; }

static hoist_status_t poll_is_early(void* self, void* event, int* out_ready) {
  const hoist_status_t status = sound.event_poll(self, event, out_ready);
  if (was_recorded(event)) *out_ready = 1;
  return status;
}

static hoist_status_t wait_is_early(void* self, void* event) {
  return was_recorded(event) ? my_fault(self, "event_wait") : sound.event_wait(self, event);
}

/* Once reached, for ever reached. */
static hoist_status_t poll_remembers(void* self, void* event, int* out_ready) {
  static void* reached;
  const hoist_status_t status = sound.event_poll(self, event, out_ready);
  if (status == HOIST_OK && *out_ready == 1) reached = event;
  if (reached == event && was_recorded(event)) *out_ready = 1;
  return status;
}

static hoist_status_t elapsed_is_in_ms(void* self, void* begin, void* end, double* out_us) {
  const hoist_status_t status = sound.event_get_elapsed(self, begin, end, out_us);
  if (status == HOIST_OK) *out_us /= 1000;
  return status;
}

static hoist_status_t streams_do_not_wait(void* self, void* stream, void* event) {
  return was_recorded(event) ? my_fault(self, "stream_wait_event") : sound.stream_wait_event(self, stream, event);
}

static void await_the_latest(void* given) {
  my_event_t* event = given;
  pthread_mutex_lock(&event->mutex);
  my_mark_t* mark = event->latest;
  pthread_mutex_lock(&mark->mutex);
  ++mark->holders;
  pthread_mutex_unlock(&mark->mutex);
  pthread_mutex_unlock(&event->mutex);
  my_mark_await(mark);
  my_mark_release(mark);
}

static hoist_status_t streams_wait_for_the_last(void* self, void* stream, void* event) {
  if (!was_recorded(event)) return sound.stream_wait_event(self, stream, event);
  const hoist_status_t status = my_fault(self, "stream_wait_event");
  if (status != HOIST_OK) return status;
  return my_submit(stream, &(my_op_t){.work = MY_HOST, .function = await_the_latest, .user_data = event});
}

static hoist_status_t unrecorded_is_fine(void* self, void* event) {
  return was_recorded(event) ? sound.event_wait(self, event) : HOIST_OK;
}

/* ---- which ---- */

#define BREAK(how, slot, function) \
  if (strcmp(broken, #how) == 0) ops->slot = function

static void break_memory(const char* broken, hoist_device_ops_t* ops) {
  BREAK(info_lies, query_memory, info_lies);
  BREAK(memory_stays_taken, memory_destroy, memory_stays_taken);
  BREAK(memory_is_half, memory_create, memory_is_half);
  BREAK(memory_is_askew, memory_create, memory_is_askew);
  BREAK(memory_is_askew, memory_destroy, askew_memory_destroy);
  BREAK(memory_takes_one_thread, memory_create, memory_takes_one_thread);
  BREAK(memory_is_never_refused, memory_create, memory_is_never_refused);
  BREAK(pins_twice, host_register, pins_twice);
}

static void break_device(const char* broken, hoist_device_ops_t* ops) {
  BREAK(query_name_lies, query, query_name_lies);
  BREAK(query_claims_batches, query, query_claims_batches);
  BREAK(query_claims_batches, describe, describe_claims_batches);
  BREAK(describe_starts_a_thread, describe, describe_starts_a_thread);
  BREAK(open_hangs_in_a_child, open, open_hangs_in_a_child);
  BREAK(clock_runs_fast, get_time, clock_runs_fast);
  BREAK(set_takes_all, set, set_takes_all);
  BREAK(slot_is_missing, fill, NULL);
  if (strcmp(broken, "table_is_short") == 0) ops->struct_size -= 3 * sizeof(void*);
  if (strcmp(broken, "table_is_of_the_future") == 0) ops->abi_version = 99;
}

static void break_work(const char* broken, hoist_device_ops_t* ops) {
  BREAK(destroy_does_not_wait, stream_destroy, destroy_does_not_wait);
  BREAK(destroy_leaks, stream_destroy, destroy_leaks);
  BREAK(wait_tells_no_failure, stream_wait, wait_tells_no_failure);
  BREAK(copy_ignores_its_stream, copy, copy_ignores_its_stream);
  BREAK(copy_is_too_long, copy, copy_is_too_long);
  BREAK(copy_crashes, copy, copy_crashes);
  BREAK(copy_leaks, copy, copy_leaks);
  BREAK(copy_fails_without_words, copy, copy_fails_without_words);
  BREAK(copy_waits, copy, copy_waits);
  BREAK(a_refusal_stays, copy, a_refusal_stays);
  BREAK(fill_is_too_long, fill, fill_is_too_long);
  BREAK(fill_ignores_its_stream, fill, fill_ignores_its_stream);
  BREAK(host_functions_overtake, host_function, host_functions_overtake);
}

static void break_events(const char* broken, hoist_device_ops_t* ops) {
  BREAK(poll_is_early, event_poll, poll_is_early);
  BREAK(poll_remembers, event_poll, poll_remembers);
  BREAK(wait_is_early, event_wait, wait_is_early);
  BREAK(unrecorded_is_fine, event_wait, unrecorded_is_fine);
  BREAK(elapsed_is_in_ms, event_get_elapsed, elapsed_is_in_ms);
  BREAK(streams_do_not_wait, stream_wait_event, streams_do_not_wait);
  BREAK(streams_wait_for_the_last, stream_wait_event, streams_wait_for_the_last);
}

__attribute__((visibility("default"))) hoist_status_t hoist_device_plugin_init(uint32_t requested_abi,
                                                                               const hoist_device_services_t* services,
                                                                               hoist_device_ops_t* out_ops) {
  const char* broken = getenv("BROKEN_DEVICE");
  const hoist_status_t status = my_plugin_init(requested_abi, services, out_ops);
  if (status != HOIST_OK || broken == NULL) return status;
  if (first_process == 0) first_process = getpid();
  sound = *out_ops;
  break_device(broken, out_ops);
  break_memory(broken, out_ops);
  break_work(broken, out_ops);
  break_events(broken, out_ops);
  return HOIST_OK;
}
