/* SPDX-License-Identifier: Apache-2.0
 * A weight, a dirty state and a transient under one budget; every wrong order of calls; two managers in one
 * budget, of which one goes; a child of fork. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hoist/hoist.h"
#include "support/check.h"
#include "support/test_device.h"

enum { tensor_bytes = 4096, units = 3 };

/* Unit 0 writes the activation, unit 1 adds to the state, unit 2 reads the activation; each reads its weight. */
typedef struct {
  hoist_manager_t* manager;
  hoist_tensor_t weight[units];
  hoist_tensor_t state;
  hoist_tensor_t activation;
  unsigned char bytes[units][tensor_bytes];
  unsigned char first; /* what the weights' bytes start from */
  unsigned char count; /* what the state is full of */
} model_t;

typedef struct {
  hoist_tensor_view_t views[4];
  size_t count;
  unsigned char first;
  unsigned char before;
  hoist_unit_t unit;
} work_t;

static atomic_int wrong;
static work_t works[256];
static size_t work_count;

static void expect(const hoist_tensor_view_t* view, unsigned char byte) {
  for (uint64_t i = 0; i < view->bytes; ++i) {
    if (((const unsigned char*)view->data)[i] != byte) atomic_fetch_add(&wrong, 1);
  }
}

static void compute(void* user_data) {
  const work_t* work = user_data;
  expect(&work->views[0], (unsigned char)(work->first + work->unit));
  if (work->unit == 0) memset(work->views[1].data, 0x5A, tensor_bytes);
  if (work->unit == 2) expect(&work->views[1], 0x5A);
  if (work->unit != 1) return;
  expect(&work->views[1], work->before);
  memset(work->views[1].data, work->before + 1, tensor_bytes);
}

static hoist_tensor_t add(hoist_manager_t* m, hoist_unit_t unit, const char* name, void* host, uint32_t flags,
                          hoist_use_mode_t mode) {
  hoist_tensor_desc_t desc = HOIST_TENSOR_DESC_INIT;
  hoist_tensor_t tensor = 0;
  desc.name = name;
  desc.bytes = tensor_bytes;
  desc.host = host;
  desc.flags = flags;
  desc.mode = mode;
  OK(hoist_manager_add_tensor(m, unit, &desc, &tensor));
  return tensor;
}

static void build(model_t* model, const device_t* on, hoist_budget_t* budget, unsigned char first) {
  const char* names[units] = {"a", "b", "c"};
  hoist_manager_options_t options = HOIST_MANAGER_OPTIONS_INIT;
  memset(model, 0, sizeof *model);
  options.budget = budget;
  model->first = first;
  OK(hoist_manager_create(on->device, &options, &model->manager));
  for (uint32_t u = 0; u < units; ++u) {
    hoist_unit_t unit = 0;
    OK(hoist_manager_add_unit(model->manager, names[u], &unit));
    CHECK(unit == u);
    memset(model->bytes[u], first + u, tensor_bytes);
    model->weight[u] = add(model->manager, u, names[u], model->bytes[u], HOIST_TENSOR_COPY, HOIST_USE_READ);
  }
  model->activation = add(model->manager, 0, "activation", NULL, HOIST_TENSOR_TRANSIENT, HOIST_USE_WRITE);
  model->state = add(model->manager, 1, "state", NULL, HOIST_TENSOR_ZERO, HOIST_USE_READ_WRITE);
  OK(hoist_manager_add_use(model->manager, 2, model->activation, HOIST_USE_READ));
}

static void begin(model_t* model, hoist_unit_t unit, hoist_stream_t* stream) {
  hoist_unit_view_t view = HOIST_UNIT_VIEW_INIT;
  OK(hoist_unit_begin(model->manager, unit, stream, &view));
  work_t* work = &works[work_count++ % 256];
  work->count = view.count;
  work->first = model->first;
  work->before = model->count;
  work->unit = unit;
  for (size_t i = 0; i < view.count; ++i) {
    memcpy(&work->views[i], (const char*)view.tensors + i * view.stride, sizeof work->views[i]);
  }
  if (unit == 1) ++model->count;
  OK(hoist_stream_submit_host(stream, compute, work, 10));
}

static void run(model_t* model, hoist_unit_t unit, hoist_stream_t* stream) {
  begin(model, unit, stream);
  OK(hoist_unit_end(model->manager, unit, stream));
}

static void step(model_t* model, hoist_stream_t* stream) {
  OK(hoist_step_begin(model->manager, stream));
  for (hoist_unit_t unit = 0; unit < units; ++unit) run(model, unit, stream);
  OK(hoist_step_end(model->manager, stream));
}

