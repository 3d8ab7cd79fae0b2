/* SPDX-License-Identifier: Apache-2.0
 * Who comes and goes while a budget lives: streams given back within a unit, managers that join late, are empty, leave
 * while the budget is suspended, recorded, or in another thread's hands. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

#include "budget_rig.h"

/* The stream goes while its unit is open. What the unit wrote is there all the same. */
static void test_stream_gone(const char* name, int abort_on_other) {
  device_t on = open_device(name);
  hoist_budget_t* budget = create_budget(&on, 4);
  model_t model;
  build(&model, &on, budget, most_units);
  OK(hoist_manager_commit(model.manager));
  steps(&model, 4, on.stream);
  OK(hoist_step_begin(model.manager, on.stream));
  run(&model, 0, on.stream);
  begin(&model, 1, on.stream);
  hoist_stream_destroy(on.stream);
  on.stream = NULL;
  if (abort_on_other) {
    /* Calls that name other streams, refused ones too, must not let go of the open unit's. */
    CHECK(hoist_unit_end(model.manager, 1, on.other) == HOIST_ERROR_ORDER);
    CHECK(hoist_tensor_update(model.manager, model.tensor[5], model.bytes[5], place, on.other) == HOIST_ERROR_ORDER);
    OK(hoist_step_abort(model.manager, on.other));
    steps(&model, 3, on.other);
  }
  finish(&model, budget);
  close_device(&on);
}

/* Between units, too: the step goes on and ends on another stream. */
static void test_stream_gone_between_units(const device_t* on) {
  hoist_budget_t* budget = create_budget(on, 4);
  hoist_stream_t* passing = NULL;
  model_t model;
  build(&model, on, budget, most_units);
  OK(hoist_manager_commit(model.manager));
  for (int i = 0; i < 6; ++i) {
    OK(hoist_stream_create(on->device, &passing));
    OK(hoist_step_begin(model.manager, passing));
    for (hoist_unit_t unit = 0; unit < 4; ++unit) run(&model, unit, passing);
    hoist_stream_destroy(passing);
    if (i % 2 == 0) {
      for (hoist_unit_t unit = 4; unit < most_units; ++unit) run(&model, unit, on->stream);
    }
    OK(hoist_step_end(model.manager, on->stream));
  }
  finish(&model, budget);
}

typedef struct {
  hoist_budget_t* budget;
  model_t one;
  model_t two;
} pair_t;

static void build_pair(pair_t* pair, const device_t* on, uint64_t places) {
  pair->budget = create_budget(on, places);
  build(&pair->one, on, pair->budget, most_units);
  build(&pair->two, on, pair->budget, 3);
  OK(hoist_manager_commit(pair->one.manager));
}

static void pair_steps(pair_t* pair, int count, const device_t* on) {
  for (int i = 0; i < count; ++i) step_of(&pair->one, &pair->two, most_units, on->stream);
}

/* Nobody but a resume wakes a suspended budget; `short_of_memory`: not even one that must plan anew without any. */
static void test_leave_suspended(const device_t* on, int short_of_memory) {
  static pair_t pair;
  build_pair(&pair, on, 6);
  OK(hoist_manager_commit(pair.two.manager));
  pair_steps(&pair, 6, on);
  OK(hoist_manager_suspend(pair.one.manager));
  CHECK(status_of(pair.budget).arena_bytes == 0);
  if (short_of_memory) OK(hoist_device_set(on->device, "memory_taken", "67108864"));
  hoist_manager_destroy(pair.two.manager);
  check_left(&pair.two);
  CHECK(status_of(pair.budget).phase == HOIST_PHASE_SUSPENDED && status_of(pair.budget).arena_bytes == 0);
  CHECK(hoist_step_begin(pair.one.manager, on->stream) == HOIST_ERROR_INVALID_STATE && says("suspended"));
  CHECK(status_of(pair.budget).phase == HOIST_PHASE_SUSPENDED && status_of(pair.budget).arena_bytes == 0);
  if (short_of_memory) {
    CHECK(hoist_manager_resume(pair.one.manager) == HOIST_ERROR_OUT_OF_MEMORY);
    OK(hoist_device_set(on->device, "memory_taken", "0"));
  }
  OK(hoist_manager_resume(pair.one.manager));
  steps(&pair.one, 5, on->stream);
  CHECK(status_of(pair.budget).phase == HOIST_PHASE_SERVING);
  finish(&pair.one, pair.budget);
}

