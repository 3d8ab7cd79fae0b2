/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: a queue and a thread each, so that copies of different streams really run beside each other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "my_device.h"

double my_now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void delay(my_device_t* device) {
  pthread_mutex_lock(&device->mutex);
  const double us = device->copy_delay_us;
  pthread_mutex_unlock(&device->mutex);
  if (us <= 0) return;
  const struct timespec time = {(time_t)(us / 1e6), (long)((us - (double)(long)(us / 1e6) * 1e6) * 1e3)};
  nanosleep(&time, NULL);
}

static void run_work(my_device_t* device, const my_op_t* op) {
  if (op->work != MY_HOST) delay(device);
  switch (op->work) {
    case MY_COPY:
      memcpy(op->dst, op->src, op->bytes);
      break;
    case MY_FILL:
      memset(op->dst, op->value, op->bytes);
      break;
    case MY_HOST:
      op->function(op->user_data);
      break;
    default:
      break;
  }
}

/* On the worker. `failure` is the stream's, which nobody else writes. */
static void run(my_stream_t* stream, const my_op_t* op, char* failure, size_t size) {
  if (op->work == MY_RECORD) {
    my_mark_reach(op->mark, failure);
  } else if (op->work == MY_WAIT) {
    my_mark_await(op->mark);
    if (failure[0] == '\0') snprintf(failure, size, "%s", op->mark->failure);
  } else if (failure[0] == '\0') {
    if (my_fault(stream->device, "work") == HOIST_OK)
      run_work(stream->device, op);
    else
      snprintf(failure, size, "work on a stream failed: failure injected at work");
  }
  my_mark_release(op->mark);
}

static void put_back(my_device_t* device, my_op_t* op) {
  pthread_mutex_lock(&device->mutex);
  op->next = device->spare_ops;
  device->spare_ops = op;
  pthread_mutex_unlock(&device->mutex);
}

static my_op_t* take_op(my_device_t* device) {
  pthread_mutex_lock(&device->mutex);
  my_op_t* op = device->spare_ops;
  if (op != NULL) device->spare_ops = op->next;
  pthread_mutex_unlock(&device->mutex);
  return op != NULL ? op : malloc(sizeof *op);
}

bool my_add_spare_ops(my_device_t* device, int count) {
  for (my_op_t* op; count > 0; --count) {
    if ((op = malloc(sizeof *op)) == NULL) return false;
    put_back(device, op);
  }
  return true;
}

void my_free_ops(my_op_t* ops) {
  while (ops != NULL) {
    my_op_t* next = ops->next;
    free(ops);
    ops = next;
  }
}

static void* serve(void* given) {
  my_stream_t* stream = given;
  char failure[sizeof stream->failure] = "";
  pthread_mutex_lock(&stream->mutex);
  for (;;) {
    while (stream->first == NULL && !stream->stopping) pthread_cond_wait(&stream->more, &stream->mutex);
    my_op_t* op = stream->first;
    if (op == NULL) break;
    pthread_mutex_unlock(&stream->mutex);
    run(stream, op, failure, sizeof failure);
    pthread_mutex_lock(&stream->mutex);
    stream->first = op->next;
    if (stream->first == NULL) stream->last = &stream->first;
    ++stream->completed;
    memcpy(stream->failure, failure, sizeof failure);
    pthread_cond_broadcast(&stream->done);
    put_back(stream->device, op);
  }
  pthread_mutex_unlock(&stream->mutex);
  return NULL;
}

/* With the stream's mutex held, which it gives back. */
static hoist_status_t result_of(my_stream_t* stream) {
  char failure[sizeof stream->failure];
  memcpy(failure, stream->failure, sizeof failure);
  pthread_mutex_unlock(&stream->mutex);
  return failure[0] == '\0' ? HOIST_OK
                            : my_fail(HOIST_ERROR_DEVICE, "destroy the stream and create another", "%s", failure);
}

hoist_status_t my_submit(my_stream_t* stream, const my_op_t* op) {
  my_op_t* queued = take_op(stream->device);
  if (queued == NULL) return my_fail(HOIST_ERROR_OUT_OF_MEMORY, "", "no host memory for work on a stream");
  *queued = *op;
  queued->next = NULL;
  pthread_mutex_lock(&stream->mutex);
  if (stream->failure[0] != '\0') {
    put_back(stream->device, queued);
    return result_of(stream);
  }
  *stream->last = queued;
  stream->last = &queued->next;
  ++stream->submitted;
  pthread_cond_signal(&stream->more);
  pthread_mutex_unlock(&stream->mutex);
  return HOIST_OK;
}

