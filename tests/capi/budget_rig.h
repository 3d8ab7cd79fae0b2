/* SPDX-License-Identifier: Apache-2.0
 * A chain of units under a budget: each adds one to a state of its own, whose bytes are checked on the device before
 * and on the host at the end. A byte that is lost, stale or written twice is told. */
#ifndef HOIST_TESTS_BUDGET_RIG_H
#define HOIST_TESTS_BUDGET_RIG_H

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hoist/hoist.h"
#include "support/check.h"
#include "support/test_device.h"

enum { place = 4096, most_units = 8 };

typedef struct {
  _Alignas(4096) unsigned char bytes[most_units][place]; /* adopted: the host copies */
  hoist_manager_t* manager;
  uint32_t units;
  hoist_tensor_t tensor[most_units];
  unsigned char count[most_units]; /* what each state is full of, once all submitted units have run */
} model_t;

typedef struct {
  unsigned char* data;
  unsigned char before;
} work_t;

static atomic_int wrong_bytes;
static work_t works[256]; /* more than can be in flight */
static atomic_uint work_count;

static inline void compute(void* user_data) {
  const work_t* work = user_data;
  for (int i = 0; i < place; ++i) {
    if (work->data[i] != work->before) atomic_fetch_add(&wrong_bytes, 1);
  }
  memset(work->data, work->before + 1, place);
}

static inline hoist_budget_t* create_budget(const device_t* on, uint64_t places) {
  hoist_budget_options_t options = HOIST_BUDGET_OPTIONS_INIT;
  hoist_budget_t* budget = NULL;
  options.budget_bytes = places * place;
  options.profile_steps = 1;
  options.trust = HOIST_SWITCH_ON;
  OK(hoist_budget_create(on->device, &options, &budget));
  return budget;
}

static inline hoist_manager_t* create_manager(const device_t* on, hoist_budget_t* budget) {
  hoist_manager_options_t options = HOIST_MANAGER_OPTIONS_INIT;
  hoist_manager_t* manager = NULL;
  options.budget = budget;
  OK(hoist_manager_create(on->device, &options, &manager));
  return manager;
}

static inline void add_states(model_t* model) {
  for (uint32_t u = 0; u < model->units; ++u) {
    hoist_tensor_desc_t desc = HOIST_TENSOR_DESC_INIT;
    hoist_unit_t unit = 0;
    char name[16];
    snprintf(name, sizeof name, "u%u", u);
    OK(hoist_manager_add_unit(model->manager, name, &unit));
    desc.name = name;
    desc.bytes = place;
    desc.host = model->bytes[u];
    desc.flags = HOIST_TENSOR_ADOPT;
    desc.mode = HOIST_USE_READ_WRITE;
    OK(hoist_manager_add_tensor(model->manager, unit, &desc, &model->tensor[u]));
  }
}

/* Not committed yet. */
static inline void build(model_t* model, const device_t* on, hoist_budget_t* budget, uint32_t units) {
  memset(model, 0, sizeof *model);
  model->units = units;
  model->manager = create_manager(on, budget);
  add_states(model);
}

static inline void begin(model_t* model, hoist_unit_t unit, hoist_stream_t* stream) {
  hoist_unit_view_t view = HOIST_UNIT_VIEW_INIT;
  OK(hoist_unit_begin(model->manager, unit, stream, &view));
  CHECK(view.count == 1);
  work_t* work = &works[atomic_fetch_add(&work_count, 1) % 256];
  work->data = view.tensors[0].data;
  work->before = model->count[unit]++;
  OK(hoist_stream_submit_host(stream, compute, work, 10));
}

static inline void run(model_t* model, hoist_unit_t unit, hoist_stream_t* stream) {
  begin(model, unit, stream);
  OK(hoist_unit_end(model->manager, unit, stream));
}

/* The first `units` units of each model, one after another. `two` may be NULL. */
static inline void step_of(model_t* one, model_t* two, uint32_t units, hoist_stream_t* stream) {
  OK(hoist_step_begin(one->manager, stream));
  for (hoist_unit_t unit = 0; unit < units; ++unit) {
    run(one, unit, stream);
    if (two != NULL && unit < two->units) run(two, unit, stream);
  }
  OK(hoist_step_end(one->manager, stream));
}

static inline void steps(model_t* model, int count, hoist_stream_t* stream) {
  for (int i = 0; i < count; ++i) step_of(model, NULL, model->units, stream);
}

/* The first number of that key in the present problem. */
static inline double problem_number(const model_t* model, const char* key) {
  hoist_problem_t* problem = NULL;
  size_t bytes = 0;
  OK(hoist_manager_get_problem(model->manager, &problem));
  OK(hoist_problem_export(problem, NULL, &bytes));
  char* json = calloc(1, bytes + 1);
  CHECK(json != NULL);
  OK(hoist_problem_export(problem, json, &bytes));
  const char* at = strstr(json, key);
  CHECK(at != NULL);
  const double number = strtod(strchr(at, ':') + 1, NULL);
  free(json);
  hoist_problem_destroy(problem);
  return number;
}

static inline hoist_budget_status_t status_of(const hoist_budget_t* budget) {
  hoist_budget_status_t status = HOIST_BUDGET_STATUS_INIT;
  OK(hoist_budget_query(budget, &status));
  return status;
}

/* The manager has gone: what it left in the callers' memory. */
static inline void check_left(const model_t* model) {
  for (uint32_t u = 0; u < model->units; ++u) {
    for (int i = 0; i < place; ++i) CHECK(model->bytes[u][i] == model->count[u]);
  }
  CHECK(atomic_load(&wrong_bytes) == 0);
}

static inline void finish(model_t* model, hoist_budget_t* budget) {
  hoist_manager_destroy(model->manager);
  hoist_budget_destroy(budget);
  check_left(model);
}

#endif
