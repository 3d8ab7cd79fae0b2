/* SPDX-License-Identifier: Apache-2.0
 * The library where a process ends, and where it is loaded twice: exit handlers that ran last of all may still stream
 * and fail, handles may stay open at the end, two copies in one process know nothing of each other, and dlclose is
 * harmless. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hoist/hoist.h"
#include "support/check.h"

enum { UNITS = 3, BYTES = 8192 };

/* Of one copy of the library. */
#define CALLS(X)               \
  X(hoist_device_open);        \
  X(hoist_device_close);       \
  X(hoist_stream_create);      \
  X(hoist_stream_destroy);     \
  X(hoist_stream_wait);        \
  X(hoist_budget_create);      \
  X(hoist_budget_destroy);     \
  X(hoist_budget_options_set); \
  X(hoist_manager_create);     \
  X(hoist_manager_destroy);    \
  X(hoist_manager_add_unit);   \
  X(hoist_manager_add_tensor); \
  X(hoist_manager_commit);     \
  X(hoist_step_begin);         \
  X(hoist_step_end);           \
  X(hoist_unit_begin);         \
  X(hoist_unit_end);           \
  X(hoist_last_error)

typedef struct {
#define POINTER(name) __typeof__ (&(name))(name)
  CALLS(POINTER);
  void* library;
  hoist_device_t* device;
  hoist_stream_t* stream;
  hoist_budget_t* budget;
  hoist_manager_t* manager;
  hoist_unit_t units[UNITS];
} copy_t;

static const char* mode = "host:0?mode=threaded";

static void must(const copy_t* copy, hoist_status_t status, const char* what) {
  hoist_error_t error = HOIST_ERROR_INIT;
  if (status == HOIST_OK) return;
  fprintf(stderr, "%s: %s\n", what, copy->hoist_last_error(&error) == HOIST_OK ? error.message : "");
  _Exit(1);
}
#define MUST(copy, name, ...) must(copy, (copy)->name(__VA_ARGS__), #name)

static void use(copy_t* copy) {
  static char weights[BYTES];
  hoist_budget_options_t half = HOIST_BUDGET_OPTIONS_INIT;
  hoist_manager_options_t options = HOIST_MANAGER_OPTIONS_INIT;
  MUST(copy, hoist_device_open, mode, &copy->device);
  MUST(copy, hoist_stream_create, copy->device, &copy->stream);
  MUST(copy, hoist_budget_options_set, &half, "budget", "70%");
  MUST(copy, hoist_budget_create, copy->device, &half, &copy->budget);
  options.budget = copy->budget;
  MUST(copy, hoist_manager_create, copy->device, &options, &copy->manager);
  for (int u = 0; u < UNITS; ++u) {
    char name[16];
    hoist_tensor_t tensor = 0;
    hoist_tensor_desc_t desc = HOIST_TENSOR_DESC_INIT;
    snprintf(name, sizeof name, "unit %d", u);
    MUST(copy, hoist_manager_add_unit, copy->manager, name, &copy->units[u]);
    desc.name = name;
    desc.bytes = BYTES;
    desc.host = weights;
    desc.flags = HOIST_TENSOR_COPY;
    MUST(copy, hoist_manager_add_tensor, copy->manager, copy->units[u], &desc, &tensor);
  }
  MUST(copy, hoist_manager_commit, copy->manager);
}

static void step(copy_t* copy) {
  MUST(copy, hoist_step_begin, copy->manager, copy->stream);
  for (int u = 0; u < UNITS; ++u) {
    hoist_unit_view_t view = HOIST_UNIT_VIEW_INIT;
    MUST(copy, hoist_unit_begin, copy->manager, copy->units[u], copy->stream, &view);
    MUST(copy, hoist_unit_end, copy->manager, copy->units[u], copy->stream);
  }
  MUST(copy, hoist_step_end, copy->manager, copy->stream);
}

static void steps(copy_t* copy, int count) {
  for (int i = 0; i < count; ++i) step(copy);
  MUST(copy, hoist_stream_wait, copy->stream);
}

static void end(copy_t* copy) {
  copy->hoist_manager_destroy(copy->manager);
  copy->hoist_budget_destroy(copy->budget);
  copy->hoist_stream_destroy(copy->stream);
  copy->hoist_device_close(copy->device);
}

static copy_t linked(void) {
  copy_t copy;
  memset(&copy, 0, sizeof copy);
#define OWN(name) copy.name = name
  CALLS(OWN);
  return copy;
}