static void test_commit_suspended(const device_t* on) {
  static pair_t pair;
  build_pair(&pair, on, 6);
  OK(hoist_manager_suspend(pair.one.manager));
  CHECK(hoist_manager_commit(pair.two.manager) == HOIST_ERROR_INVALID_STATE && says("suspended"));
  CHECK(status_of(pair.budget).phase == HOIST_PHASE_SUSPENDED && status_of(pair.budget).arena_bytes == 0);
  OK(hoist_manager_resume(pair.one.manager));
  OK(hoist_manager_commit(pair.two.manager));
  pair_steps(&pair, 4, on);
  hoist_manager_destroy(pair.two.manager);
  check_left(&pair.two);
  finish(&pair.one, pair.budget);
}

static void test_late_join(const device_t* on) {
  hoist_manager_options_t options = HOIST_MANAGER_OPTIONS_INIT;
  hoist_budget_t* budget = create_budget(on, 4);
  hoist_manager_t* late = NULL;
  model_t model;
  build(&model, on, budget, most_units);
  OK(hoist_manager_commit(model.manager));
  steps(&model, 1, on->stream);
  options.budget = budget;
  CHECK(hoist_manager_create(on->device, &options, &late) == HOIST_ERROR_INVALID_STATE && says("joins"));
  CHECK(late == NULL);
  steps(&model, 4, on->stream);
  CHECK(status_of(budget).phase == HOIST_PHASE_SERVING);
  finish(&model, budget);
}

/* One that owns nothing leaves in the middle of a unit, and nobody notices. */
static void test_empty_leaves(const device_t* on) {
  hoist_budget_t* budget = create_budget(on, 4);
  model_t model;
  build(&model, on, budget, most_units);
  hoist_manager_t* empty = create_manager(on, budget);
  OK(hoist_manager_commit(model.manager));
  OK(hoist_manager_commit(empty));
  steps(&model, 5, on->stream);
  OK(hoist_trace_begin(model.manager, 0));
  OK(hoist_step_begin(model.manager, on->stream));
  begin(&model, 0, on->stream);
  const hoist_budget_status_t before = status_of(budget);
  hoist_manager_destroy(empty);
  const hoist_budget_status_t after = status_of(budget);
  CHECK(after.phase == HOIST_PHASE_SERVING && after.arena_bytes == before.arena_bytes);
  CHECK(after.steps == before.steps && after.h2d_bytes == before.h2d_bytes && before.h2d_bytes > 0);
  OK(hoist_unit_end(model.manager, 0, on->stream));
  for (hoist_unit_t unit = 1; unit < most_units; ++unit) run(&model, unit, on->stream);
  OK(hoist_step_end(model.manager, on->stream));
  OK(hoist_trace_end(model.manager, NULL));
  CHECK(status_of(budget).aborted_steps == 0);
  finish(&model, budget);
}

static void test_counts_go_on(const device_t* on) {
  static pair_t pair;
  build_pair(&pair, on, 6);
  OK(hoist_manager_commit(pair.two.manager));
  pair_steps(&pair, 5, on);
  OK(hoist_step_begin(pair.one.manager, on->stream));
  for (hoist_unit_t unit = most_units; unit-- > 0;) run(&pair.one, unit, on->stream);
  OK(hoist_step_end(pair.one.manager, on->stream));
  const hoist_budget_status_t before = status_of(pair.budget);
  CHECK(before.mispredictions > 0 && before.demand_loads > 0 && before.replans > 0);
  hoist_manager_destroy(pair.two.manager);
  const hoist_budget_status_t after = status_of(pair.budget);
  CHECK(after.steps == before.steps && after.replans == before.replans);
  CHECK(after.mispredictions == before.mispredictions && after.demand_loads == before.demand_loads);
  CHECK(after.h2d_bytes >= before.h2d_bytes && after.d2h_bytes > before.d2h_bytes); /* dirty states came home */
  steps(&pair.one, 1, on->stream);
  CHECK(status_of(pair.budget).steps == before.steps + 1 && status_of(pair.budget).h2d_bytes > after.h2d_bytes);
  finish(&pair.one, pair.budget);
}

static int occurrences(const char* text, const char* part) {
  int count = 0;
  for (const char* at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) ++count;
  return count;
}

static char* trace_of(hoist_manager_t* manager) {
  char path[] = "/tmp/budget_life_XXXXXX";
  const size_t room = 1 << 20;
  const int reserved = mkstemp(path);
  CHECK(reserved >= 0);
  close(reserved);
  OK(hoist_trace_end(manager, path));
  FILE* file = fopen(path, "r");
  char* text = calloc(1, room);
  CHECK(file != NULL && text != NULL && fread(text, 1, room - 1, file) > 0 && feof(file));
  fclose(file);
  unlink(path);
  return text;
}

