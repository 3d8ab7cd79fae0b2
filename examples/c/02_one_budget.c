/* SPDX-License-Identifier: Apache-2.0 */
/* One budget for all that moves: each of six layers has a weight (read), an optimizer's state (read and written, so
 * dirty and stored before its place goes to another) and an activation (a transient: written by its layer, read by the
 * next, gone after that). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "hoist/hoist.h"

enum { LAYERS = 6, COUNT = 16 * 1024, BYTES = COUNT * sizeof(float), STEPS = 12 };

static void check(hoist_status_t status) {
  hoist_error_t error = HOIST_ERROR_INIT;
  if (status == HOIST_OK) return;
  if (hoist_last_error(&error) == HOIST_OK) fprintf(stderr, "%s: %s (%s)\n", error.where, error.message, error.hint);
  exit(1);
}

/* activation = input + weight, state += 1 */
typedef struct {
  const float *weight, *input; /* no input: the first layer */
  float *state, *activation;
  double* output; /* the last layer's: the activation's sum */
} job_t;

static void compute(void* user_data) {
  const job_t* job = user_data;
  double sum = 0;
  for (int i = 0; i < COUNT; ++i) {
    job->activation[i] = job->weight[i] + (job->input != NULL ? job->input[i] : 0.0F);
    job->state[i] += 1.0F;
    sum += job->activation[i];
  }
  *job->output = sum;
}

/* [tensors] */
static hoist_tensor_t add(hoist_manager_t* manager, hoist_unit_t unit, const char* kind, void* host, uint32_t flags,
                          hoist_use_mode_t mode, hoist_tensor_class_t tensor_class) {
  char name[48];
  hoist_tensor_t tensor;
  hoist_tensor_desc_t desc = HOIST_TENSOR_DESC_INIT;
  snprintf(name, sizeof name, "layers.%u.%s", unit, kind);
  desc.name = name;
  desc.bytes = BYTES;
  desc.host = host;
  desc.flags = flags;
  desc.mode = mode;
  desc.tensor_class = tensor_class;
  check(hoist_manager_add_tensor(manager, unit, &desc, &tensor));
  return tensor;
}

static void add_layer(hoist_manager_t* manager, float* weight, hoist_tensor_t* state, hoist_tensor_t* activation) {
  char name[32];
  hoist_unit_t unit;
  static uint32_t layer;
  snprintf(name, sizeof name, "layers.%u", layer++);
  check(hoist_manager_add_unit(manager, name, &unit));
  add(manager, unit, "weight", weight, HOIST_TENSOR_ADOPT, HOIST_USE_READ, HOIST_CLASS_WEIGHT);
  *state = add(manager, unit, "state", NULL, HOIST_TENSOR_ZERO, HOIST_USE_READ_WRITE, HOIST_CLASS_STATE);
  if (unit > 0) check(hoist_manager_add_use(manager, unit, *activation, HOIST_USE_READ)); /* the layer's before */
  *activation = add(manager, unit, "activation", NULL, HOIST_TENSOR_TRANSIENT, HOIST_USE_WRITE, HOIST_CLASS_ACTIVATION);
}
/* [end] */

/* A view's tensors come in the order in which the unit's uses were added. */
static job_t job_of(const hoist_unit_view_t* view, uint32_t layer, double* output) {
  void* data[4] = {NULL};
  for (size_t i = 0; i < view->count; ++i) {
    data[i] = ((const hoist_tensor_view_t*)((const char*)view->tensors + i * view->stride))->data;
  }
  return (job_t){data[0], layer > 0 ? data[2] : NULL, data[1], layer > 0 ? data[3] : data[2], output};
}

int main(void) {
  static float weights[LAYERS][COUNT];
  static job_t jobs[STEPS][LAYERS];
  static float bytes[COUNT];
  double output = 0;
  for (int layer = 0; layer < LAYERS; ++layer) {
    for (int i = 0; i < COUNT; ++i) weights[layer][i] = (float)(layer + 1);
  }

  hoist_device_t* device = NULL;
  hoist_budget_t* budget = NULL;
  hoist_manager_t* manager = NULL;
  hoist_stream_t* stream = NULL;
  check(hoist_device_open("host:0", &device));
  check(hoist_stream_create(device, &stream));
  /* [budget] */
  hoist_budget_options_t options = HOIST_BUDGET_OPTIONS_INIT;
  check(hoist_budget_options_set(&options, "budget", "40%"));
  check(hoist_budget_create(device, &options, &budget));
  hoist_manager_options_t join = HOIST_MANAGER_OPTIONS_INIT;
  join.budget = budget;
  check(hoist_manager_create(device, &join, &manager));
  /* [end] */
  hoist_tensor_t states[LAYERS];
  hoist_tensor_t activation = 0;
  for (int layer = 0; layer < LAYERS; ++layer) add_layer(manager, weights[layer], &states[layer], &activation);
  check(hoist_manager_commit(manager));

  for (int step = 0; step < STEPS; ++step) {
    check(hoist_step_begin(manager, stream));
    for (uint32_t layer = 0; layer < LAYERS; ++layer) {
      hoist_unit_view_t view = HOIST_UNIT_VIEW_INIT;
      check(hoist_unit_begin(manager, layer, stream, &view));
      jobs[step][layer] = job_of(&view, layer, &output);
      check(hoist_stream_submit_host(stream, compute, &jobs[step][layer], 100.0));
      check(hoist_unit_end(manager, layer, stream));
    }
    check(hoist_step_end(manager, stream));
  }
  check(hoist_manager_drain(manager));

  /* [read] */
  int states_right = 1;
  for (int layer = 0; layer < LAYERS; ++layer) {
    check(hoist_tensor_read(manager, states[layer], bytes, sizeof bytes)); /* wherever the newest bytes are */
    for (int i = 0; i < COUNT; ++i) states_right &= bytes[i] == (float)STEPS;
  }
  /* [end] */
  hoist_budget_status_t status = HOIST_BUDGET_STATUS_INIT;
  check(hoist_budget_query(budget, &status));
  const int output_right = output == (double)COUNT * LAYERS * (LAYERS + 1) / 2;
  printf("tensors %" PRIu64 ", %" PRIu64 " bytes under a budget of %" PRIu64 "\n", status.tensor_count,
         status.tensor_bytes, status.budget_bytes);
  printf("loaded: %s, stored: %s\n", status.h2d_bytes > 0 ? "some" : "none", status.d2h_bytes > 0 ? "some" : "none");
  printf("output: %s, states: %s\n", output_right ? "right" : "WRONG", states_right ? "right" : "WRONG");

  hoist_manager_destroy(manager);
  hoist_budget_destroy(budget);
  hoist_stream_destroy(stream);
  hoist_device_close(device);
  return output_right && states_right ? 0 : 1;
}
