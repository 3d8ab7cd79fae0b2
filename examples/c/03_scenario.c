/* SPDX-License-Identifier: Apache-2.0
 * A ring of six units on half of its bytes, with all that can happen to it: tests/bindings/SCENARIO.md. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hoist/hoist.h"

enum { UNITS = 6, NAMES = 10, WEIGHT = 65536, SHARED = 32768, SMALL = 16384, FAIL_NEVER = -1 };

typedef struct {
  hoist_manager_t* manager;
  hoist_stream_t* stream;
  hoist_unit_t units[UNITS];
  hoist_tensor_t shared, state;
  uint8_t steps; /* whole ones so far: what the state's bytes must be */
} ring_t;

/* What a host function checks; the view's own memory is gone by the time it runs. */
typedef struct {
  hoist_tensor_view_t tensors[3];
  uint8_t want[3];
  size_t count;
} job_t;

static atomic_int wrong_bytes;

static void print_error(const char* what) {
  hoist_error_t error = HOIST_ERROR_INIT;
  if (hoist_last_error(&error) != HOIST_OK) abort();
  printf("%s: %s: %s: %s", what, hoist_status_string(error.code), error.where, error.message);
  printf(*error.hint ? " (%s)\n" : "\n", error.hint);
}

static void check(hoist_status_t status) {
  if (status == HOIST_OK) return;
  print_error("failed");
  exit(1);
}

static void expect(int holds, const char* what) {
  if (holds) return;
  printf("does not hold: %s\n", what);
  exit(1);
}

static void compute(void* user_data) {
  job_t* job = user_data;
  for (size_t i = 0; i < job->count; ++i) {
    uint8_t* bytes = job->tensors[i].data;
    for (uint64_t b = 0; b < job->tensors[i].bytes; ++b) {
      if (bytes[b] != job->want[i]) atomic_fetch_add(&wrong_bytes, 1);
      if (job->tensors[i].mode == HOIST_USE_READ_WRITE) ++bytes[b];
    }
  }
  free(job);
}

static hoist_tensor_t add(ring_t* ring, int unit, const char* suffix, uint64_t bytes, hoist_tensor_flags_t flags,
                          hoist_use_mode_t mode, void* host) {
  char name[32];
  snprintf(name, sizeof name, "u%d.%s", unit, suffix);
  hoist_tensor_desc_t desc = HOIST_TENSOR_DESC_INIT;
  desc.name = name;
  desc.bytes = bytes;
  desc.host = host;
  desc.flags = flags;
  desc.mode = mode;
  desc.tensor_class = mode == HOIST_USE_READ ? HOIST_CLASS_WEIGHT : HOIST_CLASS_STATE;
  hoist_tensor_t tensor;
  check(hoist_manager_add_tensor(ring->manager, ring->units[unit - 1], &desc, &tensor));
  return tensor;
}

static void* filled(uint64_t bytes, int value) {
  void* memory = malloc(bytes);
  if (!memory) abort();
  return memset(memory, value, bytes);
}

static void build(ring_t* ring, hoist_device_t* device, hoist_budget_t* budget, void* adopted) {
  hoist_manager_options_t options = HOIST_MANAGER_OPTIONS_INIT;
  options.budget = budget;
  check(hoist_manager_create(device, &options, &ring->manager));
  for (int u = 1; u <= UNITS; ++u) {
    char name[8];
    snprintf(name, sizeof name, "u%d", u);
    check(hoist_manager_add_unit(ring->manager, name, &ring->units[u - 1]));
  }
  static uint8_t weights[UNITS][WEIGHT], shared[SHARED];
  for (int u = 1; u <= UNITS; ++u) {
    add(ring, u, "weight", WEIGHT, HOIST_TENSOR_COPY, HOIST_USE_READ, memset(weights[u - 1], u, WEIGHT));
  }
  ring->shared = add(ring, 1, "shared", SHARED, HOIST_TENSOR_COPY, HOIST_USE_READ, memset(shared, 1, SHARED));
  check(hoist_manager_add_alias(ring->manager, "u4.shared", ring->shared));
  check(hoist_manager_add_use(ring->manager, ring->units[3], ring->shared, HOIST_USE_READ));
  add(ring, 2, "adopted", SMALL, HOIST_TENSOR_ADOPT, HOIST_USE_READ, adopted);
  ring->state = add(ring, 6, "state", SMALL, HOIST_TENSOR_ZERO, HOIST_USE_READ_WRITE, NULL);
}

static hoist_budget_t* budget_of(hoist_device_t* device, const char* share) {
  hoist_budget_options_t options = {.struct_size = sizeof options};
  hoist_budget_t* budget;
  check(hoist_budget_options_init(&options));
  check(hoist_budget_options_set(&options, "budget", share));
  check(hoist_budget_options_set(&options, "profile_steps", "2"));
  check(hoist_budget_create(device, &options, &budget));
  return budget;
}

static void run_unit(ring_t* ring, int u) {
  hoist_unit_view_t view = HOIST_UNIT_VIEW_INIT;
  check(hoist_unit_begin(ring->manager, ring->units[u - 1], ring->stream, &view));
  job_t* job = calloc(1, sizeof *job);
  if (!job) abort();
  for (; job->count < view.count; ++job->count) {
    const char* at = (const char*)view.tensors + job->count * view.stride;
    hoist_tensor_view_t* tensor = &job->tensors[job->count];
    memcpy(tensor, at, sizeof *tensor);
    job->want[job->count] = tensor->tensor == ring->state    ? ring->steps
                            : tensor->tensor == ring->shared ? 1
                                                             : (uint8_t)u;
  }
  check(hoist_stream_submit_host(ring->stream, compute, job, 100.0));
}