/* Two names of one number, before and after a leave; and a trace that begins between two commits. */
static void test_trace_goes_on(const device_t* on) {
  static pair_t pair;
  pair.budget = create_budget(on, 6);
  build(&pair.two, on, pair.budget, 3); /* first, so that the other's units get new numbers when it leaves */
  build(&pair.one, on, pair.budget, most_units);
  OK(hoist_manager_commit(pair.two.manager));
  OK(hoist_trace_begin(pair.two.manager, 0));
  OK(hoist_manager_commit(pair.one.manager));
  pair_steps(&pair, 2, on);
  hoist_manager_destroy(pair.two.manager);
  steps(&pair.one, 3, on->stream);
  char* text = trace_of(pair.one.manager);
  CHECK(occurrences(text, "\"tid\":0,\"ts\"") == 2 * (most_units + 3) + 3 * most_units);
  char name[64];
  for (int unit = 0; unit < most_units; ++unit) {
    snprintf(name, sizeof name, "\"name\":\"manager1/u%d\",\"args\":{\"step\":", unit);
    CHECK(occurrences(text, name) >= 5); /* computes, and waits where there were any */
    snprintf(name, sizeof name, "\"name\":\"u%d\",\"args\":{\"step\":", unit);
    CHECK((occurrences(text, name) >= 2) == (unit < 3));
  }
  CHECK(strstr(text, "\"step\":4,") != NULL || strstr(text, "\"step\":4}") != NULL);
  free(text);
  finish(&pair.one, pair.budget);
}

static void* destroy(void* manager) {
  hoist_manager_destroy(manager);
  return NULL;
}

static void tolerate(hoist_status_t status) {
  CHECK(status == HOIST_OK || status == HOIST_ERROR_BUSY || status == HOIST_ERROR_ORDER ||
        status == HOIST_ERROR_INVALID_STATE);
}

/* The other manager goes at any moment of this one's step. Units write nothing, so that any may be given up. */
static void step_in_any_state(hoist_manager_t* manager, hoist_stream_t* stream) {
  hoist_unit_view_t view = HOIST_UNIT_VIEW_INIT;
  tolerate(hoist_step_begin(manager, stream));
  for (hoist_unit_t unit = 0; unit < most_units; ++unit) {
    tolerate(hoist_unit_begin(manager, unit, stream, &view));
    tolerate(hoist_unit_end(manager, unit, stream));
  }
  tolerate(hoist_step_end(manager, stream));
}

static void test_destroy_beside(const device_t* on) {
  static pair_t pair;
  for (int i = 0; i < 40; ++i) {
    pthread_t thread;
    build_pair(&pair, on, 6);
    OK(hoist_manager_commit(pair.two.manager));
    pair_steps(&pair, i % 5, on);
    CHECK(pthread_create(&thread, NULL, destroy, pair.two.manager) == 0);
    for (int k = 0; k < 5; ++k) step_in_any_state(pair.one.manager, on->stream);
    CHECK(pthread_join(thread, NULL) == 0);
    const hoist_status_t aborted = hoist_step_abort(pair.one.manager, on->stream);
    CHECK(aborted == HOIST_OK || aborted == HOIST_ERROR_ORDER);
    check_left(&pair.two);
    steps(&pair.one, 3, on->stream);
    CHECK(status_of(pair.budget).unit_count == most_units);
    finish(&pair.one, pair.budget);
  }
}

static int gone = 0; /* tensors that were released */

typedef struct {
  hoist_manager_t* manager; /* destroyed on release; NULL: none */
} release_t;

static void on_release(void* user_data) {
  ++gone;
  hoist_manager_destroy(((release_t*)user_data)->manager);
}

static hoist_manager_t* create_with_release(const device_t* on, hoist_budget_t* budget, const char* name,
                                            release_t* release) {
  static unsigned char bytes[place];
  hoist_manager_t* manager = create_manager(on, budget);
  hoist_tensor_desc_t desc = HOIST_TENSOR_DESC_INIT;
  hoist_unit_t unit = 0;
  hoist_tensor_t tensor = 0;
  OK(hoist_manager_add_unit(manager, name, &unit));
  desc.name = name;
  desc.bytes = place;
  desc.host = bytes;
  desc.flags = HOIST_TENSOR_COPY;
  desc.release = on_release;
  desc.user_data = release;
  OK(hoist_manager_add_tensor(manager, unit, &desc, &tensor));
  return manager;
}

