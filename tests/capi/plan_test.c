/* SPDX-License-Identifier: Apache-2.0
 * plan.h from C: contracts of buffers, structs and handles; what plans are worth is tests/plan's business. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hoist/hoist.h"
#include "support/check.h"

#define HEAD                                                                                        \
  "{\"version\":1,\"device\":{\"budget_bytes\":%d,\"alignment\":1},\"links\":{"                     \
  "\"h2d\":{\"latency_us\":1,\"bytes_per_us\":10},\"d2h\":{\"latency_us\":1,\"bytes_per_us\":10},"  \
  "\"peer\":{\"latency_us\":1,\"bytes_per_us\":10}},\"duplex_factor\":1,\"cyclic\":true,\"units\":" \
  "[{\"name\":\"a\",\"compute_us\":50,\"workspace_bytes\":0},"                                      \
  "{\"name\":\"b\",\"compute_us\":50,\"workspace_bytes\":0},"                                       \
  "{\"name\":\"c\",\"compute_us\":50,\"workspace_bytes\":0}],\"items\":["
#define ITEM(name, unit)                                                        \
  "{\"name\":\"" name                                                           \
  "\",\"bytes\":100,\"class\":\"weight\",\"link\":\"h2d\",\"transient\":false," \
  "\"uses\":[{\"unit\":" unit ",\"mode\":\"r\"}]}"

static hoist_problem_t* problem_of(const char* format, int budget) {
  char json[4096];
  const int bytes = snprintf(json, sizeof json, format, budget);
  hoist_problem_t* problem = NULL;
  CHECK(hoist_problem_import(json, (size_t)bytes, &problem) == HOIST_OK);
  return problem;
}

static hoist_problem_t* three_items(int budget) {
  return problem_of(HEAD ITEM("x", "0") "," ITEM("y", "1") "," ITEM("z", "2") "]}", budget);
}

static hoist_plan_t* solved(const hoist_problem_t* problem) {
  hoist_plan_t* plan = NULL;
  CHECK(hoist_plan_solve(problem, NULL, &plan) == HOIST_OK);
  return plan;
}

static char* exported(const hoist_plan_t* plan, size_t* bytes) {
  CHECK(hoist_plan_export(plan, NULL, bytes) == HOIST_OK);
  char* json = malloc(*bytes);
  CHECK(json != NULL && hoist_plan_export(plan, json, bytes) == HOIST_OK);
  return json;
}

static void buffers_say_what_would_do(void) {
  hoist_problem_t* problem = three_items(200);
  size_t need = 0;
  CHECK(hoist_problem_export(problem, NULL, &need) == HOIST_OK && need > 100);
  char* json = malloc(need + 1);
  CHECK(json != NULL);
  memset(json, '#', need + 1);
  size_t room = need - 1;
  char number[32];
  snprintf(number, sizeof number, "%zu", need);
  CHECK(
      failed(hoist_problem_export(problem, json, &room), HOIST_ERROR_INVALID_ARGUMENT, "hoist_problem_export", number));
  CHECK(room == need - 1 && json[0] == '#');
  room = need + 1;
  CHECK(hoist_problem_export(problem, json, &room) == HOIST_OK && room == need && json[need] == '#');
  hoist_problem_t* again = NULL;
  CHECK(hoist_problem_import(json, need, &again) == HOIST_OK);
  char* twice = malloc(need);
  CHECK(twice != NULL && hoist_problem_export(again, twice, &room) == HOIST_OK);
  CHECK(room == need && memcmp(json, twice, need) == 0);
  CHECK(failed(hoist_problem_export(problem, json, NULL), HOIST_ERROR_INVALID_ARGUMENT, "hoist_problem_export",
               "inout_bytes"));
  free(twice);
  free(json);
  hoist_problem_destroy(again);
  hoist_problem_destroy(problem);
}

static void bad_json_is_refused(void) {
  hoist_problem_t* problem = NULL;
  const char* where = "hoist_problem_import";
  CHECK(failed(hoist_problem_import("{\"version\":1", 12, &problem), HOIST_ERROR_CORRUPT, where, ""));
  CHECK(failed(hoist_problem_import("", 0, &problem), HOIST_ERROR_CORRUPT, where, ""));
  CHECK(failed(hoist_problem_import(NULL, 0, &problem), HOIST_ERROR_INVALID_ARGUMENT, where, "json"));
  CHECK(failed(hoist_problem_import("{}", 2, NULL), HOIST_ERROR_INVALID_ARGUMENT, where, "out_problem"));
  char json[4096];
  const int bytes = snprintf(json, sizeof json, HEAD ITEM("x", "0") "," ITEM("x", "1") "]}", 200);
  CHECK(hoist_problem_import(json, (size_t)bytes, &problem) == HOIST_ERROR_INVALID_ARGUMENT);
  CHECK(problem == NULL);
}

static void plans_are_solved_checked_and_simulated(void) {
  hoist_problem_t* problem = three_items(200);
  hoist_plan_t* plan = solved(problem);
  CHECK(hoist_plan_check(problem, plan) == HOIST_OK);
  hoist_plan_result_t simulated = HOIST_PLAN_RESULT_INIT, bound = HOIST_PLAN_RESULT_INIT;
  CHECK(hoist_plan_simulate(problem, plan, NULL, &simulated) == HOIST_OK);
  CHECK(hoist_plan_bound(problem, &bound) == HOIST_OK);
  CHECK(bound.step_us >= 150 && simulated.step_us >= bound.step_us && simulated.bound_us == bound.step_us);
  CHECK(simulated.peak_bytes <= 200 && simulated.h2d_bytes >= bound.h2d_bytes && bound.h2d_bytes >= 100);
  CHECK(simulated.d2h_bytes == 0 && simulated.peer_bytes == 0);
  hoist_plan_destroy(plan);
  hoist_problem_destroy(problem);
}

static void structs_of_other_sizes_are_served(void) {
  hoist_problem_t* problem = three_items(200);
  struct {
    hoist_plan_result_t known;
    uint64_t newer;
  } big = {HOIST_PLAN_RESULT_INIT, 7};
  big.known.struct_size = sizeof big;
  CHECK(hoist_plan_bound(problem, &big.known) == HOIST_OK && big.newer == 0 && big.known.struct_size == sizeof big);
  hoist_plan_result_t small = HOIST_PLAN_RESULT_INIT;
  small.struct_size = 2 * sizeof(size_t);
  small.bound_us = -1;
  CHECK(hoist_plan_bound(problem, &small) == HOIST_OK && small.step_us > 0 && small.bound_us == -1);
  small.struct_size = 0;
  CHECK(failed(hoist_plan_bound(problem, &small), HOIST_ERROR_INVALID_ARGUMENT, "hoist_plan_bound", "struct_size"));
  hoist_problem_destroy(problem);
}

static void options_are_checked(void) {
  hoist_problem_t* problem = three_items(200);
  hoist_plan_t* plan = NULL;
  struct {
    hoist_plan_options_t known;
    uint64_t newer;
  } options = {HOIST_PLAN_OPTIONS_INIT, 1};
  options.known.struct_size = sizeof options;
  const char* where = "hoist_plan_solve";
  CHECK(failed(hoist_plan_solve(problem, &options.known, &plan), HOIST_ERROR_INVALID_ARGUMENT, where, "newer"));
  options.newer = 0;
  options.known.reserved = 1;
  CHECK(failed(hoist_plan_solve(problem, &options.known, &plan), HOIST_ERROR_INVALID_ARGUMENT, where, "reserved"));
  options.known.reserved = 0;
  options.known.time_limit_seconds = -1;
  CHECK(failed(hoist_plan_solve(problem, &options.known, &plan), HOIST_ERROR_INVALID_ARGUMENT, where, "time_limit"));
  CHECK(plan == NULL);
  options.known.time_limit_seconds = 60;
  CHECK(hoist_plan_solve(problem, &options.known, &plan) == HOIST_OK);
  hoist_plan_destroy(plan);
  hoist_problem_destroy(problem);
}

static void too_small_a_budget_names_one_that_would_do(void) {
  hoist_problem_t* problem = three_items(99);
  hoist_plan_t* plan = NULL;
  CHECK(failed(hoist_plan_solve(problem, NULL, &plan), HOIST_ERROR_INFEASIBLE, "hoist_plan_solve", "100"));
  CHECK(plan == NULL);
  hoist_problem_destroy(problem);
}

static void a_plan_fits_the_same_problem_in_another_order(void) {
  hoist_problem_t* problem = three_items(200);
  hoist_problem_t* turned = problem_of(HEAD ITEM("z", "2") "," ITEM("x", "0") "," ITEM("y", "1") "]}", 200);
  hoist_problem_t* other = problem_of(HEAD ITEM("x", "0") "," ITEM("y", "1") "]}", 200);
  hoist_plan_t* plan = solved(problem);
  hoist_plan_result_t one = HOIST_PLAN_RESULT_INIT, two = HOIST_PLAN_RESULT_INIT;
  CHECK(hoist_plan_check(turned, plan) == HOIST_OK);
  CHECK(hoist_plan_simulate(problem, plan, NULL, &one) == HOIST_OK);
  CHECK(hoist_plan_simulate(turned, plan, NULL, &two) == HOIST_OK);
  CHECK(one.step_us == two.step_us && one.h2d_bytes == two.h2d_bytes);
  CHECK(failed(hoist_plan_check(other, plan), HOIST_ERROR_INVALID_PLAN, "hoist_plan_check", "z"));
  hoist_plan_destroy(plan);
  hoist_problem_destroy(other);
  hoist_problem_destroy(turned);
  hoist_problem_destroy(problem);
}

static void a_plan_outlives_its_problem(void) {
  hoist_problem_t* problem = three_items(200);
  hoist_plan_t* plan = solved(problem);
  hoist_problem_destroy(problem);
  size_t bytes = 0;
  char* json = exported(plan, &bytes);
  hoist_plan_destroy(plan);
  problem = three_items(200);
  hoist_plan_t* read = NULL;
  CHECK(hoist_plan_import(problem, json, bytes, &read) == HOIST_OK && hoist_plan_check(problem, read) == HOIST_OK);
  hoist_plan_destroy(read);
  json[bytes / 2] = '\0';
  read = NULL;
  CHECK(failed(hoist_plan_import(problem, json, bytes, &read), HOIST_ERROR_CORRUPT, "hoist_plan_import", ""));
  CHECK(read == NULL);
  free(json);
  hoist_problem_destroy(problem);
}

static void explanations_have_a_line_for_each_item(void) {
  hoist_problem_t* problem = three_items(200);
  hoist_plan_t* plan = solved(problem);
  char lines[4096] = {0};
  size_t bytes = sizeof lines - 1;
  CHECK(hoist_plan_explain(problem, plan, lines, &bytes) == HOIST_OK);
  int count = 0;
  for (size_t i = 0; i < bytes; ++i) count += lines[i] == '\n';
  CHECK(count + (lines[bytes - 1] != '\n') == 3);
  CHECK(strstr(lines, "x") && strstr(lines, "y") && strstr(lines, "z"));
  hoist_plan_destroy(plan);
  hoist_problem_destroy(problem);
}

static void traces_are_written_or_refused(void) {
  hoist_problem_t* problem = three_items(200);
  hoist_plan_t* plan = solved(problem);
  hoist_plan_result_t result = HOIST_PLAN_RESULT_INIT;
  char path[] = "/tmp/hoist_plan_XXXXXX", text[65536] = {0};
  const int made = mkstemp(path);
  CHECK(made >= 0);
  CHECK(hoist_plan_simulate(problem, plan, path, &result) == HOIST_OK);
  FILE* file = fopen(path, "r");
  CHECK(file != NULL && fread(text, 1, sizeof text - 1, file) > 0);
  CHECK(strstr(text, "traceEvents") && strstr(text, "\"compute\"") && strstr(text, "\"bytes\":100"));
  fclose(file);
  close(made);
  unlink(path);
  const double before = result.step_us = -1;
  CHECK(failed(hoist_plan_simulate(problem, plan, "/nowhere/at/all", &result), HOIST_ERROR_IO, "hoist_plan_simulate",
               "/nowhere"));
  CHECK(result.step_us == before);
  hoist_plan_destroy(plan);
  hoist_problem_destroy(problem);
}

static void wrong_handles_are_told(void) {
  hoist_problem_t* problem = three_items(200);
  hoist_plan_t* plan = NULL;
  const char* where = "hoist_plan_check";
  CHECK(failed(hoist_plan_check(NULL, plan), HOIST_ERROR_INVALID_ARGUMENT, where, "problem"));
  CHECK(failed(hoist_plan_check(problem, NULL), HOIST_ERROR_INVALID_ARGUMENT, where, "plan"));
  CHECK(failed(hoist_plan_check(problem, (hoist_plan_t*)problem), HOIST_ERROR_INVALID_ARGUMENT, where, "hoist_plan_t"));
  plan = solved(problem);
  hoist_plan_destroy(plan);
  CHECK(failed(hoist_plan_check(problem, plan), HOIST_ERROR_INVALID_STATE, where, "destroyed")); /* in trust mode */
  hoist_plan_destroy(NULL);
  hoist_problem_destroy(NULL);
  hoist_problem_destroy(problem);
}

int main(void) {
  buffers_say_what_would_do();
  bad_json_is_refused();
  plans_are_solved_checked_and_simulated();
  structs_of_other_sizes_are_served();
  options_are_checked();
  too_small_a_budget_names_one_that_would_do();
  a_plan_fits_the_same_problem_in_another_order();
  a_plan_outlives_its_problem();
  explanations_have_a_line_for_each_item();
  traces_are_written_or_refused();
  wrong_handles_are_told();
  return 0;
}
