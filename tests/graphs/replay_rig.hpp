// SPDX-License-Identifier: Apache-2.0
// A small model whose units compute whether their tensors have the right bytes, stepped, captured and replayed.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "hoist/hoist.h"

namespace hoist::test {

inline std::string last_error() {
  hoist_error_t error = HOIST_ERROR_INIT;
  if (hoist_last_error(&error) != HOIST_OK || error.message == nullptr) return "";
  return std::string(error.message) + " " + (error.hint == nullptr ? "" : error.hint);
}

#define OK(call) ASSERT_EQ(HOIST_OK, call) << last_error()
#define EXPECT_OK(call) EXPECT_EQ(HOIST_OK, call) << last_error()

// What is logged meanwhile, at that level or above it.
class Logged {
 public:
  explicit Logged(hoist_log_level_t level) {
    EXPECT_OK(hoist_log_set(
        level, [](void* self, hoist_log_level_t, const char* message) { static_cast<Logged*>(self)->note(message); },
        this));
  }
  ~Logged() { EXPECT_OK(hoist_log_set(HOIST_LOG_WARNING, nullptr, nullptr)); }
  Logged(const Logged&) = delete;
  Logged& operator=(const Logged&) = delete;

  [[nodiscard]] std::string all() const {
    std::lock_guard lock(mutex_);
    return all_;
  }
  [[nodiscard]] bool name(const char* what) const { return all().find(what) != std::string::npos; }

 private:
  void note(const char* message) {
    std::lock_guard lock(mutex_);
    all_ += message;
    all_ += "\n";
  }
  mutable std::mutex mutex_;
  std::string all_;
};

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
  std::atomic<bool>* looks;

  static void run(void* self) {
    auto& job = *static_cast<Job*>(self);
    std::uint64_t wrong = 0;
    for (const Seen& it : job.tensors) {
      if (!*job.looks) break;
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

  explicit Rig(const std::string& device_options, const char* placement, const char* share) {
    open(device_options);
    hoist_budget_options_t options = HOIST_BUDGET_OPTIONS_INIT;
    check(hoist_budget_options_set(&options, "budget", share));
    check(hoist_budget_options_set(&options, "placement", placement));
    check(hoist_budget_options_set(&options, "profile_steps", "1"));
    check(hoist_budget_create(device, &options, &budget));
    hoist_manager_options_t with = HOIST_MANAGER_OPTIONS_INIT;
    with.budget = budget;
    check(hoist_manager_create(device, &with, &manager));
    for (int u = 0; u < units; ++u) add_unit(u);
    check(hoist_manager_commit(manager));
    check(hoist_stream_create(device, &stream));
  }
  ~Rig() {
    for (hoist_graph_t* graph : graphs_) hoist_graph_destroy(graph);
    hoist_manager_destroy(manager);
    hoist_budget_destroy(budget);
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
      jobs_.push_back(std::make_unique<Job>());
      Job& job = *jobs_.back();
      job.wrong = &wrong;
      job.first_wrong = &first_wrong;
      job.runs = &runs;
      job.work_us = &work_us;
      job.looks = &looks;
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
  std::atomic<bool> looks{true};  // units that were let go may be written to while they run: these do not look
  std::vector<void*> addresses[units];
  std::atomic<std::uint8_t> expected[units * tensors];
  std::vector<hoist_tensor_t> ids;
  hoist_budget_t* budget = nullptr;

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
  std::vector<hoist_graph_t*> graphs_;
};

}  // namespace hoist::test