hoist_status_t my_stream_create(void* self, void** out_stream) {
  const hoist_status_t status = my_fault(self, "stream_create");
  if (status != HOIST_OK) return status;
  my_stream_t* stream = calloc(1, sizeof *stream);
  if (stream == NULL) return my_fail(HOIST_ERROR_OUT_OF_MEMORY, "", "no host memory for a stream");
  stream->device = self;
  stream->last = &stream->first;
  pthread_mutex_init(&stream->mutex, NULL);
  pthread_cond_init(&stream->more, NULL);
  pthread_cond_init(&stream->done, NULL);
  if (pthread_create(&stream->worker, NULL, serve, stream) != 0) {
    free(stream);
    return my_fail(HOIST_ERROR_DEVICE, "destroy streams that are not needed", "no thread for a stream");
  }
  *out_stream = stream;
  return HOIST_OK;
}

/* The worker ends when it has nothing left to do. */
void my_stream_destroy(void* self, void* given) {
  (void)self;
  my_stream_t* stream = given;
  if (stream == NULL) return;
  pthread_mutex_lock(&stream->mutex);
  stream->stopping = true;
  pthread_cond_signal(&stream->more);
  pthread_mutex_unlock(&stream->mutex);
  pthread_join(stream->worker, NULL);
  pthread_cond_destroy(&stream->done);
  pthread_cond_destroy(&stream->more);
  pthread_mutex_destroy(&stream->mutex);
  free(stream);
}

hoist_status_t my_stream_wait(void* self, void* given) {
  const hoist_status_t status = my_fault(self, "stream_wait");
  if (status != HOIST_OK) return status;
  my_stream_t* stream = given;
  pthread_mutex_lock(&stream->mutex);
  const uint64_t all = stream->submitted;
  while (stream->completed < all) pthread_cond_wait(&stream->done, &stream->mutex);
  return result_of(stream);
}

static hoist_status_t check_owned(my_device_t* device, const char* what, const void* memory, uint64_t bytes) {
  if (my_owns(device, memory, bytes)) return HOIST_OK;
  return my_fail(HOIST_ERROR_INVALID_ARGUMENT, "give a range within memory that the device allocated",
                 "%s %p of %llu bytes is not memory of this device", what, memory, (unsigned long long)bytes);
}

hoist_status_t my_copy(void* self, void* stream, hoist_copy_kind_t kind, void* dst, const void* src, uint64_t bytes) {
  hoist_status_t status = my_fault(self, "copy");
  if (status != HOIST_OK) return status;
  if (dst == NULL || src == NULL) {
    return my_fail(HOIST_ERROR_INVALID_ARGUMENT, "", "%s of a copy is NULL", dst == NULL ? "destination" : "source");
  }
  if (kind != HOIST_COPY_H2D && kind != HOIST_COPY_D2H && kind != HOIST_COPY_D2D) {
    return my_fail(HOIST_ERROR_INVALID_ARGUMENT, "give a HOIST_COPY_ value", "kind of copy is %d", (int)kind);
  }
  /* The source of HOIST_COPY_D2D may be the other device's, which is memory like any here. */
  if (kind != HOIST_COPY_D2H) status = check_owned(self, "destination", dst, bytes);
  if (kind == HOIST_COPY_D2H) status = check_owned(self, "source", src, bytes);
  if (status != HOIST_OK) return status;
  return my_submit(stream, &(my_op_t){.work = MY_COPY, .dst = dst, .src = src, .bytes = bytes});
}

hoist_status_t my_fill(void* self, void* stream, void* dst, uint8_t value, uint64_t bytes) {
  hoist_status_t status = my_fault(self, "fill");
  if (status == HOIST_OK) status = check_owned(self, "destination", dst, bytes);
  if (status != HOIST_OK) return status;
  return my_submit(stream, &(my_op_t){.work = MY_FILL, .dst = dst, .value = value, .bytes = bytes});
}

hoist_status_t my_host_function(void* self, void* stream, hoist_host_fn_t function, void* user_data,
                                double modelled_us) {
  const hoist_status_t status = my_fault(self, "host_function");
  if (status != HOIST_OK) return status;
  (void)modelled_us;
  if (function == NULL) return my_fail(HOIST_ERROR_INVALID_ARGUMENT, "", "function is NULL");
  return my_submit(stream, &(my_op_t){.work = MY_HOST, .function = function, .user_data = user_data});
}