static void check_bytes(model_t* model) {
  unsigned char bytes[tensor_bytes];
  OK(hoist_tensor_read(model->manager, model->state, bytes, sizeof bytes));
  for (size_t i = 0; i < sizeof bytes; ++i) CHECK(bytes[i] == model->count);
  for (uint32_t u = 0; u < units; ++u) {
    OK(hoist_tensor_read(model->manager, model->weight[u], bytes, sizeof bytes));
    CHECK(memcmp(bytes, model->bytes[u], sizeof bytes) == 0);
  }
  CHECK(atomic_load(&wrong) == 0);
}

static hoist_budget_t* create_budget(const device_t* on, uint64_t tensors) {
  hoist_budget_options_t options = HOIST_BUDGET_OPTIONS_INIT;
  hoist_budget_t* budget = NULL;
  options.budget_bytes = tensors * tensor_bytes;
  options.profile_steps = 1;
  options.trust = HOIST_SWITCH_ON;
  OK(hoist_budget_create(on->device, &options, &budget));
  return budget;
}

static void test_one_budget(const device_t* on) {
  hoist_budget_status_t status = HOIST_BUDGET_STATUS_INIT;
  hoist_budget_t* budget = create_budget(on, 3);
  model_t model;
  build(&model, on, budget, 1);
  OK(hoist_manager_commit(model.manager));
  for (int i = 0; i < 8; ++i) step(&model, on->stream);
  OK(hoist_stream_wait(on->stream));
  OK(hoist_budget_query(budget, &status));
  CHECK(status.phase == HOIST_PHASE_SERVING && status.tensor_count == 5);
  CHECK(status.arena_bytes == 3 * tensor_bytes && status.peak_bytes <= status.budget_bytes);
  CHECK(status.last_step_h2d_bytes > 0 && status.mispredictions == 0);
  check_bytes(&model);
  unsigned char bytes[tensor_bytes];
  CHECK(hoist_tensor_read(model.manager, model.activation, bytes, sizeof bytes) == HOIST_ERROR_STALE);
  CHECK(says("activation"));
  hoist_manager_destroy(model.manager);
  hoist_budget_destroy(budget);
}

static void test_order(const device_t* on) {
  hoist_unit_view_t view = HOIST_UNIT_VIEW_INIT;
  hoist_budget_t* budget = create_budget(on, 3);
  model_t model;
  build(&model, on, budget, 1);
  hoist_manager_t* m = model.manager;
  CHECK(hoist_step_begin(m, on->stream) == HOIST_ERROR_INVALID_STATE); /* not committed */
  OK(hoist_manager_commit(m));
  CHECK(hoist_manager_commit(m) == HOIST_ERROR_INVALID_STATE);
  CHECK(hoist_unit_begin(m, 0, on->stream, &view) == HOIST_ERROR_ORDER && says("outside of a step"));
  CHECK(hoist_unit_end(m, 0, on->stream) == HOIST_ERROR_ORDER);
  CHECK(hoist_step_end(m, on->stream) == HOIST_ERROR_ORDER);
  CHECK(hoist_step_abort(m, on->stream) == HOIST_ERROR_ORDER);
  OK(hoist_step_begin(m, on->stream));
  CHECK(hoist_step_begin(m, on->stream) == HOIST_ERROR_INVALID_STATE && says("within a step"));
  CHECK(hoist_unit_begin(m, units, on->stream, &view) == HOIST_ERROR_NOT_FOUND);
  CHECK(hoist_unit_begin(m, 2, on->stream, &view) == HOIST_ERROR_STALE && says("activation"));
  begin(&model, 0, on->stream);
  CHECK(hoist_unit_begin(m, 0, on->stream, &view) == HOIST_ERROR_ORDER && says("\"a\""));
  CHECK(hoist_unit_begin(m, 1, on->stream, &view) == HOIST_ERROR_ORDER && says("\"b\""));
  CHECK(hoist_unit_end(m, 1, on->stream) == HOIST_ERROR_ORDER && says("\"b\""));
  CHECK(hoist_unit_end(m, 0, on->other) == HOIST_ERROR_ORDER && says("another stream"));
  CHECK(hoist_step_end(m, on->stream) == HOIST_ERROR_ORDER && says("\"a\""));
  CHECK(hoist_tensor_read(m, model.state, model.bytes[0], tensor_bytes) == HOIST_ERROR_ORDER);
  CHECK(hoist_tensor_update(m, model.weight[1], model.bytes[1], tensor_bytes, on->stream) == HOIST_ERROR_ORDER);
  CHECK(hoist_manager_suspend(m) == HOIST_ERROR_INVALID_STATE);
  CHECK(hoist_budget_set(budget, 4 * tensor_bytes, 0) == HOIST_ERROR_INVALID_STATE);
  CHECK(hoist_replan_request(m, NULL, NULL) == HOIST_ERROR_INVALID_STATE);
  OK(hoist_unit_end(m, 0, on->stream));
  CHECK(hoist_unit_end(m, 0, on->stream) == HOIST_ERROR_ORDER);
  run(&model, 1, on->other);
  run(&model, 2, on->stream);
  OK(hoist_step_end(m, on->stream));
  for (int i = 0; i < 4; ++i) step(&model, on->stream);
  check_bytes(&model);
  hoist_manager_destroy(m);
  CHECK(hoist_step_begin(m, on->stream) == HOIST_ERROR_INVALID_STATE && says("destroyed"));
  CHECK(hoist_unit_begin(m, 0, on->stream, &view) == HOIST_ERROR_INVALID_STATE);
  hoist_budget_destroy(budget);
}

