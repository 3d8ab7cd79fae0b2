/* SPDX-License-Identifier: Apache-2.0
 * Device bytes that lie outside of hoist and count against a budget: reserved, given back, from wherever. */
#include "budget_rig.h"

/* Two owners keep bytes outside of hoist: what they reserve adds up, and each gives back its own. */
static void test_reserved(const device_t* on) {
  static model_t model;
  hoist_budget_t* budget = create_budget(on, 6);
  OK(hoist_budget_reserve(budget, place)); /* before the commit it is noted */
  build(&model, on, budget, most_units);
  OK(hoist_manager_commit(model.manager));
  steps(&model, 5, on->stream);
  CHECK(status_of(budget).budget_bytes == 5 * place && status_of(budget).reserved_bytes == place);
  CHECK(status_of(budget).arena_bytes <= 5 * place);
  OK(hoist_budget_reserve(budget, 2 * place));
  CHECK(status_of(budget).budget_bytes == 5 * place); /* until the next step's begin */
  steps(&model, 1, on->stream);
  CHECK(status_of(budget).budget_bytes == 3 * place && status_of(budget).arena_bytes <= 3 * place);
  /* Too much is refused whole, and the budget that would do counts what is reserved. */
  CHECK(hoist_budget_reserve(budget, 3 * place) == HOIST_ERROR_INFEASIBLE);
  char words[160];
  snprintf(words, sizeof words, "a budget of %llu bytes, %llu of them reserved,", 6ULL * place, 6ULL * place);
  CHECK(says(words));
  snprintf(words, sizeof words, "the smallest budget that would do is %llu bytes", 7ULL * place);
  CHECK(says(words));
  CHECK(hoist_budget_reserve(budget, UINT64_MAX) == HOIST_ERROR_INVALID_ARGUMENT);
  CHECK(status_of(budget).reserved_bytes == 3 * place);
  OK(hoist_budget_set(budget, 8 * place, 0)); /* the whole of it; what is reserved is in it */
  steps(&model, 1, on->stream);
  CHECK(status_of(budget).budget_bytes == 5 * place);
  OK(hoist_budget_set(budget, 0, 0.5)); /* a share is of the tensors */
  steps(&model, 1, on->stream);
  const uint64_t half = status_of(budget).budget_bytes;
  OK(hoist_budget_reserve(budget, place));
  steps(&model, 1, on->stream);
  CHECK(status_of(budget).budget_bytes == half && status_of(budget).reserved_bytes == 4 * place);
  OK(hoist_budget_release(budget, place));
  OK(hoist_budget_set(budget, 6 * place, 0));
  steps(&model, 1, on->stream);
  CHECK(status_of(budget).budget_bytes == 3 * place);
  CHECK(hoist_budget_release(budget, 3 * place + 1) == HOIST_ERROR_INVALID_ARGUMENT);
  OK(hoist_budget_release(budget, 2 * place));
  steps(&model, 1, on->stream);
  CHECK(status_of(budget).budget_bytes == 5 * place && status_of(budget).reserved_bytes == place);
  /* Within a step nothing can be reserved, but given back: the next plan uses it. */
  OK(hoist_step_begin(model.manager, on->stream));
  CHECK(hoist_budget_reserve(budget, place) == HOIST_ERROR_INVALID_STATE);
  OK(hoist_budget_release(budget, place));
  OK(hoist_step_abort(model.manager, on->stream));
  CHECK(status_of(budget).budget_bytes == 5 * place && status_of(budget).reserved_bytes == 0);
  OK(hoist_budget_set(budget, 6 * place, 0));
  steps(&model, 1, on->stream);
  CHECK(status_of(budget).budget_bytes == 6 * place);
  finish(&model, budget);
}

static uint64_t given_back;

/* Whoever hears of hoist's log may be called from within the budget. */
static void give_back(void* user_data, hoist_log_level_t level, const char* message) {
  (void)level;
  (void)message;
  if (given_back == 8) return;
  ++given_back;
  OK(hoist_budget_release(user_data, 1));
}

/* What is given back while the budget is in use is never lost. */
static void test_released_from_within(const device_t* on) {
  static model_t model;
  hoist_budget_t* budget = create_budget(on, 6);
  OK(hoist_budget_reserve(budget, place));
  build(&model, on, budget, most_units);
  OK(hoist_log_set(HOIST_LOG_INFO, give_back, budget));
  OK(hoist_manager_commit(model.manager));
  steps(&model, 5, on->stream);
  OK(hoist_log_set(HOIST_LOG_WARNING, NULL, NULL));
  CHECK(given_back > 0 && status_of(budget).reserved_bytes == place - given_back);
  finish(&model, budget);
}

int main(void) {
  alarm(60); /* a deadlock is a failure, not a wait */
  device_t on = open_device("host:0?mode=threaded&memory=64MiB");
  test_reserved(&on);
  test_released_from_within(&on);
  close_device(&on);
  return 0;
}
