/* SPDX-License-Identifier: Apache-2.0 */
/* A program of a released level: compiled against the headers of tests/compat/vX_Y, it runs on the present library.
 * It uses structs that may have grown since, defaults of that time, and a whole life of a manager. usage: [DEVICE] */
#include <stdio.h>
#include <string.h>

#include "hoist/device_ops.h"
#include "hoist/hoist.h"

enum { UNITS = 4, BYTES = 4096, STEPS = 6 };

#define EXPECT(condition)                                            \
  do {                                                               \
    if (!(condition)) return fprintf(stderr, "%s\n", #condition), 1; \
  } while (0)

typedef struct {
  const unsigned char* data;
  int value, *wrong;
} job_t;

static void compare(void* user_data) {
  const job_t* job = user_data;
  for (int i = 0; i < BYTES; ++i) *job->wrong += job->data[i] != job->value;
}

static int run_steps(hoist_manager_t* manager, hoist_stream_t* stream, int* wrong) {
  static job_t jobs[STEPS][UNITS];
  for (int step = 0; step < STEPS; ++step) {
    EXPECT(hoist_step_begin(manager, stream) == HOIST_OK);
    for (uint32_t unit = 0; unit < UNITS; ++unit) {
      hoist_unit_view_t view = HOIST_UNIT_VIEW_INIT;
      EXPECT(hoist_unit_begin(manager, unit, stream, &view) == HOIST_OK);
      EXPECT(view.count == 1 && view.stride >= sizeof(hoist_tensor_view_t) && view.tensors[0].bytes == BYTES);
      jobs[step][unit] = (job_t){view.tensors[0].data, (int)unit + 1, wrong};
      EXPECT(hoist_stream_submit_host(stream, compare, &jobs[step][unit], 10.0) == HOIST_OK);
      EXPECT(hoist_unit_end(manager, unit, stream) == HOIST_OK);
    }
    EXPECT(hoist_step_end(manager, stream) == HOIST_OK);
  }
  EXPECT(hoist_stream_wait(stream) == HOIST_OK);
  return 0;
}

static int add_units(hoist_manager_t* manager) {
  static unsigned char bytes[UNITS][BYTES];
  for (int i = 0; i < UNITS; ++i) {
    const char* names[UNITS][2] = {{"a", "a.w"}, {"b", "b.w"}, {"c", "c.w"}, {"d", "d.w"}};
    hoist_unit_t unit;
    hoist_tensor_t tensor;
    hoist_tensor_desc_t desc = HOIST_TENSOR_DESC_INIT;
    memset(bytes[i], i + 1, BYTES);
    desc.name = names[i][1];
    desc.bytes = BYTES;
    desc.host = bytes[i];
    desc.flags = HOIST_TENSOR_COPY;
    EXPECT(hoist_manager_add_unit(manager, names[i][0], &unit) == HOIST_OK);
    EXPECT(hoist_manager_add_tensor(manager, unit, &desc, &tensor) == HOIST_OK);
  }
  return 0;
}

int main(int argc, char** argv) {
  hoist_device_t* device = NULL;
  hoist_budget_t* budget = NULL;
  hoist_manager_t* manager = NULL;
  hoist_stream_t* stream = NULL;
  hoist_budget_options_t options = HOIST_BUDGET_OPTIONS_INIT;
  hoist_manager_options_t join = HOIST_MANAGER_OPTIONS_INIT;
  hoist_budget_status_t status = HOIST_BUDGET_STATUS_INIT;
  hoist_error_t error = HOIST_ERROR_INIT;
  int wrong = 0;

  EXPECT(hoist_version_abi() >= HOIST_ABI_VERSION);
  EXPECT(hoist_device_open("nothing:0", &device) == HOIST_ERROR_NOT_FOUND && device == NULL);
  EXPECT(hoist_last_error(&error) == HOIST_OK && error.code == HOIST_ERROR_NOT_FOUND);
  EXPECT(hoist_device_open(argc > 1 ? argv[1] : "host:0", &device) == HOIST_OK);
  EXPECT(hoist_stream_create(device, &stream) == HOIST_OK);
  options.budget_share = 0.5;
  EXPECT(hoist_budget_create(device, &options, &budget) == HOIST_OK);
  join.budget = budget;
  EXPECT(hoist_manager_create(device, &join, &manager) == HOIST_OK);
  EXPECT(add_units(manager) == 0);
  EXPECT(hoist_manager_commit(manager) == HOIST_OK);
  EXPECT(run_steps(manager, stream, &wrong) == 0);
  EXPECT(hoist_manager_query(manager, &status) == HOIST_OK);
  EXPECT(status.steps == STEPS && status.unit_count == UNITS && status.h2d_bytes > 0);
  EXPECT(wrong == 0);
  hoist_manager_destroy(manager);
  hoist_budget_destroy(budget);
  hoist_stream_destroy(stream);
  hoist_device_close(device);
  printf("headers of ABI level %d run on hoist %s\n", HOIST_ABI_VERSION, hoist_version_string());
  return 0;
}