static atomic_int hold;
static void held(void* unused) {
  (void)unused;
  while (atomic_load(&hold) != 0) sched_yield();
}

/* The query beside it can be the one that is inside: then the drain is refused, and asked for again. */
static void* drain(void* manager) {
  hoist_status_t status = HOIST_OK;
  while ((status = hoist_manager_drain(manager)) == HOIST_ERROR_BUSY) sched_yield();
  return (void*)(intptr_t)status;
}

static void test_busy(const device_t* on) {
  hoist_budget_status_t status = HOIST_BUDGET_STATUS_INIT;
  hoist_budget_t* budget = create_budget(on, 3);
  model_t model;
  pthread_t thread;
  void* drained = NULL;
  build(&model, on, budget, 1);
  OK(hoist_manager_commit(model.manager));
  step(&model, on->stream);
  atomic_store(&hold, 1);
  OK(hoist_step_begin(model.manager, on->stream));
  OK(hoist_stream_submit_host(on->stream, held, NULL, 10));
  run(&model, 0, on->stream);
  OK(hoist_step_abort(model.manager, on->stream));
  CHECK(pthread_create(&thread, NULL, drain, model.manager) == 0);
  hoist_status_t seen = HOIST_OK;
  while ((seen = hoist_manager_query(model.manager, &status)) == HOIST_OK) sched_yield();
  CHECK(seen == HOIST_ERROR_BUSY && says("another thread"));
  CHECK(hoist_budget_query(budget, &status) == HOIST_ERROR_BUSY);
  CHECK(hoist_step_begin(model.manager, on->stream) == HOIST_ERROR_BUSY);
  atomic_store(&hold, 0);
  CHECK(pthread_join(thread, &drained) == 0 && drained == NULL);
  step(&model, on->stream);
  check_bytes(&model);
  hoist_manager_destroy(model.manager);
  hoist_budget_destroy(budget);
}

/* Case 23: two in one budget, their units interleaved in one step; one is destroyed in the middle of it. */
static void test_two_managers(const device_t* on) {
  hoist_budget_status_t status = HOIST_BUDGET_STATUS_INIT;
  hoist_budget_t* budget = create_budget(on, 5);
  model_t one;
  model_t two;
  build(&one, on, budget, 1);
  build(&two, on, budget, 100);
  OK(hoist_manager_commit(one.manager));
  CHECK(hoist_step_begin(one.manager, on->stream) == HOIST_ERROR_INVALID_STATE); /* two is not committed */
  OK(hoist_manager_commit(two.manager));
  for (int i = 0; i < 6; ++i) {
    OK(hoist_step_begin(one.manager, on->stream));
    for (hoist_unit_t unit = 0; unit < units; ++unit) {
      run(&one, unit, on->stream);
      run(&two, unit, on->stream);
    }
    OK(hoist_step_end(two.manager, on->stream));
  }
  OK(hoist_budget_query(budget, &status));
  CHECK(status.unit_count == 2 * units && status.mispredictions == 0);
  OK(hoist_step_begin(one.manager, on->stream));
  run(&one, 0, on->stream);
  run(&two, 0, on->stream);
  run(&one, 1, on->stream);
  hoist_manager_destroy(two.manager); /* goes with the end of the step */
  OK(hoist_budget_query(budget, &status));
  CHECK(status.unit_count == 2 * units);
  run(&one, 2, on->stream);
  OK(hoist_step_end(one.manager, on->stream));
  OK(hoist_budget_query(budget, &status));
  CHECK(status.unit_count == units && status.aborted_steps == 0);
  check_bytes(&one);
  for (int i = 0; i < 5; ++i) step(&one, on->stream);
  check_bytes(&one);
  OK(hoist_budget_query(budget, &status));
  CHECK(status.unit_count == units && status.tensor_count == 5);
  hoist_manager_destroy(one.manager);
  hoist_budget_destroy(budget);
}

