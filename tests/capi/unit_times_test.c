/* SPDX-License-Identifier: Apache-2.0
 * What plans are made of, on modelled time: the last times of units that have taken place, each step's where asked. */
#define _POSIX_C_SOURCE 200809L
#include "budget_rig.h"

static void idle(void* unused) { (void)unused; }

/* Of the first unit. */
static double measured_us(const model_t* model) { return problem_number(model, "\"compute_us\""); }

/* On modelled time: a unit that was given up while it took long says nothing about how long it takes. */
static void test_aborted_times(void) {
  static model_t model;
  device_t on = open_device("host:0?mode=virtual");
  hoist_budget_t* budget = create_budget(&on, 6);
  build(&model, &on, budget, most_units);
  OK(hoist_manager_commit(model.manager));
  steps(&model, 1, on.stream);
  for (int i = 0; i < 3; ++i) {
    OK(hoist_step_begin(model.manager, on.stream));
    begin(&model, 0, on.stream);
    OK(hoist_stream_submit_host(on.stream, idle, NULL, 50000));
    OK(hoist_step_abort(model.manager, on.stream));
  }
  steps(&model, 2, on.stream);
  CHECK(status_of(budget).phase == HOIST_PHASE_SERVING && status_of(budget).aborted_steps == 3);
  const double us = measured_us(&model);
  CHECK(us >= 10 && us < 1000); /* 10 us of compute, and what lies between units */
  finish(&model, budget);
  close_device(&on);
}

/* Steps in which each unit computes longer than the rig's 10 us. 2 us more are a fifth, which by itself is no news. */
static void slow_steps(model_t* model, int count, double more_us, hoist_stream_t* stream) {
  for (int i = 0; i < count; ++i) {
    OK(hoist_step_begin(model->manager, stream));
    for (hoist_unit_t unit = 0; unit < most_units; ++unit) {
      begin(model, unit, stream);
      OK(hoist_stream_submit_host(stream, idle, NULL, more_us));
      OK(hoist_unit_end(model->manager, unit, stream));
    }
    OK(hoist_step_end(model->manager, stream));
  }
  OK(hoist_stream_wait(stream));
}

/* While serving one step in eight is timed, and each where a replan is prepared. */
static void test_prepared(void) {
  static model_t model;
  device_t on = open_device("host:0?mode=virtual");
  hoist_budget_t* budget = create_budget(&on, 6);
  build(&model, &on, budget, most_units);
  CHECK(hoist_replan_prepare(model.manager, 0) == HOIST_ERROR_INVALID_STATE);
  OK(hoist_manager_commit(model.manager));
  steps(&model, 40, on.stream);
  CHECK(status_of(budget).phase == HOIST_PHASE_SERVING);
  const double before = measured_us(&model);
  slow_steps(&model, 9, 2, on.stream);
  OK(hoist_timing_begin(model.manager, 4)); /* takes in what has been timed */
  OK(hoist_timing_end(model.manager));
  CHECK(measured_us(&model) < before + 1);
  OK(hoist_replan_prepare(model.manager, 0));
  slow_steps(&model, 9, 2, on.stream);
  OK(hoist_replan_request(model.manager, NULL, NULL));
  slow_steps(&model, 1, 2, on.stream);
  CHECK(measured_us(&model) > before + 1);
  OK(hoist_step_begin(model.manager, on.stream));
  CHECK(hoist_replan_prepare(model.manager, 2) == HOIST_ERROR_INVALID_STATE);
  OK(hoist_step_abort(model.manager, on.stream));
  finish(&model, budget);
  close_device(&on);
}

/* Where units take much longer than before, as with other inputs, what was measured earlier is forgotten. */
static void test_other_inputs(void) {
  static model_t model;
  device_t on = open_device("host:0?mode=virtual");
  hoist_budget_t* budget = create_budget(&on, 6);
  build(&model, &on, budget, most_units);
  OK(hoist_manager_commit(model.manager));
  steps(&model, 40, on.stream);
  slow_steps(&model, 8, 5000, on.stream); /* one of them is timed */
  OK(hoist_replan_request(model.manager, NULL, NULL));
  slow_steps(&model, 1, 5000, on.stream);
  CHECK(measured_us(&model) > 5000);
  steps(&model, 8, on.stream);
  OK(hoist_replan_request(model.manager, NULL, NULL));
  steps(&model, 1, on.stream);
  CHECK(measured_us(&model) < 1000);
  finish(&model, budget);
  close_device(&on);
}

int main(void) {
  alarm(60); /* a deadlock is a failure, not a wait */
  test_aborted_times();
  test_prepared();
  test_other_inputs();
  return 0;
}
