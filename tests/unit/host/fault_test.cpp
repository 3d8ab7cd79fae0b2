// SPDX-License-Identifier: Apache-2.0
// Failures on demand, at every slot, and failures of work that was taken: they stay on their stream.
#include <tuple>

#include "unit/host/bench.hpp"

namespace hoist {
namespace {

using Faults = EachMode;
HOIST_EACH_MODE(Faults);

// Everything that can fail, as one call each.
struct Rig {
  explicit Rig(const std::string& options) : bench(options) {
    bench->event_record(begin, stream);
    bench->event_record(end, stream);
    bench->event_wait(end);
  }

  Bench bench;
  char host[64] = {};
  void* stream = bench.stream();
  void* device = bench.memory(4096);
  void* begin = bench.event();
  void* end = bench.event();

  std::vector<std::pair<std::string, std::function<void()>>> calls() {
    return {
        {"query_memory",
         [this] {
           std::uint64_t f = 0, t = 0;
           bench->query_memory(f, t);
         }},
        {"set", [this] { bench->set("memory_taken", "0"); }},
        {"get_time", [this] { std::ignore = bench->time_us(); }},
        {"memory_create", [this] { bench.memory(1); }},
        {"host_register",
         [this] {
           bench->host_register(host, 64);
           bench->host_unregister(host, 64);
         }},
        {"stream_create", [this] { bench.stream(); }},
        {"stream_wait", [this] { bench->stream_wait(stream); }},
        {"stream_wait_event", [this] { bench->stream_wait_event(stream, begin); }},
        {"event_create", [this] { bench.event(); }},
        {"event_record",
         [this] {
           bench->event_record(begin, stream);
           bench->event_wait(begin);
         }},
        {"event_poll", [this] { std::ignore = bench->event_poll(end); }},
        {"event_wait", [this] { bench->event_wait(end); }},
        {"event_get_elapsed", [this] { std::ignore = bench->event_elapsed_us(begin, end); }},
        {"copy", [this] { bench->copy(stream, HOIST_COPY_H2D, device, host, 64); }},
        {"fill", [this] { bench->fill(stream, device, 1, 64); }},
        {"host_function",
         [this] {
           bench->host_function(
               stream, [](void*) {}, nullptr, 0);
         }},
    };
  }
};

TEST_P(Faults, EverySlotFailsOnceThenWorks) {
  Rig rig(options());
  for (auto& [slot, call] : rig.calls()) {
    rig.bench->set("fail", (slot + "@1").c_str());
    std::string message;
    const bool memory = slot == "memory_create" || slot == "host_register";
    EXPECT_EQ(memory ? HOIST_ERROR_OUT_OF_MEMORY : HOIST_ERROR_DEVICE, status_of(call, &message)) << slot;
    EXPECT_NE(std::string::npos, message.find("host:0: " + slot)) << message;
    EXPECT_EQ(HOIST_OK, status_of(call, &message)) << slot << ": " << message;
  }
}

TEST_P(Faults, TheTurnIsCounted) {
  Rig rig(options());
  for (auto& [slot, call] : rig.calls()) {
    rig.bench->set("fail", (slot + "@3").c_str());
    EXPECT_EQ(HOIST_OK, status_of(call)) << slot;
    EXPECT_EQ(HOIST_OK, status_of(call)) << slot;
    EXPECT_NE(HOIST_OK, status_of(call)) << slot;
    EXPECT_EQ(HOIST_OK, status_of(call)) << slot;
  }
}

TEST_P(Faults, APlusStaysUntilItIsTakenBack) {
  Rig rig(options());
  for (auto& [slot, call] : rig.calls()) {
    rig.bench->set("fail", (slot + "@2+").c_str());
    EXPECT_EQ(HOIST_OK, status_of(call)) << slot;
    for (int i = 0; i < 3; ++i) EXPECT_NE(HOIST_OK, status_of(call)) << slot;
    rig.bench->set("fail", "");
    EXPECT_EQ(HOIST_OK, status_of(call)) << slot;
  }
}

TEST_P(Faults, HostUnregisterFailsIntoTheLog) {
  Rig rig(options());
  rig.bench->host_register(rig.host, 64);
  rig.bench->set("fail", "host_unregister@1+");  // it is asked for twice
  rig.bench->host_unregister(rig.host, 64);      // failed: still registered
  rig.bench->set("fail", "");
  EXPECT_EQ(HOIST_ERROR_ALREADY_EXISTS, status_of([&] { rig.bench->host_register(rig.host, 64); }));
  rig.bench->host_unregister(rig.host, 64);
  EXPECT_EQ(HOIST_OK, status_of([&] { rig.bench->host_register(rig.host, 64); }));
  rig.bench->host_unregister(rig.host, 64);
}

TEST_P(Faults, ABadSpecSaysWhatWouldDo) {
  Rig rig(options());
  std::string message;
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] { rig.bench->set("fail", "copi@1"); }, &message));
  EXPECT_NE(std::string::npos, message.find("'copy'")) << message;
  for (const char* bad : {"copy", "copy@", "copy@0", "copy@-1", "copy@x", "copy@1x", "@1", "copy@+"}) {
    EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] { rig.bench->set("fail", bad); })) << bad;
  }
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] { rig.bench->set("fial", ""); }, &message));
  EXPECT_NE(std::string::npos, message.find("'fail'")) << message;
}

