/* SPDX-License-Identifier: Apache-2.0
 * effect.h from C: effects run in their order, on the host and on the device, or are refused with both names. */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hoist/hoist.h"
#include "support/check.h"

enum { effects = 4, rounds = 50 };

/* What ran on the device, in that order. */
static int seen[effects * rounds];
static atomic_int seen_count;

typedef struct {
  hoist_sequence_t* sequence;
  int number;
  int calls;
  int released;
  hoist_status_t result; /* what it returns */
} effect_t;

static void note(void* user_data) {
  const effect_t* effect = user_data;
  /* Even ones are slow: on streams that did not wait for each other an odd one would come first. */
  const struct timespec pause = {0, effect->number % 2 == 0 ? 300000 : 0};
  nanosleep(&pause, NULL);
  seen[atomic_fetch_add(&seen_count, 1)] = effect->number;
}

static hoist_status_t act(void* user_data, hoist_stream_t* stream) {
  effect_t* effect = user_data;
  ++effect->calls;
  if (effect->result != HOIST_OK) return effect->result;
  return stream == NULL ? HOIST_OK : hoist_stream_submit_host(stream, note, effect, 0.0);
}

static hoist_status_t fail_within(void* user_data, hoist_stream_t* stream) {
  (void)stream;
  ++((effect_t*)user_data)->calls;
  return hoist_stream_wait(NULL);
}

static hoist_status_t enter_again(void* user_data, hoist_stream_t* stream) {
  hoist_token_t token = 0;
  (void)stream;
  return hoist_sequence_begin(((effect_t*)user_data)->sequence, &token);
}

static void let_go(void* user_data) { ++((effect_t*)user_data)->released; }

static hoist_effect_t add(hoist_sequence_t* sequence, const char* name, hoist_effect_fn_t function, effect_t* effect) {
  hoist_effect_desc_t desc = HOIST_EFFECT_DESC_INIT;
  desc.name = name;
  desc.function = function;
  desc.user_data = effect;
  desc.release = let_go;
  hoist_effect_t index = 99;
  OK(hoist_effect_register(sequence, &desc, &index));
  return index;
}

static hoist_sequence_status_t counts(const hoist_sequence_t* sequence) {
  hoist_sequence_status_t status = HOIST_SEQUENCE_STATUS_INIT;
  OK(hoist_sequence_query(sequence, &status));
  return status;
}

/* Effects alternate between two streams, whose threads run side by side. */
static void run_in_order(hoist_device_t* device) {
  hoist_stream_t* streams[2];
  hoist_sequence_t* sequence = NULL;
  static effect_t acts[effects];
  for (int s = 0; s < 2; ++s) OK(hoist_stream_create(device, &streams[s]));
  OK(hoist_sequence_create(device, "graph 0", &sequence));
  for (int e = 0; e < effects; ++e) {
    acts[e].number = e;
    CHECK(add(sequence, "offload", act, &acts[e]) == (hoist_effect_t)e);
  }
  for (int round = 0; round < rounds; ++round) {
    hoist_token_t token = 0;
    OK(hoist_sequence_begin(sequence, &token));
    for (hoist_effect_t e = 0; e < effects; ++e) OK(hoist_effect_submit(sequence, e, streams[e % 2], token, &token));
    OK(hoist_sequence_end(sequence, token));
  }
  for (int s = 0; s < 2; ++s) OK(hoist_stream_wait(streams[s]));
  CHECK(atomic_load(&seen_count) == effects * rounds);
  for (int i = 0; i < effects * rounds; ++i) CHECK(seen[i] == i % effects);
  const hoist_sequence_status_t status = counts(sequence);
  CHECK(status.runs == rounds && status.submitted == effects * rounds && status.refused == 0);
  CHECK(status.stream_changes == effects * rounds - 1 && status.is_open == 0 && status.effect_count == effects);
  /* A stream may go before the sequence that used it. */
  for (int s = 0; s < 2; ++s) hoist_stream_destroy(streams[s]);
  hoist_sequence_destroy(sequence);
  for (int e = 0; e < effects; ++e) CHECK(acts[e].calls == rounds && acts[e].released == 1);
}

