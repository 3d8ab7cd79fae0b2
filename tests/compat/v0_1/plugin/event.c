/* SPDX-License-Identifier: Apache-2.0 */
/* Events. A recording is a mark of its own that the stream, the event and all who wait for it hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "my_device.h"

static my_mark_t* make_mark(my_device_t* device) {
  my_mark_t* mark = calloc(1, sizeof *mark);
  if (mark == NULL) return NULL;
  mark->device = device;
  pthread_mutex_init(&mark->mutex, NULL);
  pthread_cond_init(&mark->reached_it, NULL);
  return mark;
}

static void put_back(my_mark_t* mark) {
  pthread_mutex_lock(&mark->device->mutex);
  mark->next = mark->device->spare_marks;
  mark->device->spare_marks = mark;
  pthread_mutex_unlock(&mark->device->mutex);
}

bool my_add_spare_marks(my_device_t* device, int count) {
  for (my_mark_t* mark; count > 0; --count) {
    if ((mark = make_mark(device)) == NULL) return false;
    put_back(mark);
  }
  return true;
}

static my_mark_t* new_mark(my_device_t* device, int holders) {
  pthread_mutex_lock(&device->mutex);
  my_mark_t* mark = device->spare_marks;
  if (mark != NULL) device->spare_marks = mark->next;
  pthread_mutex_unlock(&device->mutex);
  if (mark == NULL && (mark = make_mark(device)) == NULL) return NULL;
  mark->holders = holders;
  mark->reached = false;
  mark->failure[0] = '\0';
  return mark;
}

void my_mark_release(my_mark_t* mark) {
  if (mark == NULL) return;
  pthread_mutex_lock(&mark->mutex);
  const bool last = --mark->holders == 0;
  pthread_mutex_unlock(&mark->mutex);
  if (last) put_back(mark);
}

void my_free_marks(my_mark_t* marks) {
  while (marks != NULL) {
    my_mark_t* next = marks->next;
    pthread_cond_destroy(&marks->reached_it);
    pthread_mutex_destroy(&marks->mutex);
    free(marks);
    marks = next;
  }
}

void my_mark_reach(my_mark_t* mark, const char* failure) {
  pthread_mutex_lock(&mark->mutex);
  mark->reached = true;
  mark->time_us = my_now_us();
  snprintf(mark->failure, sizeof mark->failure, "%s", failure);
  pthread_cond_broadcast(&mark->reached_it);
  pthread_mutex_unlock(&mark->mutex);
}

void my_mark_await(my_mark_t* mark) {
  pthread_mutex_lock(&mark->mutex);
  while (!mark->reached) pthread_cond_wait(&mark->reached_it, &mark->mutex);
  pthread_mutex_unlock(&mark->mutex);
}

/* The event's latest recording, held for the caller; NULL where there is none. */
static my_mark_t* latest_of(my_event_t* event) {
  pthread_mutex_lock(&event->mutex);
  my_mark_t* mark = event->latest;
  if (mark != NULL) {
    pthread_mutex_lock(&mark->mutex);
    ++mark->holders;
    pthread_mutex_unlock(&mark->mutex);
  }
  pthread_mutex_unlock(&event->mutex);
  return mark;
}

static hoist_status_t fail_never_recorded(void) {
  return my_fail(HOIST_ERROR_ORDER, "record it first", "the event was never recorded: waiting for it would not end");
}

/* Takes the caller's hold. */
static hoist_status_t result_of(my_mark_t* mark) {
  char failure[sizeof mark->failure];
  memcpy(failure, mark->failure, sizeof failure);
  my_mark_release(mark);
  return failure[0] == '\0' ? HOIST_OK
                            : my_fail(HOIST_ERROR_DEVICE, "destroy the stream and create another", "%s", failure);
}

hoist_status_t my_event_create(void* self, void** out_event) {
  const hoist_status_t status = my_fault(self, "event_create");
  if (status != HOIST_OK) return status;
  my_event_t* event = calloc(1, sizeof *event);
  if (event == NULL) return my_fail(HOIST_ERROR_OUT_OF_MEMORY, "", "no host memory for an event");
  pthread_mutex_init(&event->mutex, NULL);
  *out_event = event;
  return HOIST_OK;
}

void my_event_destroy(void* self, void* given) {
  (void)self;
  my_event_t* event = given;
  if (event == NULL) return;
  my_mark_release(event->latest);
  pthread_mutex_destroy(&event->mutex);
  free(event);
}

hoist_status_t my_event_record(void* self, void* given, void* stream) {
  hoist_status_t status = my_fault(self, "event_record");
  if (status != HOIST_OK) return status;
  my_event_t* event = given;
  my_mark_t* mark = new_mark(self, 2);
  if (mark == NULL) return my_fail(HOIST_ERROR_OUT_OF_MEMORY, "", "no host memory for a recording");
  status = my_submit(stream, &(my_op_t){.work = MY_RECORD, .mark = mark});
  if (status != HOIST_OK) {
    my_mark_release(mark);
    my_mark_release(mark);
    return status;
  }
  pthread_mutex_lock(&event->mutex);
  my_mark_t* before = event->latest;
  event->latest = mark;
  pthread_mutex_unlock(&event->mutex);
  my_mark_release(before);
  return HOIST_OK;
}

hoist_status_t my_event_poll(void* self, void* event, int* out_ready) {
  const hoist_status_t status = my_fault(self, "event_poll");
  if (status != HOIST_OK) return status;
  my_mark_t* mark = latest_of(event);
  if (mark == NULL) return *out_ready = 0, HOIST_OK;
  pthread_mutex_lock(&mark->mutex);
  const bool reached = mark->reached;
  pthread_mutex_unlock(&mark->mutex);
  *out_ready = reached;
  if (reached) return result_of(mark);
  my_mark_release(mark);
  return HOIST_OK;
}

hoist_status_t my_event_wait(void* self, void* event) {
  const hoist_status_t status = my_fault(self, "event_wait");
  if (status != HOIST_OK) return status;
  my_mark_t* mark = latest_of(event);
  if (mark == NULL) return fail_never_recorded();
  my_mark_await(mark);
  return result_of(mark);
}

hoist_status_t my_event_get_elapsed(void* self, void* begin, void* end, double* out_us) {
  const hoist_status_t status = my_fault(self, "event_get_elapsed");
  if (status != HOIST_OK) return status;
  double times[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    my_mark_t* mark = latest_of(i == 0 ? begin : end);
    bool reached = false;
    if (mark != NULL) {
      pthread_mutex_lock(&mark->mutex);
      reached = mark->reached;
      times[i] = mark->time_us;
      pthread_mutex_unlock(&mark->mutex);
      my_mark_release(mark);
    }
    if (!reached) {
      return my_fail(HOIST_ERROR_INVALID_STATE, "wait for both events first", "the %s event has not been reached",
                     i == 0 ? "begin" : "end");
    }
  }
  *out_us = times[1] - times[0];
  return HOIST_OK;
}

/* The stream waits for the recording of now, whatever becomes of the event. */
hoist_status_t my_stream_wait_event(void* self, void* stream, void* event) {
  hoist_status_t status = my_fault(self, "stream_wait_event");
  if (status != HOIST_OK) return status;
  my_mark_t* mark = latest_of(event);
  if (mark == NULL) return fail_never_recorded();
  status = my_submit(stream, &(my_op_t){.work = MY_WAIT, .mark = mark});
  if (status != HOIST_OK) my_mark_release(mark);
  return status;
}
