/* SPDX-License-Identifier: Apache-2.0
 * What a budget promises about bytes and plans: never more memory than it says, requests that build on one another,
 * updates that hold, no false accusation. */
#define _POSIX_C_SOURCE 200809L
#include "budget_rig.h"

static hoist_replan_status_t replan_of(const model_t* model) {
  hoist_replan_status_t status = HOIST_REPLAN_STATUS_INIT;
  OK(hoist_replan_query(model->manager, &status));
  return status;
}

static hoist_budget_t* serve(model_t* model, const device_t* on, uint64_t places) {
  hoist_budget_t* budget = create_budget(on, places);
  build(model, on, budget, most_units);
  OK(hoist_manager_commit(model->manager));
  steps(model, 5, on->stream);
  CHECK(status_of(budget).phase == HOIST_PHASE_SERVING);
  return budget;
}

/* Two requests before one step: the second builds on the first. */
static void test_set_and_request(const device_t* on) {
  static model_t model;
  hoist_budget_t* budget = serve(&model, on, 6);
  OK(hoist_budget_set(budget, 3 * place, 0));
  OK(hoist_replan_request(model.manager, NULL, NULL));
  steps(&model, 1, on->stream);
  CHECK(status_of(budget).budget_bytes == 3 * place && status_of(budget).arena_bytes <= 3 * place);
  OK(hoist_replan_request(model.manager, NULL, NULL));
  OK(hoist_budget_set(budget, 5 * place, 0));
  OK(hoist_replan_request(model.manager, NULL, NULL));
  steps(&model, 1, on->stream);
  CHECK(status_of(budget).budget_bytes == 5 * place && status_of(budget).arena_bytes == 5 * place);
  /* A learned order that waits is not lost to a new budget. */
  for (int i = 0; i < 2; ++i) step_of(&model, NULL, 5, on->stream);
  OK(hoist_budget_set(budget, 4 * place, 0));
  const uint64_t mispredicted = status_of(budget).mispredictions;
  for (int i = 0; i < 2; ++i) step_of(&model, NULL, 5, on->stream);
  CHECK(status_of(budget).mispredictions == mispredicted && status_of(budget).budget_bytes == 4 * place);
  finish(&model, budget);
}

/* The unit with the workspace is not in the learned order, and may run all the same. */
static void test_workspace_outside_order(const device_t* on) {
  static model_t model;
  const uint64_t workspace = 4 * place;
  hoist_budget_t* budget = create_budget(on, 7);
  build(&model, on, budget, most_units);
  OK(hoist_manager_set_workspace(model.manager, most_units - 1, workspace));
  OK(hoist_manager_commit(model.manager));
  for (int i = 0; i < 6; ++i) {
    step_of(&model, NULL, most_units - 1, on->stream);
    CHECK(status_of(budget).arena_bytes + workspace <= 7 * place);
  }
  OK(hoist_step_begin(model.manager, on->stream));
  run(&model, most_units - 1, on->stream);
  CHECK(status_of(budget).arena_bytes + workspace <= 7 * place && status_of(budget).mispredictions > 0);
  OK(hoist_step_end(model.manager, on->stream));
  finish(&model, budget);
}

/* All bytes fit beside a workspace of any size: nothing moves after the first step. */
static void test_odd_workspace(const device_t* on) {
  static model_t model;
  hoist_budget_t* budget = create_budget(on, 0);
  build(&model, on, budget, most_units);
  OK(hoist_manager_set_workspace(model.manager, 2, 1));
  OK(hoist_manager_commit(model.manager));
  steps(&model, 5, on->stream);
  const uint64_t moved = status_of(budget).h2d_bytes;
  steps(&model, 3, on->stream);
  CHECK(status_of(budget).h2d_bytes == moved && status_of(budget).phase == HOIST_PHASE_SERVING);
  finish(&model, budget);
}

static void test_shrink(const device_t* on) {
  static model_t model;
  uint64_t before = 0;
  uint64_t after = 0;
  uint64_t total = 0;
  hoist_budget_t* budget = serve(&model, on, 6);
  OK(hoist_device_query_memory(on->device, &before, &total));
  OK(hoist_budget_set(budget, 3 * place, 0));
  CHECK(status_of(budget).arena_bytes <= 6 * place);
  OK(hoist_device_query_memory(on->device, &after, &total));
  CHECK(after >= before); /* who shrinks may have no memory left */
  steps(&model, 1, on->stream);
  CHECK(status_of(budget).arena_bytes <= 3 * place);
  OK(hoist_device_query_memory(on->device, &after, &total));
  CHECK(after > before);
  finish(&model, budget);
}