/* A finalizer may run on the thread that is inside: it must not wait for itself, and what it destroys goes. */
static void test_destroy_inside(const device_t* on) {
  hoist_budget_t* budget = create_budget(on, 4);
  release_t nothing = {NULL}, destroys_other = {NULL}, destroys_itself = {NULL};
  hoist_manager_t* other = create_with_release(on, budget, "other", &nothing);
  hoist_manager_t* manager = create_with_release(on, budget, "one", &destroys_other);
  destroys_other.manager = other;
  gone = 0;
  OK(hoist_manager_commit(manager)); /* within it, other is destroyed, uncommitted */
  CHECK(gone == 2);
  CHECK(hoist_manager_commit(other) == HOIST_ERROR_INVALID_STATE && says("destroyed"));
  CHECK(status_of(budget).unit_count == 1);
  hoist_manager_destroy(manager);

  manager = create_with_release(on, budget, "itself", &destroys_itself);
  destroys_itself.manager = manager;
  OK(hoist_manager_commit(manager));
  CHECK(status_of(budget).unit_count == 0);

  other = create_with_release(on, budget, "other", &nothing);
  destroys_other.manager = other;
  gone = 0;
  hoist_manager_destroy(create_with_release(on, budget, "one", &destroys_other)); /* uncommitted both */
  CHECK(gone == 2);
  hoist_budget_destroy(budget);
}

static void test_no_units(const device_t* on) {
  hoist_budget_t* budget = create_budget(on, 4);
  hoist_manager_t* empty = create_manager(on, budget);
  model_t model;
  OK(hoist_manager_commit(empty));
  CHECK(hoist_step_begin(empty, on->stream) == HOIST_ERROR_INVALID_STATE && says("before any unit"));
  build(&model, on, budget, most_units);
  OK(hoist_manager_commit(model.manager));
  steps(&model, 5, on->stream);
  CHECK(status_of(budget).phase == HOIST_PHASE_SERVING);
  hoist_manager_destroy(model.manager); /* the last units leave; the empty one stays */
  check_left(&model);
  CHECK(hoist_step_begin(empty, on->stream) == HOIST_ERROR_INVALID_STATE && says("before any unit"));
  build(&model, on, budget, 4);
  OK(hoist_manager_commit(model.manager));
  steps(&model, 5, on->stream);
  hoist_manager_destroy(empty);
  finish(&model, budget);
}

/* As many steps as it says, whatever is in between. */
static void test_steps_before_serving(const device_t* on) {
  hoist_budget_t* budget = create_budget(on, 4);
  model_t model;
  CHECK(status_of(budget).steps_before_serving == 2); /* one shows the order, the rig measures one */
  build(&model, on, budget, most_units);
  OK(hoist_manager_commit(model.manager));
  for (uint64_t left = 2; left > 0; --left) {
    CHECK(status_of(budget).steps_before_serving == left);
    OK(hoist_step_begin(model.manager, on->stream)); /* one that is given up shows nothing */
    OK(hoist_step_abort(model.manager, on->stream));
    CHECK(status_of(budget).steps_before_serving == left);
    steps(&model, 1, on->stream);
    OK(hoist_manager_suspend(model.manager));
    CHECK(status_of(budget).steps_before_serving == left - 1);
    OK(hoist_manager_resume(model.manager));
  }
  steps(&model, 1, on->stream);
  CHECK(status_of(budget).phase == HOIST_PHASE_SERVING && status_of(budget).steps_before_serving == 0);
  finish(&model, budget);
}

int main(void) {
  alarm(240); /* a deadlock is a failure, not a wait */
  const char* modes[] = {"host:0?mode=threaded", "host:0?mode=virtual", "host:0?mode=guarded", "host:0?mode=inline"};
  for (int i = 0; i < 4; ++i) {
    test_stream_gone(modes[i], 1);
    test_stream_gone(modes[i], 0);
  }
  device_t on = open_device("host:0?mode=threaded&memory=64MiB");
  test_stream_gone_between_units(&on);
  test_leave_suspended(&on, 0);
  test_leave_suspended(&on, 1);
  test_commit_suspended(&on);
  test_late_join(&on);
  test_empty_leaves(&on);
  test_counts_go_on(&on);
  test_trace_goes_on(&on);
  test_destroy_beside(&on);
  test_destroy_inside(&on);
  test_no_units(&on);
  test_steps_before_serving(&on);
  close_device(&on);
  return 0;
}
