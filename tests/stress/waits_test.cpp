// SPDX-License-Identifier: Apache-2.0
// Each wait of src/exec/waits.hpp has a scenario that goes wrong without it. A lane or a unit is held up, so
// that what should wait gets there first; with the wait in place the same scenario is clean.
#include "exec/waits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/error.hpp"
#include "support/trial.hpp"

namespace hoist::test {
namespace {

bool load_overwrites_what_is_read(Wait wait) {
  Trial trial(two_weights(), 1, false);
  share_one_place(trial, "a", "b", false);
  trial.leave_out(wait);
  trial.rig().set_sleep(held_us);
  trial.rig().steps(2);
  return trial.ends_wrong();
}

bool load_overwrites_what_is_stored(Wait wait) {
  Trial trial(two_states(), 1, false);
  share_one_place(trial, "a", "b", true);
  trial.leave_out(wait);
  trial.rig().hold(LaneId::d2h, held_us);
  trial.rig().steps(2);
  return trial.ends_wrong();
}

bool store_comes_before_the_write(Wait wait) {
  Trial trial(two_states(), 1, false);
  share_one_place(trial, "a", "b", true);
  trial.leave_out(wait);
  trial.rig().set_sleep(held_us);
  trial.rig().steps(2);
  return trial.ends_wrong();
}

bool unit_reads_before_the_load(Wait wait) {
  Trial trial(two_weights(), 1, true);
  share_one_place(trial, "a", "b", false);
  trial.leave_out(wait);
  trial.rig().hold(LaneId::h2d, held_us);
  trial.rig().step();
  return trial.ends_wrong();
}

// A state that two units write, in another place each time; d makes room.
bool load_reads_an_incomplete_host_copy(Wait wait) {
  Trial trial({{{"s"}, {"d"}}, {{{{0, read_write}, {1}}}, {{{0, read_write}}}}}, 2, false);
  PlanBuilder plan = trial.plan();
  plan.home("s", 0).home("d", size).initial("s", 0).initial("d", size);
  plan.drop("d", 0).store("s", 0).drop("s", 0).load("s", 0, 1, size);
  plan.store("s", 1).drop("s", 1).load("s", 1, 0, 0).load("d", 1, 0, size);
  trial.serve(plan);
  trial.leave_out(wait);
  trial.rig().hold(LaneId::d2h, held_us);
  trial.rig().steps(2);
  return trial.ends_wrong();
}

// A state that stays and is stored: its host copy is looked at while the next unit writes.
bool host_copy_tears(Wait wait) {
  Trial trial({{{"s"}}, {{{{0, read_write}}}}}, 1, false);
  PlanBuilder plan = trial.plan();
  plan.home("s", 0).initial("s", 0).store("s", 0);
  trial.serve(plan);
  trial.leave_out(wait);
  ModelRig& rig = trial.rig();
  rig.hold(LaneId::d2h, held_us);
  rig.step();
  const std::uint8_t stored = rig.value(0);
  rig.step_begin();
  rig.begin(0);
  while (!rig.facts(0).host_current) std::this_thread::yield();
  const bool torn = static_cast<const std::uint8_t*>(rig.facts(0).host)[size / 2] != stored;
  rig.end(0);
  rig.step_end();
  return trial.ends_wrong() || torn;
}

bool birth_overwrites_what_is_stored(Wait wait) {
  Trial trial(state_and_transient(), 1, false);
  alternate(trial);
  trial.leave_out(wait);
  trial.rig().hold(LaneId::d2h, held_us);
  trial.rig().steps(2);
  return trial.ends_wrong();
}

bool new_stream_overtakes_the_old(Wait wait) {
  Trial trial({{{"s"}}, {{{{0, read_write}}}, {{{0, read_write}}}}}, 1, false);
  trial.leave_out(wait);
  ModelRig& rig = trial.rig();
  rig.set_sleep(held_us);
  rig.step_begin();
  rig.run(0);
  rig.set_sleep(0);
  rig.run_on(1, rig.other_stream());
  rig.step_end();
  return trial.ends_wrong();
}

bool swap_forgets_loads_in_flight(Wait wait) {
  Trial trial(two_weights(), 1, true);
  share_one_place(trial, "a", "b", false);
  ModelRig& rig = trial.rig();
  const auto problem = rig.budget().problem();
  const auto plan = rig.budget().plan();
  trial.leave_out(wait);
  rig.step_begin();
  rig.run(0);
  rig.hold(LaneId::h2d, held_us);
  rig.run(1);  // with its end the load of a, for the next step
  rig.step_end();
  rig.budget().request_replan(problem.get(), plan.get());
  rig.step();
  return trial.ends_wrong();
}

// Nobody reads what such a load brings. Only its time shows: it must not read the host copy while a store
// writes it, which ThreadSanitizer would report.
bool store_meets_an_unread_load(Wait wait) {
  Trial trial(read_then_written(), 3, false, "host:0?mode=virtual&h2d_gbps=0.001&d2h_gbps=1");
  load_for_a_reader(trial);
  trial.leave_out(wait);
  ModelRig& rig = trial.rig();
  rig.residency().wait_all();
  struct Sink final : CopySink {
    Recorder kept{100};
    void on_copy(const TraceInterval& copy) override { kept.add(copy); }
  } recorder;
  void* epoch = rig.device().event_create();
  rig.device().event_record(epoch, rig.stream());
  rig.device().event_wait(epoch);
  Residency& residency = rig.residency();
  residency.copies().start(&recorder, epoch, residency.lane(LaneId::h2d), residency.lane(LaneId::d2h));
  rig.step({0, 2});
  rig.residency().wait_all();
  rig.residency().collect_copies();
  double load_end = 0;
  double store_begin = 0;
  for (const TraceInterval& it : recorder.kept.intervals()) {
    if (it.row == TraceRow::h2d && it.index == 2) load_end = it.end_us;
    if (it.row == TraceRow::d2h) store_begin = it.begin_us;
  }
  rig.residency().copies().stop();
  rig.device().event_destroy(epoch);
  EXPECT_GT(load_end, 0);
  EXPECT_GT(store_begin, 0);
  return store_begin < load_end || trial.ends_wrong();
}

// A place that was freed holds poison, also where a load that nobody waited for came late.
bool late_load_undoes_the_poison(Wait wait) {
  Trial trial(read_then_written(), 3, true);
  load_for_a_reader(trial);
  trial.leave_out(wait);
  ModelRig& rig = trial.rig();
  rig.hold(LaneId::h2d, held_us);
  rig.step({0, 2});
  rig.residency().wait_all();
  Place place;
  place.offset = size;
  ItemState freed;
  freed.place = place;
  const bool poisoned = static_cast<const std::uint8_t*>(rig.residency().address(freed))[0] == 0xFF;
  return trial.ends_wrong() || !poisoned;
}

bool poison_hits_what_was_loaded(Wait wait) {
  Trial trial(two_weights(), 1, true);
  share_one_place(trial, "a", "b", false);
  trial.leave_out(wait);
  trial.rig().hold(LaneId::poison, held_us * 3 / 2);
  trial.rig().set_sleep(held_us);
  trial.rig().steps(2);
  return trial.ends_wrong();
}

// As above, behind a store: the other lane of poison.
bool late_poison_hits_what_was_loaded(Wait wait) {
  Trial trial(two_states(), 1, true);
  share_one_place(trial, "a", "b", true);
  trial.leave_out(wait);
  trial.rig().hold(LaneId::late_poison, held_us * 3 / 2);
  trial.rig().set_sleep(held_us);
  trial.rig().steps(2);
  return trial.ends_wrong();
}

// The store of t is older than that of s, which is dropped before it: t's poison has the third lane.
bool old_poison_hits_what_was_loaded(Wait wait) {
  Trial trial({{{"s"}, {"t"}, {"b"}}, {{{{0, read_write}, {1, read_write}}}, {{{2}}}}}, 2, true);
  PlanBuilder plan = trial.plan();
  plan.home("s", 0).home("t", size).home("b", size).initial("s", 0).initial("t", size);
  plan.store("t", 0).store("s", 0).drop("s", 0).drop("t", 0).load("b", 0, 1, size);
  plan.drop("b", 1).load("s", 1, 0, 0).load("t", 1, 0, size);
  trial.serve(plan);
  trial.leave_out(wait);
  trial.rig().hold(LaneId::old_poison, held_us * 3 / 2);
  trial.rig().set_sleep(held_us);
  trial.rig().steps(2);
  return trial.ends_wrong();
}

bool poison_hits_what_was_born(Wait wait) {
  Trial trial(state_and_transient(), 1, true);
  alternate(trial);
  trial.leave_out(wait);
  trial.rig().hold(LaneId::late_poison, held_us);
  trial.rig().step_begin();
  trial.rig().run(0);
  trial.rig().run(1);
  trial.rig().set_sleep(2 * held_us);
  trial.rig().run(2);
  trial.rig().step_end();
  return trial.ends_wrong();
}

bool poison_hits_what_is_read(Wait wait) {
  Trial trial(two_weights(), 1, true);
  share_one_place(trial, "a", "b", false);
  trial.leave_out(wait);
  trial.rig().set_sleep(held_us);
  trial.rig().steps(2);
  return trial.ends_wrong();
}

bool poison_is_stored(Wait wait) {
  Trial trial(two_states(), 1, true);
  share_one_place(trial, "a", "b", true);
  trial.leave_out(wait);
  trial.rig().hold(LaneId::d2h, held_us);
  trial.rig().steps(2);
  return trial.ends_wrong();
}

// Whether a check reports a difference that is none.
bool reports_corruption(Trial& trial, const std::function<void()>& run) {
  try {
    run();
    trial.rig().residency().wait_all();
    trial.rig().step_begin();
    trial.rig().step_end();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), HOIST_ERROR_CORRUPT) << error.what();
    return true;
  }
  return trial.ends_wrong();
}

