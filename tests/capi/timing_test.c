/* SPDX-License-Identifier: Apache-2.0
 * timing.h and host_memory.h: exact on the virtual clock, right on a real one, and every wrong order of calls. */
#include <math.h>

#include "capi/budget_rig.h"

enum { chain = 4, timed = 6 };

static void run_steps(model_t* model, const device_t* on, int count) {
  for (int s = 0; s < count; ++s) {
    OK(hoist_step_begin(model->manager, on->stream));
    for (uint32_t u = 0; u < model->units; ++u) run(model, u, on->stream);
    OK(hoist_step_end(model->manager, on->stream));
  }
  OK(hoist_stream_wait(on->stream));
}

static void reach_serving(model_t* model, const device_t* on) {
  hoist_budget_status_t status = HOIST_BUDGET_STATUS_INIT;
  for (int s = 0; s < 16 && status.phase != HOIST_PHASE_SERVING; ++s) {
    run_steps(model, on, 1);
    OK(hoist_manager_query(model->manager, &status));
  }
  CHECK(status.phase == HOIST_PHASE_SERVING);
  run_steps(model, on, 2);
}

static hoist_unit_timing_t timing_of(const model_t* model, uint32_t unit) {
  hoist_unit_timing_t timing = HOIST_UNIT_TIMING_INIT;
  OK(hoist_timing_query(model->manager, unit, &timing));
  return timing;
}

static int near(double want, double got) { return fabs(want - got) <= 1e-6; }

/* Each unit loads and stores a place of its own; how long that takes is modelled. */
static void test_exact(void) {
  device_t on = open_device("host:0?mode=virtual&h2d_gbps=1&d2h_gbps=1");
  hoist_budget_t* budget = create_budget(&on, 2);
  static model_t model;
  build(&model, &on, budget, chain);
  OK(hoist_manager_commit(model.manager));
  reach_serving(&model, &on);
  OK(hoist_timing_begin(model.manager, 0));
  run_steps(&model, &on, timed);
  OK(hoist_timing_update(model.manager));
  OK(hoist_manager_drain(model.manager));
  OK(hoist_timing_update(model.manager));
  hoist_budget_status_t status = HOIST_BUDGET_STATUS_INIT;
  OK(hoist_manager_query(model.manager, &status));
  uint64_t bytes = 0;
  double transfer = 0;
  for (uint32_t u = 0; u < chain; ++u) {
    const hoist_unit_timing_t timing = timing_of(&model, u);
    CHECK(timing.steps == timed);
    CHECK(near(10, timing.compute_min_us) && near(10, timing.compute_median_us) && near(10, timing.compute_max_us));
    CHECK(timing.wait_min_us <= timing.wait_median_us && timing.wait_median_us <= timing.wait_max_us);
    CHECK(timing.transfer_min_us <= timing.transfer_median_us && timing.transfer_median_us <= timing.transfer_max_us);
    bytes += timing.transfer_bytes;
    transfer += timing.transfer_median_us;
  }
  /* The last step's, which the drain's stores came on top of. */
  CHECK(bytes >= status.last_step_h2d_bytes + status.last_step_d2h_bytes && bytes > 0);
  CHECK(transfer >= (double)(status.last_step_h2d_bytes + status.last_step_d2h_bytes) / 1000 - 1e-6);
  CHECK(atomic_load(&wrong_bytes) == 0);

  OK(hoist_timing_begin(model.manager, 3)); /* forgets */
  CHECK(timing_of(&model, 0).steps == 0 && timing_of(&model, 0).compute_max_us == 0);
  run_steps(&model, &on, timed);
  OK(hoist_timing_update(model.manager));
  CHECK(timing_of(&model, 1).steps <= 3 && timing_of(&model, 1).steps > 0); /* the newest */
  OK(hoist_timing_end(model.manager));
  hoist_manager_destroy(model.manager);
  hoist_budget_destroy(budget);
  close_device(&on);
}

