/* SPDX-License-Identifier: Apache-2.0 */
/* A device of host memory whose streams are threads: what its files share. */
#ifndef MY_DEVICE_H
#define MY_DEVICE_H

#include <pthread.h>
#include <stdbool.h>

#include "hoist/device_ops.h"

enum { MY_COUNT = 2, MY_ALIGNMENT = 256, MY_IN_FLIGHT = 4096 /* work that needs no allocation */ };

/* Device memory that was given out, or host memory that is registered. */
typedef struct my_range_t {
  struct my_range_t* next;
  char* begin;
  uint64_t bytes;
} my_range_t;

typedef struct my_device_t {
  uint32_t index;
  double opened_us;
  uint64_t total;
  pthread_mutex_t mutex; /* of all that follows */
  uint64_t used;
  uint64_t taken; /* as if somebody else held it */
  my_range_t* memory;
  my_range_t* registered;
  struct my_op_t* spare_ops; /* what has run is used again: steady work allocates nothing */
  struct my_mark_t* spare_marks;
  double copy_delay_us; /* before each copy and fill: to see what races */
  char fault_slot[32];  /* "": none */
  long fault_turn;      /* the N-th next call */
  bool fault_stays;
} my_device_t;

/* A recording of an event: a point in a stream. Whoever waits for it holds it, so the event may move on or go. */
typedef struct my_mark_t {
  my_device_t* device;
  struct my_mark_t* next; /* while it is spare */
  pthread_mutex_t mutex;
  pthread_cond_t reached_it;
  int holders;
  bool reached;
  double time_us;
  char failure[256]; /* of the work before it; "": none */
} my_mark_t;

typedef struct my_event_t {
  pthread_mutex_t mutex;
  my_mark_t* latest; /* NULL: never recorded */
} my_event_t;

typedef enum my_work_t { MY_COPY, MY_FILL, MY_HOST, MY_RECORD, MY_WAIT } my_work_t;

/* What a stream has to do. */
typedef struct my_op_t {
  struct my_op_t* next;
  my_work_t work;
  uint8_t value;
  void* dst;
  const void* src;
  uint64_t bytes;
  hoist_host_fn_t function;
  void* user_data;
  my_mark_t* mark;
} my_op_t;

typedef struct my_stream_t {
  my_device_t* device;
  pthread_t worker;
  pthread_mutex_t mutex; /* of all that follows */
  pthread_cond_t more;   /* for the worker */
  pthread_cond_t done;   /* for those who wait */
  my_op_t* first;
  my_op_t** last;
  uint64_t submitted;
  uint64_t completed;
  bool stopping;
  char failure[256]; /* the first one stays; what comes after it is not run. "": none */
} my_stream_t;

/* error.c */
extern const hoist_device_services_t* my_services;
hoist_status_t my_fail(hoist_status_t code, const char* hint, const char* format, ...);
hoist_status_t my_fault(my_device_t* device, const char* slot);
hoist_status_t my_set_fault(my_device_t* device, const char* spec);

/* memory.c */
hoist_status_t my_query_memory(void* self, uint64_t* out_free, uint64_t* out_total);
hoist_status_t my_memory_create(void* self, uint64_t bytes, void** out_memory);
void my_memory_destroy(void* self, void* memory);
hoist_status_t my_host_register(void* self, void* memory, uint64_t bytes);
hoist_status_t my_host_unregister(void* self, void* memory, uint64_t bytes);
bool my_owns(my_device_t* device, const void* memory, uint64_t bytes);
void my_free_ranges(my_range_t* ranges, bool with_memory);

/* stream.c */
double my_now_us(void);
hoist_status_t my_stream_create(void* self, void** out_stream);
void my_stream_destroy(void* self, void* stream);
hoist_status_t my_stream_wait(void* self, void* stream);
hoist_status_t my_copy(void* self, void* stream, hoist_copy_kind_t kind, void* dst, const void* src, uint64_t bytes);
hoist_status_t my_fill(void* self, void* stream, void* dst, uint8_t value, uint64_t bytes);
hoist_status_t my_host_function(void* self, void* stream, hoist_host_fn_t function, void* user_data,
                                double modelled_us);
bool my_add_spare_ops(my_device_t* device, int count);
void my_free_ops(my_op_t* ops);
hoist_status_t my_submit(my_stream_t* stream, const my_op_t* op);

/* event.c */
hoist_status_t my_event_create(void* self, void** out_event);
void my_event_destroy(void* self, void* event);
hoist_status_t my_event_record(void* self, void* event, void* stream);
hoist_status_t my_event_poll(void* self, void* event, int* out_ready);
hoist_status_t my_event_wait(void* self, void* event);
hoist_status_t my_event_get_elapsed(void* self, void* begin, void* end, double* out_us);
hoist_status_t my_stream_wait_event(void* self, void* stream, void* event);
void my_mark_reach(my_mark_t* mark, const char* failure);
void my_mark_await(my_mark_t* mark);
void my_mark_release(my_mark_t* mark);
bool my_add_spare_marks(my_device_t* device, int count);
void my_free_marks(my_mark_t* marks);

#endif