/* Runs a step; where the compute of unit `fail_at` "fails", the step is given up there. */
static void run_step(ring_t* ring, int fail_at) {
  check(hoist_step_begin(ring->manager, ring->stream));
  for (int u = 1; u <= UNITS; ++u) {
    run_unit(ring, u);
    if (u == fail_at) {
      check(hoist_step_abort(ring->manager, ring->stream));
      return;
    }
    check(hoist_unit_end(ring->manager, ring->units[u - 1], ring->stream));
  }
  check(hoist_step_end(ring->manager, ring->stream));
  ++ring->steps;
}

static void run_steps(ring_t* ring, int count) {
  for (int i = 0; i < count; ++i) run_step(ring, FAIL_NEVER);
  check(hoist_stream_wait(ring->stream));
  printf("%d whole steps, %d wrong bytes\n", ring->steps, atomic_load(&wrong_bytes));
}

static void read_back(ring_t* ring) {
  const char* names[NAMES] = {"u1.weight", "u2.weight", "u3.weight", "u4.weight",  "u5.weight",
                              "u6.weight", "u1.shared", "u4.shared", "u2.adopted", "u6.state"};
  const uint8_t want[NAMES] = {1, 2, 3, 4, 5, 6, 1, 1, 2, ring->steps};
  int right = 0;
  for (int i = 0; i < NAMES; ++i) {
    hoist_tensor_t tensor;
    hoist_tensor_info_t info = HOIST_TENSOR_INFO_INIT;
    check(hoist_manager_get_tensor(ring->manager, names[i], &tensor));
    check(hoist_tensor_query(ring->manager, tensor, &info));
    uint8_t* bytes = filled(info.bytes, 0xEE);
    check(hoist_tensor_read(ring->manager, tensor, bytes, info.bytes));
    uint64_t equal = 0;
    while (equal < info.bytes && bytes[equal] == want[i]) ++equal;
    right += equal == info.bytes;
    free(bytes);
  }
  printf("read back: %d of %d names right, state %d\n", right, NAMES, ring->steps);
}

static void refuse(hoist_device_t* device, void* adopted) {
  hoist_budget_options_t options = {.struct_size = sizeof options};
  check(hoist_budget_options_init(&options));
  expect(hoist_budget_options_set(&options, "bugdet", "50%") != HOIST_OK, "an unknown option is refused");
  print_error("unknown option");
  ring_t ring = {0};
  hoist_budget_t* budget = budget_of(device, "20%");
  build(&ring, device, budget, adopted);
  expect(hoist_manager_commit(ring.manager) != HOIST_OK, "a budget that is too small is refused");
  print_error("too small");
  hoist_manager_destroy(ring.manager);
  hoist_budget_destroy(budget);
}

static void report(ring_t* ring) {
  hoist_budget_status_t s = HOIST_BUDGET_STATUS_INIT;
  check(hoist_manager_query(ring->manager, &s));
  printf("%s, %" PRIu64 " steps, %" PRIu64 " aborted, %" PRIu64 " mispredictions\n",
         s.phase == HOIST_PHASE_SERVING ? "serving" : "not serving", s.steps, s.aborted_steps, s.mispredictions);
  printf("bytes moved: h2d %s, d2h %s; peak within budget: %s\n", s.h2d_bytes > 0 ? "yes" : "no",
         s.d2h_bytes > 0 ? "yes" : "no", s.peak_bytes <= s.budget_bytes ? "yes" : "no");
}

static void print_sizes(ring_t* ring) {
  hoist_budget_status_t s = HOIST_BUDGET_STATUS_INIT;
  check(hoist_manager_query(ring->manager, &s));
  printf("%" PRIu32 " units, %" PRIu64 " tensors, %" PRIu64 " bytes, budget %" PRIu64 "\n", s.unit_count,
         s.tensor_count, s.tensor_bytes, s.budget_bytes);
}

static void run(hoist_device_t* device, hoist_budget_t* budget, void* adopted) {
  ring_t ring = {0};
  build(&ring, device, budget, adopted);
  check(hoist_stream_create(device, &ring.stream));
  check(hoist_manager_commit(ring.manager));
  print_sizes(&ring);
  run_steps(&ring, 4);
  run_step(&ring, 3);
  printf("gave a step up in u3\n");
  check(hoist_manager_suspend(ring.manager));
  check(hoist_manager_resume(ring.manager));
  run_steps(&ring, 2);
  read_back(&ring);
  check(hoist_budget_set(budget, 0, 0.75));
  run_steps(&ring, 2);
  print_sizes(&ring);
  expect(hoist_budget_set(budget, 0, 0.2) != HOIST_OK, "a budget that is too small is refused");
  print_error("too small");
  read_back(&ring);
  report(&ring);
  check(hoist_manager_drain(ring.manager));
  hoist_manager_destroy(ring.manager);
  hoist_stream_destroy(ring.stream);
}

int main(void) {
  hoist_device_t* device;
  check(hoist_device_open("host:0?mode=threaded", &device));
  void* adopted = filled(SMALL, 2);
  refuse(device, adopted);
  hoist_budget_t* budget = budget_of(device, "50%");
  run(device, budget, adopted);
  hoist_budget_destroy(budget);
  free(adopted);
  hoist_device_close(device);
  return atomic_load(&wrong_bytes) != 0;
}
