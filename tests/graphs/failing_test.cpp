// SPDX-License-Identifier: Apache-2.0
// Work of a replay that fails when it runs, at each place of it: every wait of hoist ends, the log and an error name
// what failed, and where the device goes on so do steps and replays, with the right bytes. On a device that is lost
// (the stand-in for a driver) all calls say so, and destroy returns.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "graphs/replay_rig.hpp"
#include "hoist/hoist.h"

namespace hoist::test {
namespace {

using namespace std::chrono_literals;

bool names(const char* what) { return last_error().find(what) != std::string::npos; }

// A call that may say, once, that a replay failed: DEVICE, by name. True where it did.
bool tells(const std::function<hoist_status_t()>& call, const char* what) {
  const hoist_status_t status = call();
  if (status == HOIST_OK) return false;
  EXPECT_EQ(HOIST_ERROR_DEVICE, status) << last_error();
  EXPECT_TRUE(names(what)) << last_error();
  return true;
}

class FailingWork : public testing::TestWithParam<const char*> {
 protected:
  static constexpr const char* failure = "failure injected at work";

  void SetUp() override {
    if (std::getenv("HOIST_TEST_DEVICES") != nullptr) GTEST_SKIP() << "work fails on the host device alone";
  }

  // What is left of a rig whose replays were met by a failure goes on on another stream.
  static void go_on(Rig& rig, hoist_graph_t* graph) {
    hoist_stream_destroy(rig.stream);
    rig.stream = nullptr;
    OK(hoist_stream_create(rig.device, &rig.stream));
    std::vector<std::uint8_t> bytes(8 * page);
    const auto read = [&] { return hoist_tensor_read(rig.manager, rig.ids[0], bytes.data(), 8 * page); };
    int told = 0;
    while (told < 3 && tells(read, failure)) ++told;
    EXPECT_LE(told, 1);
    EXPECT_EQ(rig.expected[0], bytes[17]);
    rig.wrong = 0;
    rig.launch(graph, 3);
    OK(hoist_stream_wait(rig.stream));
    OK(rig.step());
    if (std::string(GetParam()) == "slots") {
      OK(hoist_budget_set(rig.budget, 0, 0.8));
    }
    rig.launch(graph, 3);
    OK(hoist_stream_wait(rig.stream));
    OK(hoist_manager_drain(rig.manager));
    EXPECT_EQ(0U, rig.wrong);
    const hoist_replay_status_t status = rig.replays();
    EXPECT_EQ(status.begun, status.ended);
    EXPECT_EQ(HOIST_REPLAY_OPEN, status.state);
  }

  // Whether anything failed.
  static bool fails(int nth) {
    const Logged errors(HOIST_LOG_ERROR);
    bool failed = false;
    {
      Rig rig("mode=threaded", GetParam(), "50%");
      rig.warm_up();
      hoist_graph_t* graph = rig.capture();
      EXPECT_OK(hoist_device_set(rig.device, "fail", ("work@" + std::to_string(nth)).c_str()));
      for (int i = 0; i < 2; ++i) {
        failed = tells([&] { return hoist_graph_launch(graph, rig.stream); }, failure) || failed;
      }
      if (nth % 3 != 0) failed = tells([&] { return hoist_stream_wait(rig.stream); }, failure) || failed;
      if (nth % 3 == 2) {
        EXPECT_OK(hoist_replay_abort(rig.manager));
        EXPECT_OK(hoist_device_set(rig.device, "fail", ""));
        go_on(rig, graph);
      }
    }  // destroyed, whatever failed
    return failed || errors.name(failure);
  }
};

// In an arena, whose plans take longer to make, at fewer.
TEST_P(FailingWork, AtEachPlaceOfAReplay) {
  const bool all = std::getenv("HOIST_TEST_ALL") != nullptr;
  const int stride = std::string(GetParam()) == "arena" ? 7 : 1;
  int failed = 0;
  for (int nth = 1, quiet = 0; quiet < 3 && !HasFailure(); nth += all ? 1 : nth < 24 ? stride : 5 + stride) {
    SCOPED_TRACE(testing::Message() << "work@" << nth);
    const bool now = fails(nth);
    quiet = now ? 0 : quiet + 1;
    failed += now ? 1 : 0;
  }
  EXPECT_GT(failed, 16 / stride);
}

INSTANTIATE_TEST_SUITE_P(Graphs, FailingWork, testing::Values("slots", "arena"),
                         [](const auto& it) { return std::string(it.param); });

class Failing : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("HOIST_TEST_DEVICES") != nullptr) GTEST_SKIP() << "what is asked here is asked of the host device";
  }
};

