/* SPDX-License-Identifier: Apache-2.0
 * Checks of the tests in C: a failed one prints its text and the thread's error record, and ends the process. */
#ifndef HOIST_TESTS_SUPPORT_CHECK_H
#define HOIST_TESTS_SUPPORT_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hoist/status.h"

/* _Exit: a child of fork must not run its parent's exit handlers. */
#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      print_last_error();                                             \
      _Exit(1);                                                       \
    }                                                                 \
  } while (0)
#define OK(call) CHECK((call) == HOIST_OK)

static inline void print_last_error(void) {
  hoist_error_t error = HOIST_ERROR_INIT;
  if (hoist_last_error(&error) != HOIST_OK) return;
  fprintf(stderr, "last error: %s: %s (%s)\n", error.where, error.message, error.hint);
}

/* The record's message has `part`. */
static inline int says(const char* part) {
  hoist_error_t error = HOIST_ERROR_INIT;
  return hoist_last_error(&error) == HOIST_OK && strstr(error.message, part) != NULL;
}

/* The call failed as expected and its record has `where`, and `part` in message or hint. */
static inline int failed(hoist_status_t status, hoist_status_t want, const char* where, const char* part) {
  hoist_error_t error = HOIST_ERROR_INIT;
  if (status != want || hoist_last_error(&error) != HOIST_OK) return 0;
  return error.code == want && strcmp(error.where, where) == 0 &&
         (strstr(error.message, part) != NULL || strstr(error.hint, part) != NULL);
}

#endif /* HOIST_TESTS_SUPPORT_CHECK_H */