TEST_P(Faults, FailedWorkStaysOnItsStreamAndReachesWhatWaitsForIt) {
  Rig rig(options());
  Bench& bench = rig.bench;
  void* other = bench.stream();
  void* dependent = bench.stream();
  void* before = bench.mark(rig.stream);
  bench->stream_wait(rig.stream);
  bench->set("fail", "work@1");
  bool ran = false;
  // Held back until all is submitted, where the mode is asynchronous; else later calls report already.
  EXPECT_EQ(HOIST_OK, status_of([&] { bench->fill(rig.stream, rig.device, 1, 64); }));
  status_of([&] { bench.call(rig.stream, [&] { ran = true; }); });
  EXPECT_EQ(HOIST_ERROR_DEVICE, status_of([&] { bench->stream_wait(rig.stream); }));
  std::string message;
  EXPECT_EQ(HOIST_ERROR_DEVICE,
            status_of([&] { bench->copy(rig.stream, HOIST_COPY_H2D, rig.device, rig.host, 64); }, &message));
  EXPECT_NE(std::string::npos, message.find("failure injected at work")) << message;
  EXPECT_EQ(HOIST_ERROR_DEVICE, status_of([&] { bench->event_record(rig.end, rig.stream); }));
  EXPECT_EQ(HOIST_ERROR_DEVICE, status_of([&] { bench->stream_wait(rig.stream); }));
  EXPECT_FALSE(ran);
  EXPECT_EQ(HOIST_OK, status_of([&] { bench->event_wait(before); }));
  EXPECT_EQ(HOIST_OK, status_of([&] {
              bench->stream_wait_event(dependent, before);
              bench->stream_wait(dependent);
            }));
  EXPECT_EQ(HOIST_OK, status_of([&] {
              bench->fill(other, rig.device, 1, 64);
              bench->stream_wait(other);
            }));
}

TEST(AsynchronousFault, SpreadsByEvents) {
  for (const char* options : {"mode=threaded", "mode=virtual"}) {
    Rig rig(options);
    Bench& bench = rig.bench;
    void* dependent = bench.stream();
    std::atomic<bool> go{std::string(options) == "mode=virtual"};
    bench->set("fail", "work@2");  // the host function passes
    bench.call(
        rig.stream,
        [&] {
          while (!go) std::this_thread::yield();
        },
        1);
    bench->fill(rig.stream, rig.device, 1, 64);
    bench->event_record(rig.end, rig.stream);
    bench->stream_wait_event(dependent, rig.end);
    bool ran = false;
    bench.call(dependent, [&] { ran = true; });
    go = true;
    EXPECT_EQ(HOIST_ERROR_DEVICE, status_of([&] { bench->stream_wait(dependent); })) << options;
    EXPECT_FALSE(ran);
    EXPECT_EQ(HOIST_ERROR_DEVICE, status_of([&] { bench->event_wait(rig.end); }));
    EXPECT_EQ(HOIST_ERROR_DEVICE, status_of([&] { std::ignore = bench->event_poll(rig.end); }));
  }
}

}  // namespace
}  // namespace hoist