static void test_wrong_calls(void) {
  device_t on = open_device("host:0?mode=threaded");
  hoist_budget_t* budget = create_budget(&on, chain);
  static model_t model;
  hoist_unit_timing_t timing = HOIST_UNIT_TIMING_INIT;
  build(&model, &on, budget, chain);
  CHECK(hoist_timing_begin(model.manager, 0) == HOIST_ERROR_INVALID_STATE && says("before the commit"));
  OK(hoist_manager_commit(model.manager));
  CHECK(hoist_timing_update(model.manager) == HOIST_ERROR_INVALID_STATE && says("no times are collected"));
  CHECK(hoist_timing_query(model.manager, 0, &timing) == HOIST_ERROR_INVALID_STATE);
  CHECK(hoist_timing_end(model.manager) == HOIST_ERROR_INVALID_STATE);
  CHECK(hoist_timing_begin(model.manager, 2000000) == HOIST_ERROR_INVALID_ARGUMENT && says("2000000"));
  OK(hoist_timing_begin(model.manager, 8));
  CHECK(hoist_timing_query(model.manager, chain, &timing) == HOIST_ERROR_NOT_FOUND);
  timing.struct_size = 4;
  CHECK(hoist_timing_query(model.manager, 0, &timing) == HOIST_ERROR_INVALID_ARGUMENT && says("struct_size"));
  OK(hoist_step_begin(model.manager, on.stream));
  CHECK(hoist_timing_begin(model.manager, 8) == HOIST_ERROR_INVALID_STATE && says("within a step"));
  CHECK(hoist_timing_end(model.manager) == HOIST_ERROR_INVALID_STATE && says("within a step"));
  OK(hoist_step_end(model.manager, on.stream));
  /* A trace beside it, and one after the other. */
  OK(hoist_trace_begin(model.manager, 0));
  run_steps(&model, &on, 4);
  OK(hoist_trace_end(model.manager, NULL));
  run_steps(&model, &on, 2);
  OK(hoist_timing_update(model.manager));
  CHECK(timing_of(&model, 0).steps > 0 && timing_of(&model, 0).compute_median_us > 0);
  OK(hoist_timing_end(model.manager));
  hoist_manager_destroy(model.manager);
  hoist_budget_destroy(budget);
  close_device(&on);
}

/* Another manager of the budget goes: the times of the one that stays are those of its own units. */
static void test_a_manager_leaves(void) {
  device_t on = open_device("host:0?mode=virtual&h2d_gbps=1&d2h_gbps=1");
  hoist_budget_t* budget = create_budget(&on, 2);
  static model_t one, two;
  build(&one, &on, budget, 2);
  build(&two, &on, budget, 2);
  OK(hoist_manager_commit(one.manager));
  OK(hoist_manager_commit(two.manager));
  OK(hoist_timing_begin(two.manager, 0));
  for (int s = 0; s < 6; ++s) {
    OK(hoist_step_begin(one.manager, on.stream));
    run(&one, 0, on.stream);
    run(&two, 1, on.stream);
    OK(hoist_step_end(one.manager, on.stream));
  }
  hoist_manager_destroy(one.manager);
  run_steps(&two, &on, 5);
  OK(hoist_timing_update(two.manager));
  CHECK(timing_of(&two, 1).steps > 0 && near(10, timing_of(&two, 1).compute_median_us));
  hoist_manager_destroy(two.manager);
  hoist_budget_destroy(budget);
  close_device(&on);
}

static double number_after(const char* at, const char* key) {
  CHECK(at != NULL && (at = strstr(at, key)) != NULL);
  return atof(at + strlen(key));
}

/* What the manager's problem takes a copy of a place to the device for. */
static double place_us(hoist_manager_t* manager) {
  hoist_problem_t* problem = NULL;
  static char json[1 << 16];
  size_t bytes = sizeof json;
  OK(hoist_manager_get_problem(manager, &problem));
  OK(hoist_problem_export(problem, json, &bytes));
  hoist_problem_destroy(problem);
  const char* at = strstr(json, "\"h2d\": {");
  at = at == NULL ? strstr(json, "\"h2d\":{") : at;
  return number_after(at, "\"latency_us\":") + place / number_after(at, "\"bytes_per_us\":");
}