bool check_meets_a_writer(Wait wait) {
  Trial trial({{{"s"}}, {{{{0, read_write}}}}}, 1, true);
  PlanBuilder plan = trial.plan();
  plan.home("s", 0).initial("s", 0).store("s", 0);
  trial.serve(plan);
  trial.leave_out(wait);
  return reports_corruption(trial, [&] {
    trial.rig().hold(LaneId::check, held_us);
    trial.rig().hold(LaneId::d2h, 2 * held_us);
    trial.rig().step();
  });
}

// b stays until the first unit has ended, and comes back.
bool check_meets_poison(Wait wait) {
  Trial trial(two_weights(), 2, true);
  PlanBuilder plan = trial.plan();
  plan.home("a", 0).home("b", size).initial("a", 0).initial("b", size).drop("b", 0).load("b", 0, 1, size);
  trial.serve(plan);
  trial.leave_out(wait);
  return reports_corruption(trial, [&] {
    for (int step = 0; step < 2; ++step) {  // one of them checks b
      trial.rig().hold(LaneId::check, held_us);
      trial.rig().hold(LaneId::h2d, 2 * held_us);
      trial.rig().step();
      trial.rig().residency().wait_all();
    }
  });
}

bool check_comes_before_the_load(Wait wait) {
  Trial trial(two_weights(), 2, true);
  ModelRig& rig = trial.rig();
  trial.leave_out(wait);
  return reports_corruption(trial, [&] {
    rig.budget().suspend();
    rig.hold(LaneId::h2d, held_us);
    rig.budget().resume();
    rig.steps(3);
  });
}