/* Within one step both go, one after the other: nobody is left to end it, and nothing stays. */
static void test_both_go(const device_t* on) {
  hoist_budget_status_t status = HOIST_BUDGET_STATUS_INIT;
  hoist_budget_t* budget = create_budget(on, 5);
  model_t one;
  model_t two;
  for (int first = 0; first < 2; ++first) {
    build(&one, on, budget, 1);
    build(&two, on, budget, 100);
    OK(hoist_manager_commit(one.manager));
    OK(hoist_manager_commit(two.manager));
    OK(hoist_step_begin(one.manager, on->stream));
    run(&one, 0, on->stream);
    begin(&two, 0, on->stream);
    hoist_manager_destroy(first == 0 ? one.manager : two.manager);
    hoist_manager_destroy(first == 0 ? two.manager : one.manager);
    OK(hoist_budget_query(budget, &status));
    CHECK(status.unit_count == 0 && status.arena_bytes == 0 && status.pinned_bytes == 0);
  }
  hoist_budget_destroy(budget);
}

static void in_child(model_t* model, hoist_budget_t* budget, hoist_stream_t* stream) {
  hoist_budget_status_t status = HOIST_BUDGET_STATUS_INIT;
  hoist_tensor_info_t info = HOIST_TENSOR_INFO_INIT;
  CHECK(hoist_step_begin(model->manager, stream) == HOIST_ERROR_FORKED && says("parent process"));
  CHECK(hoist_manager_drain(model->manager) == HOIST_ERROR_FORKED);
  CHECK(hoist_tensor_query(model->manager, model->state, &info) == HOIST_ERROR_FORKED);
  CHECK(hoist_budget_query(budget, &status) == HOIST_ERROR_FORKED);
  hoist_manager_destroy(model->manager);
  hoist_budget_destroy(budget);
  _exit(0);
}

/* Case 30 is about pinned memory, which the manager holds here. */
static void test_fork(const device_t* on) {
  hoist_budget_t* budget = create_budget(on, 3);
  model_t model;
  int status = 1;
  build(&model, on, budget, 1);
  OK(hoist_manager_commit(model.manager));
  for (int i = 0; i < 4; ++i) step(&model, on->stream);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) in_child(&model, budget, on->stream);
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  step(&model, on->stream);
  check_bytes(&model);
  hoist_manager_destroy(model.manager);
  hoist_budget_destroy(budget);
}

/* A program that was built when there were fewer options: nothing is written where it has no room. */
static void test_options_of_old(void) {
  hoist_budget_options_t options;
  memset(&options, 0xaa, sizeof options);
  options.struct_size = offsetof(hoist_budget_options_t, placement);
  OK(hoist_budget_options_init(&options));
  CHECK(options.budget_bytes == 0 && options.trust == HOIST_SWITCH_DEFAULT);
  const unsigned char* bytes = (const unsigned char*)&options;
  for (size_t i = options.struct_size; i < sizeof options; ++i) CHECK(bytes[i] == 0xaa);
}

/* Every struct of options has all defaults by a call, too, and they are those of its macro. */
static void test_options_by_call(void) {
  hoist_budget_options_t budget, budget_is = HOIST_BUDGET_OPTIONS_INIT;
  hoist_manager_options_t manager, manager_is = HOIST_MANAGER_OPTIONS_INIT;
  hoist_plan_options_t plan, plan_is = HOIST_PLAN_OPTIONS_INIT;
  memset(&budget, 0xaa, sizeof budget);
  memset(&manager, 0xaa, sizeof manager);
  memset(&plan, 0xaa, sizeof plan);
  CHECK(hoist_plan_options_init(&plan) == HOIST_ERROR_INVALID_ARGUMENT && says("struct_size"));
  CHECK(hoist_manager_options_init(NULL) == HOIST_ERROR_INVALID_ARGUMENT);
  budget.struct_size = sizeof budget;
  manager.struct_size = sizeof manager;
  plan.struct_size = sizeof plan;
  OK(hoist_budget_options_init(&budget));
  OK(hoist_manager_options_init(&manager));
  OK(hoist_plan_options_init(&plan));
  CHECK(budget.struct_size == budget_is.struct_size && budget.budget_share == budget_is.budget_share &&
        budget.placement == budget_is.placement && budget.profile_steps == budget_is.profile_steps);
  CHECK(manager.struct_size == manager_is.struct_size && manager.budget == manager_is.budget);
  CHECK(plan.struct_size == plan_is.struct_size && plan.effort == 0 && plan.reserved == 0 &&
        plan.time_limit_seconds == plan_is.time_limit_seconds);
}

int main(void) {
  test_options_of_old();
  test_options_by_call();
  device_t on = open_device("host:0?mode=threaded");
  test_one_budget(&on);
  test_order(&on);
  test_busy(&on);
  test_two_managers(&on);
  test_both_go(&on);
  test_fork(&on);
  close_device(&on);
  return 0;
}