/* A plan for less than the budget is a plan, and no new limit. */
static void test_smaller_plan(const device_t* on) {
  static model_t model;
  hoist_problem_t* problems[2] = {NULL, NULL};
  hoist_plan_t* plans[2] = {NULL, NULL};
  const uint64_t places[2] = {3, 6};
  hoist_budget_t* budget = serve(&model, on, 6);
  for (int i = 0; i < 2; ++i) {
    OK(hoist_budget_set(budget, places[i] * place, 0));
    steps(&model, 1, on->stream);
    OK(hoist_manager_get_problem(model.manager, &problems[i]));
    OK(hoist_manager_get_plan(model.manager, &plans[i]));
  }
  OK(hoist_replan_request(model.manager, problems[0], plans[0]));
  steps(&model, 1, on->stream);
  CHECK(status_of(budget).budget_bytes == 6 * place && status_of(budget).arena_bytes == 3 * place);
  OK(hoist_replan_request(model.manager, problems[1], plans[1]));
  steps(&model, 1, on->stream);
  CHECK(status_of(budget).arena_bytes == 6 * place);
  OK(hoist_budget_set(budget, 4 * place, 0));
  CHECK(hoist_replan_request(model.manager, problems[1], plans[1]) == HOIST_ERROR_INVALID_ARGUMENT && says("budget"));
  steps(&model, 1, on->stream);
  CHECK(status_of(budget).budget_bytes == 4 * place);
  for (int i = 0; i < 2; ++i) {
    hoist_plan_destroy(plans[i]);
    hoist_problem_destroy(problems[i]);
  }
  finish(&model, budget);
}

static hoist_tensor_t add_transient(hoist_manager_t* manager, hoist_unit_t unit, hoist_unit_t reader) {
  hoist_tensor_desc_t desc = HOIST_TENSOR_DESC_INIT;
  hoist_tensor_t tensor = 0;
  char name[16];
  snprintf(name, sizeof name, "a%u", unit);
  desc.name = name;
  desc.bytes = place;
  desc.flags = HOIST_TENSOR_TRANSIENT;
  desc.mode = HOIST_USE_WRITE;
  OK(hoist_manager_add_tensor(manager, unit, &desc, &tensor));
  OK(hoist_manager_add_use(manager, reader, tensor, HOIST_USE_READ));
  return tensor;
}

static void run_idle(hoist_manager_t* manager, hoist_unit_t unit, hoist_stream_t* stream) {
  hoist_unit_view_t view = HOIST_UNIT_VIEW_INIT;
  OK(hoist_unit_begin(manager, unit, stream, &view));
  OK(hoist_unit_end(manager, unit, stream));
}

/* Forward writes four activations, backward reads them in turn: two places hold two, the others go to the host. */
static hoist_budget_t* build_nested(hoist_manager_t** manager, const device_t* on, uint64_t pinned_limit) {
  hoist_budget_options_t options = HOIST_BUDGET_OPTIONS_INIT;
  hoist_budget_t* budget = NULL;
  options.budget_bytes = 2 * place;
  options.pinned_limit_bytes = pinned_limit;
  options.profile_steps = 1;
  OK(hoist_budget_create(on->device, &options, &budget));
  *manager = create_manager(on, budget);
  for (int u = 0; u < most_units; ++u) {
    hoist_unit_t unit = 0;
    char name[16];
    snprintf(name, sizeof name, "u%d", u);
    OK(hoist_manager_add_unit(*manager, name, &unit));
  }
  for (hoist_unit_t u = 0; u < 4; ++u) add_transient(*manager, u, most_units - 1 - u);
  return budget;
}

static uint64_t run_nested(hoist_manager_t* manager, hoist_budget_t* budget, const device_t* on) {
  for (int i = 0; i < 5; ++i) {
    const uint64_t reserved = status_of(budget).pinned_bytes;
    OK(hoist_step_begin(manager, on->stream));
    for (hoist_unit_t unit = 0; unit < most_units; ++unit) run_idle(manager, unit, on->stream);
    CHECK(status_of(budget).pinned_bytes == reserved); /* taken with the plan, not by its units */
    OK(hoist_step_end(manager, on->stream));
  }
  CHECK(status_of(budget).last_step_d2h_bytes > 0);
  return status_of(budget).pinned_bytes;
}