static void refuse_disorder(hoist_device_t* device) {
  hoist_sequence_t* sequence = NULL;
  hoist_sequence_t* other = NULL;
  hoist_token_t first = 0, token = 0, old = 0, foreign = 0;
  static effect_t acts[3];
  OK(hoist_sequence_create(device, "backward", &sequence));
  OK(hoist_sequence_create(device, "forward", &other));
  add(sequence, "reload", act, &acts[0]);
  add(sequence, "wait", NULL, &acts[1]);
  add(sequence, "offload", act, &acts[2]);

  CHECK(hoist_effect_submit(sequence, 0, NULL, 0, &token) == HOIST_ERROR_INVALID_STATE &&
        says("no run of \"backward\""));
  OK(hoist_sequence_begin(sequence, &old));
  OK(hoist_sequence_abort(sequence));
  OK(hoist_sequence_begin(sequence, &first));
  OK(hoist_sequence_begin(other, &foreign));
  CHECK(hoist_sequence_begin(sequence, &token) == HOIST_ERROR_INVALID_STATE && says("effect 0 (\"reload\")"));
  CHECK(token == 0);

  /* Two that changed places: both names are told, and nothing has run. */
  CHECK(hoist_effect_submit(sequence, 2, NULL, first, &token) == HOIST_ERROR_ORDER);
  CHECK(says("effect 2 (\"offload\") of \"backward\" came where effect 0 (\"reload\")") && acts[2].calls == 0);
  CHECK(hoist_effect_submit(sequence, 3, NULL, first, &token) == HOIST_ERROR_NOT_FOUND && says("has 3 effects"));
  /* Tokens of another run, another sequence, another place. */
  CHECK(hoist_effect_submit(sequence, 0, NULL, old, &token) == HOIST_ERROR_ORDER && says("another run"));
  CHECK(hoist_effect_submit(sequence, 0, NULL, foreign, &token) == HOIST_ERROR_ORDER && says("none of \"backward\""));
  CHECK(hoist_effect_submit(sequence, 0, NULL, 0, &token) == HOIST_ERROR_ORDER);
  OK(hoist_effect_submit(sequence, 0, NULL, first, &token));
  CHECK(hoist_effect_submit(sequence, 1, NULL, first, &token) == HOIST_ERROR_ORDER && says("the one for effect 0"));
  CHECK(hoist_effect_submit(sequence, 0, NULL, token, &token) == HOIST_ERROR_ORDER && says("came again"));
  OK(hoist_effect_submit(sequence, 1, NULL, token, &token));
  /* One that the graph has lost. */
  CHECK(hoist_sequence_end(sequence, token) == HOIST_ERROR_ORDER && says("effect 2 (\"offload\")"));
  OK(hoist_effect_submit(sequence, 2, NULL, token, &token));
  CHECK(hoist_sequence_end(sequence, first) == HOIST_ERROR_ORDER && counts(sequence).is_open == 1);
  OK(hoist_sequence_end(sequence, token));
  CHECK(hoist_sequence_end(sequence, token) == HOIST_ERROR_INVALID_STATE);
  CHECK(acts[0].calls == 1 && acts[2].calls == 1);

  const hoist_sequence_status_t status = counts(sequence);
  CHECK(status.runs == 2 && status.aborted_runs == 1 && status.submitted == 3 && status.refused == 8);
  hoist_sequence_destroy(sequence);
  hoist_sequence_destroy(other);
}

static void tell_failures(hoist_device_t* device) {
  hoist_device_t* second = NULL;
  hoist_stream_t* stranger = NULL;
  hoist_sequence_t* sequence = NULL;
  hoist_token_t token = 0, next = 0;
  static effect_t acts[3];
  OK(hoist_sequence_create(device, "graph", &sequence));
  for (int e = 0; e < 3; ++e) acts[e].sequence = sequence;
  acts[0].result = HOIST_ERROR_ABORTED;
  add(sequence, "first", act, &acts[0]);
  add(sequence, "second", fail_within, &acts[1]);
  add(sequence, "third", enter_again, &acts[2]);
  OK(hoist_sequence_begin(sequence, &token));
  CHECK(hoist_effect_submit(sequence, 0, NULL, token, &next) == HOIST_ERROR_ABORTED && says("effect \"first\" failed"));
  CHECK(next == 0 && counts(sequence).due == 0 && counts(sequence).refused == 0);
  acts[0].result = HOIST_OK;
  OK(hoist_device_open("host:1", &second));
  OK(hoist_stream_create(second, &stranger));
  CHECK(hoist_effect_submit(sequence, 0, stranger, token, &next) == HOIST_ERROR_INVALID_ARGUMENT && says("host:1"));
  OK(hoist_effect_submit(sequence, 0, NULL, token, &next));
  CHECK(hoist_effect_submit(sequence, 1, NULL, next, &token) == HOIST_ERROR_INVALID_ARGUMENT);
  CHECK(says("effect \"second\" failed: stream is NULL"));
  hoist_effect_desc_t desc = HOIST_EFFECT_DESC_INIT;
  hoist_effect_t index = 0;
  CHECK(hoist_effect_register(sequence, &desc, &index) == HOIST_ERROR_INVALID_ARGUMENT);
  desc.name = "late";
  CHECK(hoist_effect_register(sequence, &desc, &index) == HOIST_ERROR_INVALID_STATE && says("within a run"));
  OK(hoist_sequence_abort(sequence));
  hoist_sequence_destroy(sequence);

  OK(hoist_sequence_create(device, "again", &sequence));
  acts[2].sequence = sequence;
  add(sequence, "enters", enter_again, &acts[2]);
  OK(hoist_sequence_begin(sequence, &token));
  CHECK(hoist_effect_submit(sequence, 0, NULL, token, &next) == HOIST_ERROR_BUSY);
  hoist_sequence_destroy(sequence); /* an open run is given up */
  CHECK(hoist_sequence_create(device, "", &sequence) == HOIST_ERROR_INVALID_ARGUMENT);
  hoist_sequence_destroy(NULL);
  hoist_stream_destroy(stranger);
  hoist_device_close(second);
}

int main(void) {
  hoist_device_t* device = NULL;
  OK(hoist_device_open("host:0?mode=threaded", &device));
  run_in_order(device);
  refuse_disorder(device);
  tell_failures(device);
  hoist_device_close(device);
  return 0;
}
