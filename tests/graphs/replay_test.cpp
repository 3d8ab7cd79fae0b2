// SPDX-License-Identifier: Apache-2.0
// Steps that are captured once and replayed: every byte that every replay sees is right, however many are launched
// ahead, while plans come and go, copies are slow or refused, and the rest of the interface is in use. The device is
// what HOIST_TEST_DEVICES names (its memory must be the host's to read, as that of a stand-in is), else the host device
// with a thread a stream.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "graphs/replay_rig.hpp"
#include "hoist/hoist.h"

namespace hoist::test {
namespace {

constexpr const char* slow = "mode=threaded&copy_delay_us=60&seed=7";

TEST(Graphs, SlotsServeStepsAtAddressesThatStay) {
  Rig rig(slow, "slots", "55%");
  rig.warm_up();
  std::vector<void*> before[Rig::units];
  for (int u = 0; u < Rig::units; ++u) before[u] = rig.addresses[u];
  for (double share : {0.9, 0.45, 1.0, 0.6}) {
    OK(hoist_budget_set(rig.budget, 0, share));
    for (int i = 0; i < 3; ++i) OK(rig.step());
    OK(hoist_stream_wait(rig.stream));
    for (int u = 0; u < Rig::units; ++u) EXPECT_EQ(before[u], rig.addresses[u]);
    hoist_budget_status_t status = HOIST_BUDGET_STATUS_INIT;
    OK(hoist_manager_query(rig.manager, &status));
    EXPECT_LE(status.arena_bytes, status.budget_bytes);
    EXPECT_EQ(share >= 1, status.last_step_h2d_bytes == 0) << share;
  }
  OK(hoist_manager_suspend(rig.manager));
  OK(hoist_manager_resume(rig.manager));
  OK(rig.step());
  OK(hoist_stream_wait(rig.stream));
  for (int u = 0; u < Rig::units; ++u) EXPECT_EQ(before[u], rig.addresses[u]);
  EXPECT_EQ(0U, rig.wrong);
}

// Nothing waits between launches, and plans change while replays are queued.
TEST(Graphs, ReplaysAndTenPlans) {
  Rig rig("mode=threaded&copy_delay_us=20&seed=3", "slots", "50%");
  rig.warm_up();
  hoist_graph_t* graph = rig.capture();
  const std::uint64_t before = rig.runs;
  const int launches = std::getenv("HOIST_TEST_ALL") != nullptr ? 100 : 20;  // a plan
  for (int plan = 0; plan < 10; ++plan) {
    rig.launch(graph, launches);
    OK(hoist_budget_set(rig.budget, 0, plan % 3 == 0 ? 0.8 : plan % 3 == 1 ? 0.45 : 0.6));
    hoist_replan_status_t replan = HOIST_REPLAN_STATUS_INIT;
    OK(hoist_replan_query(rig.manager, &replan));
    EXPECT_EQ(HOIST_REPLAN_APPLIED, replan.state) << replan.reason;
  }
  OK(hoist_stream_wait(rig.stream));
  EXPECT_EQ(10U * static_cast<unsigned>(launches) * Rig::units, rig.runs - before);
  EXPECT_EQ(0U, rig.wrong);
  const hoist_replay_status_t status = rig.replays();
  EXPECT_EQ(10U * static_cast<unsigned>(launches), status.begun);
  EXPECT_EQ(0U, status.aborted);
  EXPECT_EQ(HOIST_REPLAY_OPEN, status.state);
  EXPECT_EQ(HOIST_PLACEMENT_SLOTS, status.placement);
}

// Two graphs of one step, and everything else of the interface in between.
TEST(Graphs, TheRestOfTheInterfaceGoesOn) {
  Rig rig(slow, "slots", "50%");
  rig.warm_up();
  hoist_graph_t* one = rig.capture();
  hoist_graph_t* other = rig.capture();
  std::vector<std::uint8_t> bytes(8 * page);
  for (int round = 0; round < 6; ++round) {
    rig.launch(one, 5);
    rig.launch(other, 3);
    OK(hoist_stream_wait(rig.stream));
    const int index = round % Rig::units * Rig::tensors;  // the large one of a unit
    rig.expected[index] = static_cast<std::uint8_t>(200 + round);
    std::memset(bytes.data(), 200 + round, bytes.size());
    OK(hoist_tensor_update(rig.manager, rig.ids[static_cast<std::size_t>(index)], bytes.data(), 8 * page, rig.stream));
    rig.launch(one, 2);
    OK(hoist_tensor_read(rig.manager, rig.ids[static_cast<std::size_t>(index)], bytes.data(), 8 * page));
    EXPECT_EQ(200 + round, bytes[17]);
    OK(hoist_manager_drain(rig.manager));
    OK(rig.step());  // outside of the graph, behind the replays
    rig.launch(other, 2);
    if (round % 2 == 0) {
      OK(hoist_manager_suspend(rig.manager));
      rig.launch(one, 2);  // these wait for the memory
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      EXPECT_EQ(HOIST_REPLAY_HELD, rig.replays().state);
      OK(hoist_manager_resume(rig.manager));
    }
  }
  OK(hoist_stream_wait(rig.stream));
  EXPECT_EQ(0U, rig.wrong);
  EXPECT_EQ(0U, rig.replays().aborted);
  hoist_budget_status_t status = HOIST_BUDGET_STATUS_INIT;
  OK(hoist_manager_query(rig.manager, &status));
  EXPECT_GT(status.h2d_bytes, 0U);
  EXPECT_GE(status.steps, 6U * 10U);
}

TEST(Graphs, InAnArenaReplansAreRefusedUntilTheGraphIsForgotten) {
  for (const char* device : {"mode=threaded", "mode=threaded&lacks=remap"}) {
    Rig rig(device, device[13] == '\0' ? "arena" : "slots", "50%");
    rig.warm_up();
    hoist_graph_t* graph = rig.capture();
    rig.launch(graph, 50);
    EXPECT_EQ(HOIST_PLACEMENT_ARENA, rig.replays().placement);
    EXPECT_EQ(HOIST_ERROR_INVALID_STATE, hoist_budget_set(rig.budget, 0, 0.8));
    EXPECT_NE(std::string::npos, last_error().find("addresses"));
    EXPECT_EQ(HOIST_ERROR_INVALID_STATE, hoist_replan_request(rig.manager, nullptr, nullptr));
    EXPECT_EQ(HOIST_ERROR_INVALID_STATE, hoist_manager_suspend(rig.manager));
    rig.launch(graph, 50);
    OK(hoist_stream_wait(rig.stream));
    EXPECT_EQ(0U, rig.wrong);
    OK(hoist_replay_release(rig.manager));
    EXPECT_OK(hoist_budget_set(rig.budget, 0, 0.8));
    OK(rig.step());
    OK(hoist_stream_wait(rig.stream));
    EXPECT_EQ(0U, rig.wrong);
  }
}

TEST(Graphs, WhatCannotBeCapturedIsRefused) {
  Rig rig("mode=threaded", "slots", "50%");
  OK(hoist_capture_begin(rig.stream));
  EXPECT_EQ(HOIST_ERROR_INVALID_STATE, rig.step()) << "there is no plan yet";
  hoist_graph_t* graph = nullptr;
  OK(hoist_capture_end(rig.stream, &graph));
  hoist_graph_destroy(graph);
  rig.warm_up();
  hoist_unit_view_t view = HOIST_UNIT_VIEW_INIT;
  OK(hoist_capture_begin(rig.stream));
  OK(hoist_step_begin(rig.manager, rig.stream));
  EXPECT_EQ(HOIST_ERROR_ORDER, hoist_unit_begin(rig.manager, 1, rig.stream, &view)) << "out of order";
  EXPECT_EQ(HOIST_ERROR_INVALID_STATE, hoist_manager_drain(rig.manager));
  OK(hoist_unit_begin(rig.manager, 0, rig.stream, &view));
  OK(hoist_unit_end(rig.manager, 0, rig.stream));
  EXPECT_EQ(HOIST_ERROR_ORDER, hoist_step_end(rig.manager, rig.stream)) << "not all units";
  OK(hoist_step_abort(rig.manager, rig.stream));
  OK(hoist_capture_end(rig.stream, &graph));
  hoist_graph_destroy(graph);
  EXPECT_EQ(HOIST_REPLAY_NONE, rig.replays().state);
  rig.launch(rig.capture(), 20);
  OK(rig.step());
  OK(hoist_stream_wait(rig.stream));
  EXPECT_EQ(0U, rig.wrong);
}

TEST(Graphs, ADeviceWithoutWordsOrTimeRefusesAStep) {
  for (const char* device : {"mode=virtual", "mode=threaded&lacks=words", "mode=inline"}) {
    Rig rig(device, "slots", "50%");
    rig.warm_up();
    OK(hoist_capture_begin(rig.stream));
    EXPECT_EQ(HOIST_ERROR_UNSUPPORTED, rig.step()) << device;
    hoist_graph_t* graph = nullptr;
    OK(hoist_capture_end(rig.stream, &graph));
    hoist_graph_destroy(graph);
    OK(rig.step());
    OK(hoist_stream_wait(rig.stream));
    EXPECT_EQ(0U, rig.wrong);
  }
}

// Copies and words that are refused for a while only delay.
TEST(Graphs, RefusalsDelayReplays) {
  Rig rig("mode=threaded", "slots", "50%");
  rig.warm_up();
  hoist_graph_t* graph = rig.capture();
  const Logged warnings(HOIST_LOG_WARNING);
  for (const char* fault : {"copy@3", "copy@1", "copy_batch@1", "words_submit@2", "words_submit@5", "fill@4"}) {
    OK(hoist_device_set(rig.device, "fail", fault));
    rig.launch(graph, 10);
    OK(hoist_stream_wait(rig.stream));
    OK(hoist_device_set(rig.device, "fail", ""));
  }
  EXPECT_EQ(0U, rig.wrong);
  EXPECT_EQ(0U, rig.replays().aborted);
  // Small copies go one by one or as a batch, by measured times and where the device has these.
  EXPECT_TRUE(warnings.name("asked for again") && warnings.name("failure injected at copy")) << warnings.all();
  EXPECT_TRUE(warnings.name("failure injected at words_submit")) << warnings.all();
}

// A device that refuses for ever: replays wait until they are let go, then things go on as soon as it takes copies.
TEST(Graphs, AbortLetsReplaysGo) {
  Rig rig("mode=threaded", "slots", "50%");
  rig.warm_up();
  hoist_graph_t* graph = rig.capture();
  rig.launch(graph, 3);
  OK(hoist_stream_wait(rig.stream));
  OK(hoist_replay_abort(rig.manager));  // nothing waits: nothing happens
  EXPECT_EQ(0U, rig.replays().aborted);
  // By measured times small copies go one by one or as a batch, where the device has these: three steps have two of
  // one.
  for (const char* fault : {"copy@2+", "copy_batch@2+"}) OK(hoist_device_set(rig.device, "fail", fault));
  rig.launch(graph, 3);
  while (rig.replays().state != HOIST_REPLAY_STARVED) std::this_thread::yield();
  EXPECT_STRNE("", rig.replays().reason);
  // All replays that were launched end, and so does the wait; those after the first find the device refusing, too.
  std::atomic<bool> over{false};
  std::thread helper([&] {
    while (!over) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      EXPECT_OK(hoist_replay_abort(rig.manager));
    }
  });
  OK(hoist_stream_wait(rig.stream));
  over = true;
  helper.join();
  EXPECT_GT(rig.replays().aborted, 0U);
  OK(hoist_device_set(rig.device, "fail", ""));
  rig.launch(graph, 1);  // brings everything back
  OK(hoist_stream_wait(rig.stream));
  rig.wrong = 0;
  rig.launch(graph, 30);
  OK(hoist_budget_set(rig.budget, 0, 0.7));
  rig.launch(graph, 30);
  OK(hoist_stream_wait(rig.stream));
  EXPECT_EQ(0U, rig.wrong);
  EXPECT_EQ(HOIST_REPLAY_OPEN, rig.replays().state);
}

// A replay that has all of its bytes is right, whatever becomes of the one behind it.
TEST(Graphs, AbortSpoilsNothingThatHasItsBytes) {
  Rig rig("mode=threaded&copy_delay_us=100&seed=5", "slots", "50%");
  rig.warm_up();
  hoist_graph_t* graph = rig.capture();
  std::uint64_t right = 0;  // replays before one that was let go
  // How many calls a replay makes is the plan's, which is one of measured times: on, until a second one is refused.
  for (int nth = 1; nth <= 24 || (right == 0 && nth <= 120); ++nth) {
    const std::uint64_t runs = rig.runs;
    const std::uint64_t begun = rig.replays().begun;
    rig.first_wrong = never;
    const char* slot = nth % 2 == 0 ? "copy" : "words_submit";  // a plan's copies may all go in batches
    OK(hoist_device_set(rig.device, "fail", (slot + ("@" + std::to_string(nth)) + "+").c_str()));
    rig.launch(graph, 4);
    while (rig.replays().state != HOIST_REPLAY_STARVED && rig.runs < runs + 4 * Rig::units) std::this_thread::yield();
    const std::uint64_t starving = rig.replays().begun - begun;  // the next one begins when this one has ended
    OK(hoist_replay_abort(rig.manager));
    OK(hoist_device_set(rig.device, "fail", ""));
    OK(hoist_stream_wait(rig.stream));
    EXPECT_GE(rig.first_wrong, runs + (starving - 1) * Rig::units) << slot << " refused from " << nth << " on";
    right += starving - 1;
  }
  EXPECT_GT(right, 0U);
  EXPECT_GT(rig.replays().aborted, 0U);
}

// Memory that is refused at a replan: the old plan goes on under the graph.
TEST(Graphs, AReplanThatFindsNoMemoryLeavesTheOldPlan) {
  Rig rig("mode=threaded&memory=16MiB", "slots", "50%");
  rig.warm_up();
  hoist_graph_t* graph = rig.capture();
  for (const char* fault : {"handle_create@1", "handle_create@2", "memory_map@1", "memory_map@3", "memory_unmap@2"}) {
    rig.launch(graph, 10);
    OK(hoist_device_set(rig.device, "fail", fault));
    const hoist_status_t status = hoist_budget_set(rig.budget, 0, 0.85);
    OK(hoist_device_set(rig.device, "fail", ""));
    rig.launch(graph, 10);
    OK(hoist_stream_wait(rig.stream)) << fault;
    EXPECT_EQ(0U, rig.wrong) << fault;
    if (status == HOIST_OK) {
      EXPECT_OK(hoist_budget_set(rig.budget, 0, 0.5));
    }
  }
}

}  // namespace
}  // namespace hoist::test