static void test_pinned_limit(const device_t* on) {
  hoist_manager_t* manager = NULL;
  hoist_budget_t* budget = build_nested(&manager, on, 0);
  OK(hoist_manager_commit(manager));
  const uint64_t needed = run_nested(manager, budget, on);
  CHECK(needed >= 2 * place);
  hoist_manager_destroy(manager);
  CHECK(status_of(budget).pinned_bytes == 0);
  hoist_budget_destroy(budget);
  budget = build_nested(&manager, on, needed / 4);
  CHECK(hoist_manager_commit(manager) == HOIST_ERROR_OUT_OF_MEMORY);
  CHECK(hoist_manager_commit(manager) == HOIST_ERROR_OUT_OF_MEMORY); /* cleanly: again and no worse */
  CHECK(hoist_step_begin(manager, on->stream) == HOIST_ERROR_INVALID_STATE);
  hoist_manager_destroy(manager);
  CHECK(status_of(budget).pinned_bytes == 0 && status_of(budget).arena_bytes == 0);
  hoist_budget_destroy(budget);
}

static void test_read_is_counted(const device_t* on) {
  hoist_manager_t* manager = NULL;
  unsigned char bytes[place];
  hoist_budget_t* budget = build_nested(&manager, on, 0);
  OK(hoist_manager_commit(manager));
  OK(hoist_step_begin(manager, on->stream));
  run_idle(manager, 0, on->stream);
  const uint64_t before = status_of(budget).d2h_bytes;
  OK(hoist_tensor_read(manager, 0, bytes, place));
  CHECK(status_of(budget).d2h_bytes == before + place);
  OK(hoist_step_abort(manager, on->stream));
  hoist_manager_destroy(manager);
  hoist_budget_destroy(budget);
}

static hoist_status_t add_named(hoist_manager_t* manager, hoist_unit_t unit, const char* name, uint64_t bytes) {
  hoist_tensor_desc_t desc = HOIST_TENSOR_DESC_INIT;
  hoist_tensor_t tensor = 0;
  desc.name = name;
  desc.bytes = bytes;
  desc.flags = HOIST_TENSOR_ZERO;
  return hoist_manager_add_tensor(manager, unit, &desc, &tensor);
}

/* What no plan can name or hold is refused when it is added, where it can still be given otherwise. */
static void test_names(const device_t* on) {
  hoist_unit_t unit = 0;
  hoist_budget_t* budget = create_budget(on, 4);
  hoist_manager_t* one = create_manager(on, budget);
  hoist_manager_t* two = create_manager(on, budget);
  CHECK(hoist_manager_add_unit(one, "u\xff", &unit) == HOIST_ERROR_INVALID_ARGUMENT && says("UTF-8"));
  OK(hoist_manager_add_unit(one, "manager1/u", &unit));
  CHECK(add_named(one, unit, "x\xff", place) == HOIST_ERROR_INVALID_ARGUMENT && says("UTF-8"));
  CHECK(add_named(one, unit, "huge", UINT64_MAX) == HOIST_ERROR_INVALID_ARGUMENT && says("huge"));
  OK(add_named(one, unit, "manager1/x", place));
  OK(hoist_manager_add_unit(two, "u", &unit));
  CHECK(add_named(two, unit, "x", place) == HOIST_ERROR_ALREADY_EXISTS && says("manager1/x"));
  OK(add_named(two, unit, "y", place));
  OK(hoist_manager_commit(one));
  OK(hoist_manager_commit(two));
  for (int i = 0; i < 4; ++i) {
    OK(hoist_step_begin(one, on->stream));
    run_idle(one, 0, on->stream);
    run_idle(two, 0, on->stream);
    OK(hoist_step_end(one, on->stream));
  }
  CHECK(status_of(budget).phase == HOIST_PHASE_SERVING);
  hoist_manager_destroy(two);
  hoist_manager_destroy(one);
  hoist_budget_destroy(budget);
}

static uint64_t problem_budget(const model_t* model) { return (uint64_t)problem_number(model, "\"budget_bytes\""); }