bool check_comes_before_the_store(Wait wait) {
  Trial trial({{{"s"}}, {{{{0, read_write}}}}}, 1, true);
  PlanBuilder plan = trial.plan();
  plan.home("s", 0).initial("s", 0).store("s", 0);
  trial.serve(plan);
  trial.leave_out(wait);
  return reports_corruption(trial, [&] {
    trial.rig().hold(LaneId::d2h, held_us);
    trial.rig().steps(2);
  });
}

struct Scenario {
  const char* name;
  Wait wait;
  bool (*goes_wrong)(Wait left_out);
};

const Scenario scenarios[] = {
    {"LoadAfterUnit", Wait::load_after_unit, load_overwrites_what_is_read},
    {"LoadAfterStore", Wait::load_after_store, load_overwrites_what_is_stored},
    {"LoadAfterOwnStore", Wait::load_after_own_store, load_reads_an_incomplete_host_copy},
    {"StoreAfterUnit", Wait::store_after_unit, store_comes_before_the_write},
    {"ReadAfterLoad", Wait::read_after_load, unit_reads_before_the_load},
    {"WriteAfterStore", Wait::write_after_store, host_copy_tears},
    {"BirthAfterStore", Wait::write_after_store, birth_overwrites_what_is_stored},
    {"BirthAfterOwnLoad", Wait::birth_after_own_load, store_meets_an_unread_load},
    {"StreamAfterStream", Wait::stream_after_stream, new_stream_overtakes_the_old},
    {"SwapBarrier", Wait::swap_barrier, swap_forgets_loads_in_flight},
    {"LoadAfterPoison", Wait::load_after_poison, poison_hits_what_was_loaded},
    {"LoadAfterLatePoison", Wait::load_after_poison, late_poison_hits_what_was_loaded},
    {"LoadAfterOldPoison", Wait::load_after_poison, old_poison_hits_what_was_loaded},
    {"WriteAfterPoison", Wait::write_after_poison, poison_hits_what_was_born},
    {"WriteAfterCheck", Wait::write_after_check, check_meets_a_writer},
    {"PoisonAfterUnit", Wait::poison_after_unit, poison_hits_what_is_read},
    {"PoisonAfterLoad", Wait::poison_after_load, late_load_undoes_the_poison},
    {"PoisonAfterStore", Wait::poison_after_store, poison_is_stored},
    {"PoisonAfterCheck", Wait::poison_after_check, check_meets_poison},
    {"CheckAfterUnit", Wait::check_after_unit, check_comes_before_the_load},
    {"CheckAfterStore", Wait::check_after_store, check_comes_before_the_store},
};

