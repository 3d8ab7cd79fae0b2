// SPDX-License-Identifier: Apache-2.0
// One run of a scenario of waits_test, and the small models and plans that scenarios share.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "exec/waits.hpp"
#include "support/model_rig.hpp"

namespace hoist::test {

inline constexpr auto read = plan::Mode::read;
inline constexpr auto write = plan::Mode::write;
inline constexpr auto read_write = plan::Mode::read_write;
inline constexpr std::uint64_t size = 4096;
inline constexpr int held_us = 4000;

// One run of a scenario.
class Trial {
 public:
  Trial(Model model, std::uint64_t places, bool trust, const std::string& device = "host:0?mode=threaded")
      : rig_(device, std::move(model), options(places, trust)) {
    rig_.step();
    rig_.step();
  }

  ModelRig& rig() { return rig_; }
  PlanBuilder plan() {
    problem_ = rig_.budget().problem();
    return PlanBuilder(*problem_);
  }
  void serve(PlanBuilder& builder) {
    const plan::Plan plan = builder.build();
    rig_.budget().request_replan(problem_.get(), &plan);
    rig_.step();
    rig_.step();
    rig_.residency().wait_all();
  }
  void leave_out(Wait wait) { rig_.residency().leave_out(wait); }
  bool ends_wrong() {
    rig_.residency().wait_all();
    return rig_.wrong() + rig_.wrong_on_read_back() != 0;
  }

 private:
  static BudgetOptions options(std::uint64_t places, bool trust) {
    BudgetOptions options;
    options.bytes = places * size;
    options.profile_steps = 0;
    options.trust = trust;
    return options;
  }

  ModelRig rig_;
  std::shared_ptr<const plan::Problem> problem_;
};

// Two weights in one place, a unit each.
inline Model two_weights() { return {{{"a"}, {"b"}}, {{{{0}}}, {{{1}}}}}; }

inline void share_one_place(Trial& trial, const char* a, const char* b, bool states) {
  PlanBuilder plan = trial.plan();
  plan.home(a, 0).home(b, 0).initial(a, 0);
  if (states) plan.store(a, 0);
  plan.drop(a, 0).load(b, 0, 1, 0);
  if (states) plan.store(b, 1);
  plan.drop(b, 1).load(a, 1, 0, 0);
  trial.serve(plan);
}

// Two states in one place, a unit each.
inline Model two_states() { return {{{"a"}, {"b"}}, {{{{0, read_write}}}, {{{1, read_write}}}}}; }

// A transient is born where a state was, whose store is held up.
inline Model state_and_transient() {
  return {{{"s"}, {"t", size, true}}, {{{{0, read_write}}}, {{{1, write}}}, {{{1, read}}}}};
}

inline void alternate(Trial& trial) {
  PlanBuilder plan = trial.plan();
  plan.home("s", 0).home("t", 0).initial("s", 0).birth("t", 0);
  plan.store("s", 0).drop("s", 0).load("s", 2, 0, 0);
  trial.serve(plan);
}

// A weight is read by unit 1 and written whole by unit 2. When unit 1 does not come its load is dropped
// unread. c makes room.
inline Model read_then_written() { return {{{"a"}, {"c"}, {"w"}}, {{{{0}, {1}}}, {{{2, read}}}, {{{2, write}}}}}; }

inline void load_for_a_reader(Trial& trial) {
  PlanBuilder plan = trial.plan();
  plan.home("a", 0).home("w", size).home("c", 2 * size).initial("a", 0).initial("c", 2 * size).birth("w", 2 * size);
  plan.drop("c", 0).load("w", 0, 1, size).drop("w", 1);
  plan.store("w", 2).drop("w", 2).load("c", 2, 0, 2 * size);
  trial.serve(plan);
}

}  // namespace hoist::test
