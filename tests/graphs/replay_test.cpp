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

#include "hoist/hoist.h"

namespace {

std::string last_error() {
  hoist_error_t error = HOIST_ERROR_INIT;
  if (hoist_last_error(&error) != HOIST_OK || error.message == nullptr) return "";
  return std::string(error.message) + " " + (error.hint == nullptr ? "" : error.hint);
}

#define OK(call) ASSERT_EQ(HOIST_OK, call) << last_error()
#define EXPECT_OK(call) EXPECT_EQ(HOIST_OK, call) << last_error()

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t never = ~std::uint64_t{0};

// What a unit computes: whether each of its tensors has the bytes that it should have, at the address that it had.
struct Job {
  struct Seen {
    const std::uint8_t* data;
    std::uint64_t bytes;
    const std::atomic<std::uint8_t>* expected;
  };
  std::vector<Seen> tensors;
  std::atomic<std::uint64_t>* wrong;
  std::atomic<std::uint64_t>* first_wrong;
  std::atomic<std::uint64_t>* runs;
  std::atomic<int>* work_us;

  static void run(void* self) {
    auto& job = *static_cast<Job*>(self);
    std::uint64_t wrong = 0;
    for (const Seen& it : job.tensors) {
      const std::uint8_t expected = *it.expected;
      for (std::uint64_t i = 0; i < it.bytes; i += 61) wrong += it.data[i] != expected;
      wrong += it.data[it.bytes - 1] != expected;
    }
    if (*job.work_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(*job.work_us));
    *job.wrong += wrong;
    if (wrong != 0 && *job.first_wrong == never) job.first_wrong->store(job.runs->load());
    ++*job.runs;
  }
};

class Rig {
 public:
  static constexpr int units = 8;
  static constexpr int tensors = 4;  // a unit: three large ones, one small

  explicit Rig(const std::string& device_options, const char* placement, const char* budget) {
    open(device_options);
    hoist_budget_options_t options = HOIST_BUDGET_OPTIONS_INIT;
    check(hoist_budget_options_set(&options, "budget", budget));
    check(hoist_budget_options_set(&options, "placement", placement));
    check(hoist_budget_options_set(&options, "profile_steps", "1"));
    check(hoist_budget_create(device, &options, &budget_));
    hoist_manager_options_t with = HOIST_MANAGER_OPTIONS_INIT;
    with.budget = budget_;
    check(hoist_manager_create(device, &with, &manager));
    for (int u = 0; u < units; ++u) add_unit(u);
    check(hoist_manager_commit(manager));
    check(hoist_stream_create(device, &stream));
    jobs_.resize(units);
  }
  ~Rig() {
    for (hoist_graph_t* graph : graphs_) hoist_graph_destroy(graph);
    hoist_manager_destroy(manager);
    hoist_budget_destroy(budget_);
    hoist_stream_destroy(stream);
    hoist_device_close(device);
  }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  static void check(hoist_status_t status) {
    if (status != HOIST_OK) throw std::runtime_error(last_error());
  }

  // A step, run or captured: jobs stay where they are for replays.
  hoist_status_t step() {
    if (const hoist_status_t status = hoist_step_begin(manager, stream); status != HOIST_OK) return status;
    for (int u = 0; u < units; ++u) {
      hoist_unit_view_t view = HOIST_UNIT_VIEW_INIT;
      const hoist_status_t begun = hoist_unit_begin(manager, static_cast<hoist_unit_t>(u), stream, &view);
      if (begun != HOIST_OK) return begun;
      made_.push_back(std::make_unique<Job>());
      Job& job = *made_.back();
      job.wrong = &wrong;
      job.first_wrong = &first_wrong;
      job.runs = &runs;
      job.work_us = &work_us;
      addresses[u].clear();
      for (std::size_t k = 0; k < view.count; ++k) {
        job.tensors.push_back({static_cast<const std::uint8_t*>(view.tensors[k].data), view.tensors[k].bytes,
                               &expected[u * tensors + static_cast<int>(k)]});
        addresses[u].push_back(view.tensors[k].data);
      }
      check(hoist_stream_submit_host(stream, Job::run, &job, 10));
      check(hoist_unit_end(manager, static_cast<hoist_unit_t>(u), stream));
    }
    return hoist_step_end(manager, stream);
  }

  void warm_up() {
    for (int i = 0; i < 5; ++i) check(step());
    check(hoist_stream_wait(stream));
  }

  hoist_graph_t* capture() {
    check(hoist_capture_begin(stream));
    const hoist_status_t status = step();
    hoist_graph_t* graph = nullptr;
    check(hoist_capture_end(stream, &graph));
    graphs_.push_back(graph);
    check(status);
    return graph;
  }

  void launch(hoist_graph_t* graph, int count) {
    for (int i = 0; i < count; ++i) check(hoist_graph_launch(graph, stream));
  }