/* The last of all exit handlers, since it was registered first: the thread's own objects have gone by then. */
static void last_of_all(void) {
  hoist_device_t* device = NULL;
  copy_t copy = linked();
  for (int i = 0; i < 3; ++i) {
    CHECK(hoist_device_open("a kind that is not there:0", &device) == HOIST_ERROR_NOT_FOUND);
    CHECK(says("a kind that is not there"));
  }
  CHECK(hoist_device_open("host:0?mod=virtual", &device) == HOIST_ERROR_INVALID_ARGUMENT && says("'mod'"));
  use(&copy);
  steps(&copy, 12);
  end(&copy);
  _Exit(0);
}

static void streams_at_exit(void) {
  hoist_device_t* device = NULL;
  copy_t copy = linked();
  CHECK(atexit(last_of_all) == 0);
  CHECK(hoist_device_open("another kind that is not there:0", &device) == HOIST_ERROR_NOT_FOUND);
  CHECK(hoist_device_open("host:0?mod=virtual", &device) == HOIST_ERROR_INVALID_ARGUMENT);
  use(&copy);
  steps(&copy, 12);
  end(&copy);
  exit(1); /* the handler says otherwise */
}

static void leaves_all_open(void) {
  copy_t copy = linked();
  use(&copy);
  steps(&copy, 3);
  step(&copy);
  exit(0);
}

static void in_child(void (*body)(void), const char* name) {
  int status = 0;
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(60);
    body();
    _Exit(1);
  }
  CHECK(waitpid(child, &status, 0) == child);
  if (status != 0) fprintf(stderr, "%s: status %d, %s\n", name, status, mode);
  CHECK(status == 0);
}

/* A sanitizer calls two copies of one global an error. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

static void make_copy(const char* path) {
  Dl_info info;
  char block[4096];
  size_t got = 0;
  CHECK(dladdr((void*)(size_t)&hoist_device_open, &info) != 0);
  FILE* from = fopen(info.dli_fname, "rb");
  FILE* to = fopen(path, "wb");
  CHECK(from != NULL && to != NULL);
  while ((got = fread(block, 1, sizeof block, from)) != 0) CHECK(fwrite(block, 1, got, to) == got);
  CHECK(fclose(from) == 0 && fclose(to) == 0);
}

static copy_t loaded(const char* path) {
  copy_t copy;
  memset(&copy, 0, sizeof copy);
  copy.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  CHECK(copy.library != NULL);
#define FOUND(name) CHECK((copy.name = (__typeof__(&(name)))(size_t)dlsym(copy.library, #name)) != NULL)
  CALLS(FOUND);
  CHECK(copy.hoist_device_open != &hoist_device_open);
  return copy;
}

static char paths[2][64];

static void two_copies(void) {
  copy_t one = loaded(paths[0]);
  copy_t two = loaded(paths[1]);
  CHECK(one.hoist_device_open != two.hoist_device_open);
  use(&one);
  use(&two);
  for (int i = 0; i < 8; ++i) {
    step(&one);
    step(&two);
  }
  end(&one);
  CHECK(dlclose(one.library) == 0);
  steps(&two, 3);
  end(&two);
  CHECK(dlclose(two.library) == 0);
  for (int i = 0; i < 3; ++i) {
    copy_t again = loaded(paths[i % 2]);
    use(&again);
    steps(&again, 2);
    end(&again);
    CHECK(dlclose(again.library) == 0);
  }
  exit(0);
}

/* Threads of the device are still in the library's code. */
static void closed_with_all_open(void) {
  copy_t copy = loaded(paths[0]);
  use(&copy);
  steps(&copy, 3);
  CHECK(dlclose(copy.library) == 0);
  usleep(20000);
  CHECK(fork() != -1); /* and its handlers of fork */
  exit(0);
}

static void load_copies(void) {
  for (int i = 0; i < 2; ++i) {
    snprintf(paths[i], sizeof paths[i], "/tmp/hoist-copy-%ld-%d.so", (long)getpid(), i);
    make_copy(paths[i]);
  }
  in_child(two_copies, "two copies");
  in_child(closed_with_all_open, "dlclose with all open");
  for (int i = 0; i < 2; ++i) CHECK(remove(paths[i]) == 0);
}
#else
static void load_copies(void) {}
#endif

int main(void) {
  const char* const modes[] = {"host:0?mode=threaded", "host:0?mode=inline", "host:0?mode=guarded",
                               "host:0?mode=virtual"};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; ++i) {
    mode = modes[i];
    in_child(streams_at_exit, "exit handlers");
    in_child(leaves_all_open, "handles open at exit");
    load_copies();
  }
  return 0;
}