static void test_replan_states(const device_t* on) {
  static model_t model;
  hoist_budget_t* budget = create_budget(on, 6);
  build(&model, on, budget, most_units);
  OK(hoist_manager_commit(model.manager));
  CHECK(replan_of(&model).state == HOIST_REPLAN_NONE && replan_of(&model).can_request == 0);
  OK(hoist_budget_set(budget, 5 * place, 0)); /* before the first step it is simply the budget */
  CHECK(status_of(budget).budget_bytes == 5 * place && problem_budget(&model) == 5 * place);
  CHECK(replan_of(&model).state == HOIST_REPLAN_NONE);
  CHECK(hoist_replan_request(model.manager, NULL, NULL) == HOIST_ERROR_INVALID_STATE && says("discovery"));
  steps(&model, 1, on->stream);
  CHECK(replan_of(&model).state == HOIST_REPLAN_NONE && replan_of(&model).can_request == 1);
  steps(&model, 4, on->stream); /* plans of the lifecycle's own */
  CHECK(status_of(budget).phase == HOIST_PHASE_SERVING && status_of(budget).replans > 0);
  CHECK(replan_of(&model).state == HOIST_REPLAN_NONE);
  OK(hoist_replan_request(model.manager, NULL, NULL));
  CHECK(replan_of(&model).state == HOIST_REPLAN_PENDING);
  steps(&model, 1, on->stream);
  CHECK(replan_of(&model).state == HOIST_REPLAN_APPLIED && replan_of(&model).reason[0] == '\0');
  finish(&model, budget);
  budget = create_budget(on, 6);
  build(&model, on, budget, most_units);
  OK(hoist_manager_commit(model.manager));
  steps(&model, 1, on->stream);
  OK(hoist_replan_request(model.manager, NULL, NULL)); /* after exactly one whole step, as the hint says */
  steps(&model, 2, on->stream);
  finish(&model, budget);
}

/* A check that is in flight while its tensor is written and then updated compares no new host bytes. */
static void test_no_false_corruption(const char* name) {
  static model_t model;
  static unsigned char bytes[place];
  device_t on = open_device(name);
  hoist_budget_t* budget = create_budget(&on, 1);
  build(&model, &on, budget, 1);
  OK(hoist_manager_commit(model.manager));
  for (int i = 0; i < 200; ++i) {
    OK(hoist_manager_drain(model.manager));
    OK(hoist_step_begin(model.manager, on.stream));
    run(&model, 0, on.stream);
    if (i % 2 == 1) {
      model.count[0] = (unsigned char)(i + 100);
      memset(bytes, model.count[0], place);
      OK(hoist_tensor_update(model.manager, model.tensor[0], bytes, place, on.stream));
    }
    OK(hoist_step_end(model.manager, on.stream));
  }
  finish(&model, budget);
  close_device(&on);
}

/* The device refuses the copy of an update: the update has happened, and is copied with the next use. */
static void test_refused_update(const device_t* on) {
  static model_t model;
  unsigned char bytes[place];
  hoist_budget_t* budget = serve(&model, on, most_units); /* everything is resident */
  OK(hoist_manager_drain(model.manager));
  for (int in_step = 0; in_step < 2; ++in_step) {
    hoist_tensor_info_t info = HOIST_TENSOR_INFO_INIT;
    OK(hoist_tensor_query(model.manager, model.tensor[3], &info));
    CHECK(info.on_device == 1);
    const uint64_t version = info.version;
    model.count[3] = (unsigned char)(200 + in_step);
    memset(bytes, model.count[3], place);
    if (in_step) OK(hoist_step_begin(model.manager, on->stream));
    OK(hoist_device_set(on->device, "fail", "copy@1"));
    OK(hoist_tensor_update(model.manager, model.tensor[3], bytes, place, on->stream));
    OK(hoist_tensor_query(model.manager, model.tensor[3], &info));
    CHECK(info.version == version + 1 && info.on_device == 0 && info.host_current == 1); /* it was refused, and done */
    OK(hoist_device_set(on->device, "fail", ""));
    if (!in_step) OK(hoist_step_begin(model.manager, on->stream));
    for (hoist_unit_t unit = 0; unit < most_units; ++unit) run(&model, unit, on->stream); /* checks the bytes */
    OK(hoist_step_end(model.manager, on->stream));
    OK(hoist_tensor_read(model.manager, model.tensor[3], bytes, place));
    CHECK(bytes[0] == model.count[3]);
  }
  finish(&model, budget);
}

int main(void) {
  alarm(240); /* a deadlock is a failure, not a wait */
  device_t on = open_device("host:0?mode=threaded&memory=64MiB");
  test_set_and_request(&on);
  test_workspace_outside_order(&on);
  test_odd_workspace(&on);
  test_shrink(&on);
  test_smaller_plan(&on);
  test_pinned_limit(&on);
  test_read_is_counted(&on);
  test_names(&on);
  test_replan_states(&on);
  test_refused_update(&on);
  close_device(&on);
  test_no_false_corruption("host:0?mode=virtual");
  test_no_false_corruption("host:0?mode=threaded&copy_delay_us=200");
  return 0;
}