  hoist_replay_status_t replays() {
    hoist_replay_status_t status = HOIST_REPLAY_STATUS_INIT;
    check(hoist_replay_query(manager, &status));
    return status;
  }

  hoist_device_t* device = nullptr;
  hoist_manager_t* manager = nullptr;
  hoist_stream_t* stream = nullptr;
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<std::uint64_t> first_wrong{never};  // of all runs, the first with a wrong byte
  std::atomic<std::uint64_t> runs{0};
  std::atomic<int> work_us{0};
  std::vector<void*> addresses[units];
  std::atomic<std::uint8_t> expected[units * tensors];
  std::vector<hoist_tensor_t> ids;
  hoist_budget_t* budget_ = nullptr;

 private:
  void open(const std::string& options) {
    const char* given = std::getenv("HOIST_TEST_DEVICES");
    check(hoist_device_open(given != nullptr ? given : ("host:0?" + options).c_str(), &device));
  }

  void add_unit(int u) {
    hoist_unit_t unit = 0;
    check(hoist_manager_add_unit(manager, ("unit" + std::to_string(u)).c_str(), &unit));
    for (int k = 0; k < tensors; ++k) {
      const std::uint64_t bytes = k == 3 ? 100 : (8 - static_cast<std::uint64_t>(k)) * page;
      const auto value = static_cast<std::uint8_t>(1 + u * tensors + k);
      expected[u * tensors + k] = value;
      host_.push_back(std::vector<std::uint8_t>(bytes, value));
      hoist_tensor_desc_t desc = HOIST_TENSOR_DESC_INIT;
      const std::string name = "t" + std::to_string(u) + "." + std::to_string(k);
      desc.name = name.c_str();
      desc.bytes = bytes;
      desc.host = host_.back().data();
      desc.flags = HOIST_TENSOR_COPY;
      hoist_tensor_t tensor = 0;
      check(hoist_manager_add_tensor(manager, unit, &desc, &tensor));
      ids.push_back(tensor);
    }
  }

  std::vector<std::vector<std::uint8_t>> host_;
  std::vector<std::unique_ptr<Job>> jobs_;
  std::vector<std::unique_ptr<Job>> made_;
  std::vector<hoist_graph_t*> graphs_;
};

constexpr const char* slow = "mode=threaded&copy_delay_us=60&seed=7";

TEST(Graphs, SlotsServeStepsAtAddressesThatStay) {
  Rig rig(slow, "slots", "55%");
  rig.warm_up();
  std::vector<void*> before[Rig::units];
  for (int u = 0; u < Rig::units; ++u) before[u] = rig.addresses[u];
  for (double share : {0.9, 0.45, 1.0, 0.6}) {
    OK(hoist_budget_set(rig.budget_, 0, share));
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
    OK(hoist_budget_set(rig.budget_, 0, plan % 3 == 0 ? 0.8 : plan % 3 == 1 ? 0.45 : 0.6));
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
    EXPECT_EQ(HOIST_ERROR_INVALID_STATE, hoist_budget_set(rig.budget_, 0, 0.8));
    EXPECT_NE(std::string::npos, last_error().find("addresses"));
    EXPECT_EQ(HOIST_ERROR_INVALID_STATE, hoist_replan_request(rig.manager, nullptr, nullptr));
    EXPECT_EQ(HOIST_ERROR_INVALID_STATE, hoist_manager_suspend(rig.manager));
    rig.launch(graph, 50);
    OK(hoist_stream_wait(rig.stream));
    EXPECT_EQ(0U, rig.wrong);
    OK(hoist_replay_release(rig.manager));
    EXPECT_OK(hoist_budget_set(rig.budget_, 0, 0.8));
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
  for (const char* fault : {"copy@3", "copy@1", "words_submit@2", "words_submit@5", "fill@4"}) {
    OK(hoist_device_set(rig.device, "fail", fault));
    rig.launch(graph, 10);
    OK(hoist_stream_wait(rig.stream));
    OK(hoist_device_set(rig.device, "fail", ""));
  }
  EXPECT_EQ(0U, rig.wrong);
  EXPECT_EQ(0U, rig.replays().aborted);
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
  OK(hoist_device_set(rig.device, "fail", "copy@2+"));
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
  OK(hoist_budget_set(rig.budget_, 0, 0.7));
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
  for (int nth = 1; nth <= 24; ++nth) {
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
    const hoist_status_t status = hoist_budget_set(rig.budget_, 0, 0.85);
    OK(hoist_device_set(rig.device, "fail", ""));
    rig.launch(graph, 10);
    OK(hoist_stream_wait(rig.stream)) << fault;
    EXPECT_EQ(0U, rig.wrong) << fault;
    if (status == HOIST_OK) {
      EXPECT_OK(hoist_budget_set(rig.budget_, 0, 0.5));
    }
  }
}

}  // namespace
