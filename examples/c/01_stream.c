/* SPDX-License-Identifier: Apache-2.0 */
/* The main loop: weights of eight layers stream through a budget of half their bytes, step after step. Compute is a
 * host function here, since the device is the built-in host device; on another device it is that device's work. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "hoist/hoist.h"

enum { LAYERS = 8, WEIGHTS = 64 * 1024, STEPS = 10 };

static void check(hoist_status_t status) {
  hoist_error_t error = HOIST_ERROR_INIT;
  if (status == HOIST_OK) return;
  if (hoist_last_error(&error) == HOIST_OK) fprintf(stderr, "%s: %s (%s)\n", error.where, error.message, error.hint);
  exit(1);
}

/* A layer's compute: the sum of its weights goes onto the step's output. */
typedef struct {
  const float* weights;
  double* output;
} job_t;

static void compute(void* user_data) {
  const job_t* job = user_data;
  for (int i = 0; i < WEIGHTS; ++i) *job->output += job->weights[i];
}

int main(void) {
  static float weights[LAYERS][WEIGHTS];
  static job_t jobs[STEPS][LAYERS]; /* a job lives until it has run */
  static double outputs[STEPS];
  double resident = 0;
  for (int layer = 0; layer < LAYERS; ++layer) {
    for (int i = 0; i < WEIGHTS; ++i) resident += weights[layer][i] = (float)(layer + 1);
  }

  /* [create] */
  hoist_device_t* device = NULL;
  hoist_budget_t* budget = NULL;
  hoist_manager_t* manager = NULL;
  hoist_budget_options_t options = HOIST_BUDGET_OPTIONS_INIT;
  options.budget_share = 0.5; /* half of the weights' bytes on the device at once */
  check(hoist_device_open("host:0", &device));
  check(hoist_budget_create(device, &options, &budget));
  hoist_manager_options_t join = HOIST_MANAGER_OPTIONS_INIT;
  join.budget = budget;
  check(hoist_manager_create(device, &join, &manager));

  hoist_unit_t units[LAYERS];
  for (int layer = 0; layer < LAYERS; ++layer) {
    char name[32];
    hoist_tensor_t tensor;
    hoist_tensor_desc_t weight = HOIST_TENSOR_DESC_INIT;
    snprintf(name, sizeof name, "layers.%d", layer);
    check(hoist_manager_add_unit(manager, name, &units[layer]));
    weight.name = name;
    weight.bytes = sizeof weights[layer];
    weight.host = weights[layer];
    weight.flags = HOIST_TENSOR_COPY; /* packed into pinned memory at commit */
    check(hoist_manager_add_tensor(manager, units[layer], &weight, &tensor));
  }
  check(hoist_manager_commit(manager));
  /* [end] */

  hoist_stream_t* stream = NULL;
  check(hoist_stream_create(device, &stream));
  /* [loop] */
  for (int step = 0; step < STEPS; ++step) {
    check(hoist_step_begin(manager, stream));
    for (int layer = 0; layer < LAYERS; ++layer) {
      hoist_unit_view_t view = HOIST_UNIT_VIEW_INIT;
      /* The stream waits on the device until the layer's bytes are there; this thread goes on. */
      check(hoist_unit_begin(manager, units[layer], stream, &view));
      jobs[step][layer] = (job_t){view.tensors[0].data, &outputs[step]};
      check(hoist_stream_submit_host(stream, compute, &jobs[step][layer], 100.0));
      /* Once the stream gets here, the layer's places may be refilled. */
      check(hoist_unit_end(manager, units[layer], stream));
    }
    check(hoist_step_end(manager, stream));
  }
  check(hoist_stream_wait(stream));
  /* [end] */

  int exact = 1;
  for (int step = 0; step < STEPS; ++step) exact &= outputs[step] == resident;
  hoist_budget_status_t status = HOIST_BUDGET_STATUS_INIT;
  check(hoist_manager_query(manager, &status));
  printf("weights %" PRIu64 " bytes, budget %" PRIu64 " bytes, peak within it: %s\n", status.tensor_bytes,
         status.budget_bytes, status.peak_bytes <= status.budget_bytes ? "yes" : "no");
  printf("steps %" PRIu64 ", bytes moved in the last one: %s\n", status.steps,
         status.last_step_h2d_bytes > 0 ? "some" : "none");
  printf("parity: %s\n", exact ? "exact" : "LOST");

  hoist_stream_destroy(stream);
  hoist_manager_destroy(manager);
  hoist_budget_destroy(budget);
  hoist_device_close(device);
  return exact ? 0 : 1;
}
