// SPDX-License-Identifier: Apache-2.0
// Each call of each slot of the device fails once, at every point of a budget's life. What comes of it is an
// error or a line in the log; then everything goes on, and no byte is lost or stale.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>

#include "base/error.hpp"
#include "base/log.hpp"
#include "support/model_rig.hpp"

namespace hoist::test {
namespace {

constexpr auto read = plan::Mode::read;
constexpr auto write = plan::Mode::write;
constexpr auto read_write = plan::Mode::read_write;
constexpr std::uint32_t unit_count = 4;
constexpr std::uint64_t size = 4096;

// A weight, a state and an activation a unit; one more tensor is written whole at the end and read at the start.
Model model() {
  Model model;
  for (std::uint32_t unit = 0; unit < unit_count; ++unit) {
    const std::string name = "u" + std::to_string(unit);
    const std::uint32_t first = 3 * unit;
    model.items.push_back({name + ".weight", size, false, false});
    model.items.push_back({name + ".state", size, false, unit != 1});
    model.items.push_back({name + ".act", size, true, false});
    model.units.push_back({{{first}, {first + 1, read_write}, {first + 2, write}}, 100, 0});
    if (unit > 0) model.units.back().uses.push_back({first - 1, read});
  }
  const auto out = static_cast<std::uint32_t>(model.items.size());
  model.items.push_back({"out", size, false, true});
  model.units.front().uses.push_back({out, read});
  model.units.back().uses.push_back({out, write});
  return model;
}

BudgetOptions budget_options() {
  BudgetOptions options;
  options.bytes = 8 * size;      // some states stay, and are dirty when a step has ended
  options.run_ahead_steps = 16;  // more marks than lanes have at first
  options.profile_steps = 1;
  options.plan_effort = 1;
  options.trust = true;
  return options;
}

// What went wrong so far, in words.
class Complaints {
 public:
  Complaints() {
    log_set(
        HOIST_LOG_WARNING,
        [](void* self, hoist_log_level_t, const char* message) { static_cast<Complaints*>(self)->note(message); },
        this);
  }
  ~Complaints() { log_set(HOIST_LOG_WARNING, nullptr, nullptr); }
  Complaints(const Complaints&) = delete;
  Complaints& operator=(const Complaints&) = delete;

  // Whether it went through; an error must say something and be no defect of hoist.
  bool passes(const std::function<void()>& call) {
    try {
      call();
      return true;
    } catch (const Error& error) {
      note(error.what());
      EXPECT_NE(error.code(), HOIST_ERROR_INTERNAL) << error.what();
      EXPECT_GT(std::strlen(error.what()), 10U);
      return false;
    }
  }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] std::string first() const {
    std::lock_guard lock(mutex_);
    return first_;
  }

 private:
  void note(const char* message) {
    std::lock_guard lock(mutex_);
    if (count_++ == 0) first_ = message;
  }

  std::atomic<int> count_{0};
  mutable std::mutex mutex_;
  std::string first_;
};

class Life {
 public:
  explicit Life(const std::string& device) : rig_(device, model(), budget_options(), false) {}

  ModelRig& rig() { return rig_; }
  Complaints& complaints() { return complaints_; }

  void abort() {
    for (int attempt = 0; attempt < 3 && rig_.budget().executor().in_step(); ++attempt) {
      complaints_.passes([&] { rig_.budget().step_abort(rig_.stream()); });
    }
    ASSERT_FALSE(rig_.budget().executor().in_step());
  }
  // Items, over all lives.
  static inline int dirty_at_the_end = 0;
  // A unit that could not begin is tried again every other time, else the step is given up.
  bool step(const std::vector<std::uint32_t>& order = {0, 1, 2, 3}) {
    const int before = complaints_.count();
    const bool tries_again = steps_++ % 2 == 0;
    if (!complaints_.passes([&] { rig_.step_begin(); })) return false;
    for (std::uint32_t unit : order) {
      const auto begin = [&] { rig_.begin(unit); };
      const bool begun = complaints_.passes(begin) || (tries_again && complaints_.passes(begin));
      if (!begun || !complaints_.passes([&] { rig_.end(unit); })) {
        abort();
        return false;
      }
    }
    complaints_.passes([&] { rig_.step_end(); });
    return complaints_.count() == before;
  }
  void abort_within_a_step() {
    if (!complaints_.passes([&] { rig_.step_begin(); })) return;
    complaints_.passes([&] { rig_.run(0); });
    if (rig_.budget().executor().open_unit() == no_index) complaints_.passes([&] { rig_.begin(1); });
    abort();
  }
  // The caller tries again what did not go through.
  void insist(const std::function<void()>& call) {
    if (!complaints_.passes(call)) call();
  }