static void read_steps(hoist_manager_t* manager, const device_t* on, int count) {
  for (int s = 0; s < count; ++s) {
    OK(hoist_step_begin(manager, on->stream));
    for (hoist_unit_t u = 0; u < chain; ++u) {
      hoist_unit_view_t view = HOIST_UNIT_VIEW_INIT;
      OK(hoist_unit_begin(manager, u, on->stream, &view));
      OK(hoist_unit_end(manager, u, on->stream));
    }
    OK(hoist_step_end(manager, on->stream));
  }
  OK(hoist_stream_wait(on->stream));
}

/* Copies take longer in steps than they took at the commit: the plan that serves knows. Units read alone, since copies
 * beside one the other way are left out. */
static void test_links_under_load(void) {
  device_t on = open_device("host:0?mode=threaded&h2d_gbps=1&d2h_gbps=1");
  hoist_budget_options_t options = HOIST_BUDGET_OPTIONS_INIT;
  hoist_budget_t* budget = NULL;
  static unsigned char bytes[place];
  options.budget_bytes = 2 * place;
  OK(hoist_budget_create(on.device, &options, &budget));
  hoist_manager_t* manager = create_manager(&on, budget);
  for (uint32_t u = 0; u < chain; ++u) {
    char name[8];
    hoist_unit_t unit = 0;
    hoist_tensor_t tensor = 0;
    hoist_tensor_desc_t desc = HOIST_TENSOR_DESC_INIT;
    snprintf(name, sizeof name, "u%u", u);
    desc.name = name;
    desc.bytes = place;
    desc.host = bytes;
    desc.flags = HOIST_TENSOR_COPY;
    OK(hoist_manager_add_unit(manager, name, &unit));
    OK(hoist_manager_add_tensor(manager, unit, &desc, &tensor));
  }
  OK(hoist_manager_commit(manager));
  OK(hoist_device_set(on.device, "copy_delay_us", "10000")); /* at most; alone a place takes 4 µs */
  read_steps(manager, &on, 12);
  hoist_budget_status_t status = HOIST_BUDGET_STATUS_INIT;
  OK(hoist_manager_query(manager, &status));
  CHECK(status.phase == HOIST_PHASE_SERVING);
  CHECK(place_us(manager) > 1000);
  OK(hoist_device_set(on.device, "copy_delay_us", "0"));
  hoist_manager_destroy(manager);
  hoist_budget_destroy(budget);
  close_device(&on);
}

static void test_host_memory(void) {
  hoist_device_t* device = NULL;
  void* memory = &device;
  int pinned = 0;
  CHECK(hoist_host_memory_create(NULL, 8, &memory, &pinned) == HOIST_ERROR_INVALID_ARGUMENT && memory == &device);
  OK(hoist_device_open("host:0?memory=1MiB", &device));
  CHECK(hoist_host_memory_create(device, 8, NULL, &pinned) == HOIST_ERROR_INVALID_ARGUMENT);
  OK(hoist_host_memory_create(device, 0, &memory, NULL));
  CHECK(memory == NULL);
  OK(hoist_host_memory_create(device, 10000, &memory, &pinned));
  CHECK(pinned == 1);
  for (int i = 0; i < 10000; ++i) CHECK(((unsigned char*)memory)[i] == 0);
  void* kept = NULL;
  OK(hoist_host_memory_create(device, 4096, &kept, NULL)); /* goes with the device */
  OK(hoist_device_set(device, "fail", "host_register@1"));
  void* refused = NULL;
  CHECK(hoist_host_memory_create(device, 4096, &refused, NULL) != HOIST_OK && refused == NULL);
  hoist_host_memory_destroy(device, memory);
  hoist_host_memory_destroy(device, NULL);
  hoist_host_memory_destroy(NULL, NULL);
  hoist_device_close(device);
}

int main(void) {
  test_exact();
  test_wrong_calls();
  test_a_manager_leaves();
  test_links_under_load();
  test_host_memory();
  return 0;
}