class WaitsTest : public testing::TestWithParam<Scenario> {};

TEST_P(WaitsTest, IsCleanWithTheWait) {
  for (int round = 0; round < 3; ++round) EXPECT_FALSE(GetParam().goes_wrong(Wait::none));
}

TEST_P(WaitsTest, GoesWrongWithoutIt) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "races on purpose, which ThreadSanitizer would report";
#endif
  bool seen = false;
  for (int round = 0; round < 20 && !seen; ++round) seen = GetParam().goes_wrong(GetParam().wait);
  EXPECT_TRUE(seen);
}

std::string scenario_name(const testing::TestParamInfo<Scenario>& it) { return it.param.name; }

INSTANTIATE_TEST_SUITE_P(Executor, WaitsTest, testing::ValuesIn(scenarios), scenario_name);

// The waits of a unit that could not begin are the old stream's: the new one makes its own.
TEST(Streams, AUnitThatCouldNotBeginWaitsAgainOnAnother) {
  Trial trial(two_weights(), 1, true);
  share_one_place(trial, "a", "b", false);
  ModelRig& rig = trial.rig();
  rig.hold(LaneId::h2d, 50'000);
  rig.step_begin();
  rig.run(0);
  rig.device().set("fail", "event_record@2");  // after the waits
  EXPECT_THROW(rig.begin(1), Error);
  rig.device().set("fail", "");
  rig.run_on(1, rig.other_stream());
  rig.step_end();
  EXPECT_FALSE(trial.ends_wrong());
}

TEST(WaitsList, HasAScenarioForEachWait) {
  for (int wait = 1; wait < wait_count; ++wait) {
    const bool listed = std::any_of(std::begin(scenarios), std::end(scenarios),
                                    [wait](const Scenario& it) { return static_cast<int>(it.wait) == wait; });
    EXPECT_TRUE(listed) << "wait " << wait;
  }
}

}  // namespace
}  // namespace hoist::test