  void commit() {
    insist([&] { rig_.manager().commit(); });
  }
  void steps() {
    for (int i = 0; i < 4; ++i) step();
  }
  void surprises() {
    step({0, 1, 0, 1});
    step({0, 1, 2});
    step();
  }
  void replan() {
    complaints_.passes([&] { rig_.budget().request_replan(nullptr, nullptr); });
    step();
  }
  void change_budget() {
    for (std::uint64_t places : {10, 5}) {
      complaints_.passes([&] { rig_.budget().set_budget(places * size, 0); });
      step();
    }
  }
  void suspend() {
    insist([&] { rig_.budget().suspend(); });
    insist([&] { rig_.budget().resume(); });
    step();
  }
  void read_back() {
    complaints_.passes([&] { EXPECT_EQ(rig_.wrong_on_read_back(), 0U); });
    step();
  }
  void update() {
    insist([&] { rig_.update(0); });
    step();
    insist([&] { rig_.update(1); });
    step();
  }
  void trace() {
    if (!complaints_.passes([&] { rig_.budget().trace_begin(0); })) return;
    step();
    insist([&] { rig_.budget().trace_end(nullptr); });
  }
  void destroy() {
    for (const ItemState& item : rig_.budget().executor().residency().items()) dirty_at_the_end += item.dirty ? 1 : 0;
    rig_.destroy();
    EXPECT_EQ(rig_.wrong_in_adopted(), 0U);
  }

 private:
  Complaints complaints_;
  ModelRig rig_;
  int steps_ = 0;
};

struct Phase {
  const char* name;
  void (Life::*run)();
};

constexpr Phase phases[] = {{"commit", &Life::commit},
                            {"steps", &Life::steps},
                            {"surprises", &Life::surprises},
                            {"replan", &Life::replan},
                            {"change_budget", &Life::change_budget},
                            {"suspend", &Life::suspend},
                            {"read_back", &Life::read_back},
                            {"update", &Life::update},
                            {"abort", &Life::abort_within_a_step},
                            {"trace", &Life::trace},
                            {"destroy", &Life::destroy}};

bool all_rounds() { return std::getenv("HOIST_TEST_ALL") != nullptr; }

std::uint64_t free_bytes(Device& device) {
  std::uint64_t free = 0;
  std::uint64_t total = 0;
  device.query_memory(free, total);
  return free;
}

class FaultsTest : public testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  static std::string device() { return std::string("host:0?mode=") + std::get<0>(GetParam()); }
  static std::string slot() { return std::get<1>(GetParam()); }

  // False where nothing was left to fail.
  static bool fails(Device& open, std::size_t faulty, int call) {
    SCOPED_TRACE(testing::Message() << phases[faulty].name << ", " << slot() << "@" << call);
    const std::uint64_t before = free_bytes(open);
    int complaints = 0;
    {
      Life life(device());
      for (std::size_t phase = 0; phase < faulty; ++phase) (life.*phases[phase].run)();
      EXPECT_EQ(life.complaints().count(), 0) << "without a fault: " << life.complaints().first();
      open.set("fail", (slot() + "@" + std::to_string(call)).c_str());
      (life.*phases[faulty].run)();
      open.set("fail", "");
      complaints = life.complaints().count();
      if (phases[faulty].run != &Life::destroy) go_on(life);
      EXPECT_EQ(life.rig().wrong(), 0U);
    }
    EXPECT_EQ(free_bytes(open), before);
    return complaints != 0;
  }

  static void go_on(Life& life) {
    const int before = life.complaints().count();
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(life.step());
    EXPECT_EQ(life.rig().wrong_on_read_back(), 0U);
    EXPECT_TRUE(life.step({0, 1, 2}));
    EXPECT_TRUE(life.step());
    life.rig().wait();
    EXPECT_EQ(life.complaints().count(), before) << "after the fault was gone";
    life.destroy();
  }
};

TEST_P(FaultsTest, AtEveryCallOfEveryPhase) {
  if (std::get<0>(GetParam()) == std::string("threaded") && !all_rounds()) GTEST_SKIP() << "set HOIST_TEST_ALL=1";
  const std::shared_ptr<Device> open = Device::open(test::in_place_of(device()));
  int faults = 0;
  for (std::size_t phase = 0; phase < std::size(phases); ++phase) {
    int quiet = 0;  // a call may be one that nobody needs to hear of
    const int patience = slot() == "host_function" ? 12 : 3;
    const int stride = all_rounds() ? 1 << 30 : 3;  // every call, or fewer and fewer of the later ones
    for (int call = 1; quiet < patience && !HasFailure(); call += 1 + call / stride) {
      const bool failed = fails(*open, phase, call);
      quiet = failed ? 0 : quiet + 1;
      faults += failed ? 1 : 0;
    }
  }
  EXPECT_GT(Life::dirty_at_the_end, 0) << "nothing was left to be stored at destroy";
  RecordProperty("faults", faults);
}

const char* const slots[] = {"query_memory",      "memory_create", "host_register", "host_unregister", "stream_create",
                             "stream_wait_event", "event_create",  "event_record",  "event_poll",      "event_wait",
                             "event_get_elapsed", "copy",          "fill",          "host_function"};
const char* const access_slots[] = {"access_begin", "access_end", "copy"};

std::string fault_name(const testing::TestParamInfo<std::tuple<const char*, const char*>>& it) {
  return std::string(std::get<0>(it.param)) + "_" + std::get<1>(it.param);
}