// Bytes that the device refuses for good: calls that would wait for the replay say so, destroy lets it go.
TEST_F(Failing, RefusalsForGoodEndEveryWait) {
  const Logged errors(HOIST_LOG_ERROR);
  {
    Rig rig("mode=threaded", "slots", "50%");
    rig.warm_up();
    hoist_graph_t* graph = rig.capture();
    OK(hoist_device_set(rig.device, "fail", "copy@2+"));
    OK(hoist_device_set(rig.device, "fail", "words_submit@2+"));
    rig.launch(graph, 2);
    while (rig.replays().state != HOIST_REPLAY_STARVED) std::this_thread::yield();
    std::vector<std::uint8_t> bytes(8 * page);
    EXPECT_EQ(HOIST_ERROR_DEVICE, hoist_tensor_read(rig.manager, rig.ids[0], bytes.data(), bytes.size()));
    EXPECT_TRUE(names("failure injected")) << last_error();
    EXPECT_EQ(HOIST_REPLAY_STARVED, rig.replays().state);
    EXPECT_EQ(HOIST_ERROR_DEVICE, hoist_step_begin(rig.manager, rig.stream));
    EXPECT_TRUE(names("failure injected")) << last_error();
  }
  EXPECT_TRUE(errors.name("let go")) << errors.all();
}

// An abort while nothing is amiss but the units are slow: the replay ends, and the next one has its bytes.
TEST_F(Failing, AnAbortOfSlowUnitsEnds) {
  Rig rig("mode=threaded", "slots", "50%");
  rig.warm_up();
  hoist_graph_t* graph = rig.capture();
  rig.work_us = 60'000;
  rig.looks = false;
  rig.launch(graph, 1);
  while (rig.replays().begun == 0) std::this_thread::yield();
  OK(hoist_replay_abort(rig.manager));
  OK(hoist_stream_wait(rig.stream));
  EXPECT_EQ(1U, rig.replays().ended);
  rig.work_us = 0;
  rig.looks = true;
  rig.launch(graph, 5);
  OK(hoist_stream_wait(rig.stream));
  EXPECT_EQ(0U, rig.wrong);
}

// A context of the driver that breaks at each place of a replay, alone or with the one that copies come from: of what
// was submitted there nothing runs any more. All calls say so, and destroy returns.
class LostDevice : public testing::Test {
 protected:
  using Break = void (*)(int nth, int all);
  static constexpr const char* failure = "ILLEGAL_ADDRESS";

  void SetUp() override {
    if (std::getenv("HOIST_TEST_DEVICES") != nullptr) {
      void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
      if (driver != nullptr) break_ = reinterpret_cast<Break>(dlsym(driver, "stand_in_break"));
    }
    if (break_ == nullptr) GTEST_SKIP() << "only the stand-in for a driver can be broken and mended";
  }

  // Whether it was met.
  bool breaks(int nth, bool all, bool waits) const {
    const Logged errors(HOIST_LOG_ERROR);
    bool met = false;
    {
      Rig rig("", "slots", "50%");
      rig.warm_up();
      hoist_graph_t* graph = rig.capture();
      break_(nth, all ? 1 : 0);
      for (int i = 0; i < 2; ++i) met = tells([&] { return hoist_graph_launch(graph, rig.stream); }, failure) || met;
      if (waits) {
        met = tells([&] { return hoist_stream_wait(rig.stream); }, failure) || met;
        if (met) see_it_in_every_call(rig);
      }
    }
    break_(0, 0);
    EXPECT_EQ(errors.all().empty(), !errors.name(failure)) << errors.all();
    return met || errors.name(failure);
  }

  // A step cannot begin; other calls may have nothing to ask of the device, but they end.
  static void see_it_in_every_call(Rig& rig) {
    std::vector<std::uint8_t> bytes(8 * page);
    EXPECT_OK(hoist_replay_abort(rig.manager));
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(tells([&] { return hoist_step_begin(rig.manager, rig.stream); }, failure));
    }
    static_cast<void>(tells([&] { return hoist_manager_drain(rig.manager); }, failure));
    static_cast<void>(
        tells([&] { return hoist_tensor_read(rig.manager, rig.ids[0], bytes.data(), bytes.size()); }, failure));
    static_cast<void>(tells([&] { return hoist_manager_suspend(rig.manager); }, failure));
    static_cast<void>(tells([&] { return hoist_replay_release(rig.manager); }, failure));
  }

  Break break_ = nullptr;
};

TEST_F(LostDevice, AtEachPlaceOfAReplay) {
  int lost = 0;
  const int stride = std::getenv("HOIST_TEST_ALL") != nullptr ? 1 : 2;
  for (int nth = 1, quiet = 0; quiet < 3 && !HasFailure(); nth += stride) {
    SCOPED_TRACE(testing::Message() << "broken at op " << nth);
    const bool now = breaks(nth, nth % 4 < 2, nth % 3 != 0);
    quiet = now ? 0 : quiet + 1;
    lost += now ? 1 : 0;
  }
  EXPECT_GT(lost, 20 / stride);
}

}  // namespace
}  // namespace hoist::test