INSTANTIATE_TEST_SUITE_P(Inline, FaultsTest, testing::Combine(testing::Values("inline"), testing::ValuesIn(slots)),
                         fault_name);
INSTANTIATE_TEST_SUITE_P(Guarded, FaultsTest,
                         testing::Combine(testing::Values("guarded"), testing::ValuesIn(access_slots)), fault_name);

INSTANTIATE_TEST_SUITE_P(Threaded, FaultsTest, testing::Combine(testing::Values("threaded"), testing::ValuesIn(slots)),
                         fault_name);

class RefusedTest : public testing::Test {
 protected:
  void SetUp() override { open_ = Device::open(test::in_place_of("host:0?mode=threaded&memory=1MiB")); }
  // As if somebody else held all but so many bytes.
  void leave(std::uint64_t bytes) {
    open_->set("memory_taken", "0");
    open_->set("memory_taken", std::to_string(free_bytes(*open_) - std::min(bytes, free_bytes(*open_))).c_str());
  }
  static std::string name() { return "host:0?mode=threaded&memory=1MiB"; }

  std::shared_ptr<Device> open_;
};

TEST_F(RefusedTest, MemoryAtCommitAndThenGranted) {
  Life life(name());
  leave(2 * size);
  EXPECT_FALSE(life.complaints().passes([&] { life.rig().manager().commit(); }));
  leave(1 << 20);
  life.rig().manager().commit();
  life.steps();
  EXPECT_EQ(life.rig().wrong() + life.rig().wrong_on_read_back(), 0U);
}

TEST_F(RefusedTest, MemoryForALargerBudgetBeforeAndWhileItRuns) {
  Life life(name());
  life.rig().manager().commit();
  leave(0);
  EXPECT_FALSE(life.complaints().passes([&] { life.rig().budget().set_budget(10 * size, 0); }));
  EXPECT_TRUE(life.step());
  EXPECT_FALSE(life.complaints().passes([&] { life.rig().budget().set_budget(10 * size, 0); }));
  life.steps();
  EXPECT_EQ(life.rig().budget().status().budget_bytes, 8 * size);
  leave(1 << 20);
  life.rig().budget().set_budget(10 * size, 0);
  life.steps();
  EXPECT_EQ(life.rig().budget().status().budget_bytes, 10 * size);
  EXPECT_EQ(life.rig().wrong() + life.rig().wrong_on_read_back(), 0U);
}

// There is no room for both arenas: the old one goes first, and comes back where the new one is refused too.
TEST_F(RefusedTest, RoomForBothArenasWhenTheBudgetShrinks) {
  Life life(name());
  life.rig().manager().commit();
  life.steps();
  leave(0);
  life.rig().budget().set_budget(6 * size, 0);
  EXPECT_TRUE(life.step());
  EXPECT_EQ(life.rig().budget().status().arena_bytes, 6 * size);
  life.steps();
  EXPECT_EQ(life.rig().wrong() + life.rig().wrong_on_read_back(), 0U);
}

TEST_F(RefusedTest, MemoryOnResumeAndThenGranted) {
  Life life(name());
  life.rig().manager().commit();
  life.steps();
  life.rig().budget().suspend();
  leave(size);
  EXPECT_FALSE(life.complaints().passes([&] { life.rig().budget().resume(); }));
  EXPECT_EQ(life.rig().budget().phase(), hoist::Phase::suspended);
  EXPECT_EQ(life.rig().wrong_on_read_back(), 0U);
  leave(1 << 20);
  life.rig().budget().resume();
  life.steps();
  EXPECT_EQ(life.rig().wrong() + life.rig().wrong_on_read_back(), 0U);
}

TEST_F(RefusedTest, PinnedMemoryBeyondTheLimit) {
  BudgetOptions options = budget_options();
  options.pinned_limit_bytes = 4 * size;
  const std::uint64_t before = free_bytes(*open_);
  ModelRig rig(name(), model(), options, false);
  try {
    rig.manager().commit();
    FAIL() << "pinned beyond the limit";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), HOIST_ERROR_OUT_OF_MEMORY);
    EXPECT_NE(std::string(error.what()).find(std::to_string(4 * size)), std::string::npos) << error.what();
  }
  EXPECT_EQ(free_bytes(*open_), before);
}

// A plan that cannot be: what was asked for is refused, what was there goes on.
TEST_F(RefusedTest, PlansThatCannotBe) {
  Life life(name());
  life.rig().manager().commit();
  life.steps();
  EXPECT_FALSE(life.complaints().passes([&] { life.rig().budget().set_budget(size, 0); }));
  const auto problem = life.rig().budget().problem();
  plan::Plan broken = *life.rig().budget().plan();
  broken.initial_resident.clear();
  EXPECT_FALSE(life.complaints().passes([&] { life.rig().budget().request_replan(problem.get(), &broken); }));
  EXPECT_NE(life.rig().budget().replan_state(), ReplanState::pending);
  life.steps();
  EXPECT_EQ(life.rig().budget().status().counters.mispredictions, 0U);
  EXPECT_EQ(life.rig().wrong() + life.rig().wrong_on_read_back(), 0U);
}

}  // namespace
}  // namespace hoist::test
