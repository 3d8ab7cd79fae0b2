// SPDX-License-Identifier: Apache-2.0
// From what was seen to a plan, and from one plan to the next: whole or not at all.
#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "budget/adopt_plan.hpp"
#include "budget/budget.hpp"

namespace hoist {
namespace {

// Before anything was measured every unit counts the same.
constexpr double guessed_compute_us = 1000;

}  // namespace

std::uint64_t Budget::wanted_bytes() const {
  if (options_.bytes != 0) return options_.bytes - std::min(options_.bytes, reserved_bytes_.load());
  const std::uint64_t all = all_bytes();
  const double share = options_.share;
  const auto part = share >= 1 ? all : static_cast<std::uint64_t>(static_cast<double>(all) * share);
  return std::min(part, all) / catalog_.alignment() * catalog_.alignment() + catalog_.largest_workspace();
}

void Budget::require_feasible() {
  lay_out();
  require_feasible(wanted_bytes());
}

void Budget::require_feasible(std::uint64_t budget_bytes) const {
  std::string unit;
  std::uint64_t least = smallest_bytes(&unit);
  if (budget_bytes >= least) return;
  const std::uint64_t used = least - catalog_.largest_workspace();
  if (!in_slots()) {  // fragmentation can ask for more
    std::vector<std::uint32_t> all_units(catalog_.units().size());
    std::iota(all_units.begin(), all_units.end(), 0U);
    least = std::max(least, plan::workable_budget(catalog_.problem(all_units)));
  }
  const std::uint64_t all = all_bytes() + catalog_.largest_workspace();
  const std::uint64_t permille = all == 0 ? 0 : (least * 1000 + all - 1) / all;
  const std::uint64_t reserved = options_.bytes != 0 ? reserved_bytes_.load() : 0;
  fail(HOIST_ERROR_INFEASIBLE,
       text("a budget of ", reserved != 0 ? options_.bytes : budget_bytes, " bytes",
            reserved != 0 ? text(", ", reserved, " of them reserved,") : "", " is too small: unit \"", unit,
            "\" needs ", used, " bytes at once",
            catalog_.largest_workspace() != 0 ? text(" and the largest workspace ", catalog_.largest_workspace()) : "",
            "; the smallest budget that would do is ", least + reserved, " bytes",
            reserved == 0 ? text(" (", static_cast<double>(permille) / 10.0, " % of all)") : ""),
       "give at least that, or make smaller units");
}

std::uint64_t Budget::arena_for(const plan::Problem& problem) const {
  std::uint64_t workspace = 0;
  for (const plan::Unit& unit : problem.units) workspace = std::max(workspace, unit.workspace_bytes);
  const std::uint64_t arena = problem.budget_bytes - std::min(problem.budget_bytes, workspace);
  return arena / problem.alignment * problem.alignment;
}

plan::Problem Budget::make_problem(const std::vector<std::uint32_t>& order, std::uint64_t budget_bytes) const {
  plan::Problem problem = catalog_.problem(order);
  // More than everything is everything.
  problem.budget_bytes = std::min(budget_bytes, all_bytes() + catalog_.largest_workspace());
  // The workspace of a unit that the order leaves out is kept free all the same: it may run.
  std::uint64_t workspace = 0;
  for (const plan::Unit& unit : problem.units) workspace = std::max(workspace, unit.workspace_bytes);
  problem.budget_bytes -= std::min(problem.budget_bytes, catalog_.largest_workspace() - workspace);
  problem.links[0] = {links_.h2d.latency_us, links_.h2d.bytes_per_us};
  problem.links[1] = {links_.d2h.latency_us, links_.d2h.bytes_per_us};
  problem.links[2] = problem.links[0];
  problem.duplex_factor = links_.duplex_factor;
  for (std::size_t position = 0; position < order.size(); ++position) {
    problem.units[position].compute_us = measure_.compute_us(order[position], guessed_compute_us);
  }
  return problem;
}

Budget::Ready Budget::make_ready(plan::Problem problem, plan::Plan plan, const std::vector<std::uint32_t>& order,
                                 std::uint64_t budget_bytes, Phase phase) const {
  Ready ready;
  ready.arena_bytes = arena_for(problem);
  ready.program = std::make_shared<const Program>(compile(problem, plan, order, catalog_.unit_uses()));
  // Units that never ran are packed from the arena's start when they do.
  ready.arena_bytes = std::max(ready.arena_bytes, ready.program->arena_bytes);
  ready.problem = std::make_shared<const plan::Problem>(std::move(problem));
  ready.plan = std::make_shared<const plan::Plan>(std::move(plan));
  ready.order = order;
  ready.budget_bytes = budget_bytes;
  ready.phase = phase;
  return ready;
}

Budget::Ready Budget::prepare(const std::vector<std::uint32_t>& order, std::uint64_t budget_bytes, Phase phase) const {
  require_feasible(budget_bytes);
  catalog_.check_transients(order);
  plan::Problem problem = make_problem(order, budget_bytes);
  if (in_slots()) return prepare_slots(std::move(problem), order, budget_bytes, phase);
  plan::SolveOptions options;
  options.effort = options_.plan_effort;
  // The order is a guess at first: the plan that knows least about it.
  plan::Plan plan = phase == Phase::discovery ? plan::naive(problem) : plan::solve(problem, options);
  return make_ready(std::move(problem), std::move(plan), order, budget_bytes, phase);
}

// A smaller arena is taken at the swap, when the old one has gone: never more than the budget is held for it.
void Budget::take_arena(Ready& ready) const {
  ready.arena.reset();
  const bool has_one = executor_ && executor_->residency().has_arena();
  if (has_one && in_slots()) return;  // the memory behind its addresses changes at the swap
  if (has_one && ready.arena_bytes <= executor_->residency().arena_bytes()) return;
  ready.arena = make_arena(ready);
}

void Budget::take_arena_in_place_of_pending(Ready& ready) {
  try {
    take_arena(ready);
  } catch (const Error&) {
    if (!pending_ || !pending_->arena) throw;
    // A plan that waits to be swapped in makes room for the one that replaces it.
    pending_->arena.reset();
    take_arena(ready);  // where it fails, the waiting plan takes its arena at its swap
  }
}

// Host memory for transients that the plan stores: it is there before the plan runs, or the plan is refused.
void Budget::reserve_hosts(const Ready& ready) {
  for (const plan::Op& op : ready.plan->ops) {
    if (op.kind != plan::OpKind::drop && catalog_.items()[op.item].transient)
      executor_->residency().reserve_host(op.item);
  }
}

void Budget::propose(Ready ready) {
  require_replaceable(ready.order);
  reserve_hosts(ready);
  take_arena_in_place_of_pending(ready);
  const bool requested = ready.requested;
  pending_ = std::make_unique<Ready>(std::move(ready));
  if (!requested) return;
  replan_state_ = ReplanState::pending;
  replan_reason_.clear();
}

void Budget::swap(void* stream) {
  Ready& ready = *pending_;
  const bool first = !swapped_;
  try {
    const bool remaps = in_slots() && executor_->residency().has_arena();
    const bool needs_arena = !remaps && ready.arena_bytes != executor_->residency().arena_bytes();
    if (remaps) {
      executor_->swap(ready.program, nullptr, stream, remapping(ready));
    } else if (needs_arena && !ready.arena) {
      swap_arena_first(ready, stream);
    } else {
      executor_->swap(ready.program, ready.arena, stream);
    }
  } catch (const std::exception& error) {
    if (!first && in_slots() && !executor_->residency().has_arena()) fall_asleep();
    if (first || phase_ == Phase::suspended) throw;
    if (ready.requested) {
      replan_state_ = ReplanState::failed;
      replan_reason_ = error.what();
    }
    pending_.reset();
    log(HOIST_LOG_WARNING, "a replan failed, the old plan goes on: ", error.what());
    return;
  }
  const bool requested = ready.requested;
  present_ = std::move(ready);
  present_.arena.reset();
  pending_.reset();
  phase_ = present_.phase;
  executor_->count_mispredictions(phase_ != Phase::discovery);
  swapped_ = true;
  if (!first) ++replans_;
  if (!requested) return;
  ++requests_applied_;
  replan_state_ = ReplanState::applied;
}

// The old arena goes before the new one is taken.
void Budget::swap_arena_first(Ready& ready, void* stream) {
  const bool first = !swapped_;
  if (!first) executor_->evacuate();
  try {
    executor_->swap(ready.program, make_arena(ready), stream);
  } catch (...) {
    if (!first) go_back();
    throw;
  }
}

void Budget::go_back() {
  try {
    executor_->resume(make_arena(present_));
  } catch (...) {
    resumed_phase_ = phase_;
    phase_ = Phase::suspended;  // nothing is lost: hoist_manager_resume tries again
    throw;
  }
}

// Memory that a remapping gave up could not be taken again: what is left goes too, and a resume tries again.
void Budget::fall_asleep() {
  executor_->evacuate();
  resumed_phase_ = phase_;
  phase_ = Phase::suspended;
}

void Budget::replan(const std::vector<std::uint32_t>& order, Phase phase, const char* why) {
  try {
    propose(prepare(order, present_.budget_bytes, phase));
    log(HOIST_LOG_INFO, why, ": step predicted at ", pending_->plan->predicted.step_us, " us, bound ",
        pending_->plan->predicted.bound_us, " us");
  } catch (const Error& error) {
    log(HOIST_LOG_WARNING, why, ": no other plan, the old one goes on: ", error.what());
  }
}

// After a step that ended well: what the lifecycle does next. Where that fails the step has still ended well.
void Budget::advance() noexcept {
  try {
    next_phase();
  } catch (const std::exception& error) {
    log(HOIST_LOG_WARNING, "no other plan could be made, the old one goes on: ", error.what());
  }
}

void Budget::next_phase() {
  const auto& sequence = executor_->sequence();
  if (phase_ == Phase::serving) observe_links(false);  // a request went past profiling
  if (sequence.empty() || pending_) return;
  if (phase_ == Phase::discovery) {
    executor_->residency().wait_all();
    executor_->unit_clock().collect(true);
    profiled_ = 0;
    const bool profile = options_.profile_steps != 0;
    replan(sequence, profile ? Phase::profiling : Phase::serving, "the order of units is known");
    if (!pending_ || !profile) return;
    measure_.forget();
    return observe_links(true);
  }
  learn();
  if (phase_ != Phase::profiling || pending_) return;
  if (++profiled_ < options_.profile_steps) return;
  executor_->residency().wait_all();
  executor_->unit_clock().collect(true);
  observe_links(false);
  replan(present_.order, Phase::serving, "units have been measured");
  if (!pending_) phase_ = Phase::serving;
}

// An order that comes twice in a row is the new order.
void Budget::learn() {
  const auto& sequence = executor_->sequence();
  if (sequence == present_.order) {
    candidate_.clear();
    return;
  }
  if (sequence != candidate_) {
    candidate_ = sequence;
    return;
  }
  candidate_.clear();
  replan(sequence, phase_, "another order of units came twice");
}

bool Budget::can_replan() const noexcept {
  const Phase next = coming().phase;
  return executor_ && swapped_ && !executor_->in_step() && phase_ != Phase::suspended &&
         (next == Phase::profiling || next == Phase::serving);
}

// While serving: the first steps take what discovery takes, and are measured as a whole.
void Budget::look_for_news() noexcept {
  if (phase_ != Phase::serving || !measure_.is_news()) return;
  measure_.keep_newest();
  executor_->time_next();
}

void Budget::prepare_replan(std::uint32_t steps) {
  require_between_steps("a replan is prepared");
  if (!executor_) fail(HOIST_ERROR_INVALID_STATE, "a replan is prepared before the commit", "commit first");
  executor_->time_next(steps == 0 ? Sampling::whole : steps);
}

void Budget::request_replan(const plan::Problem* problem, const plan::Plan* plan) {
  require_between_steps("a replan is requested");
  if (!can_replan()) {
    fail(HOIST_ERROR_INVALID_STATE, "a replan is requested before discovery has ended or while suspended",
         "run a whole step first");
  }
  const Ready& base = coming();
  Ready ready;
  if (problem == nullptr) {
    executor_->unit_clock().collect(false);
    look_for_news();
    ready = prepare(base.order, base.budget_bytes, Phase::serving);
  } else {
    if (in_slots()) {
      fail(HOIST_ERROR_UNSUPPORTED,
           "a plan from outside has places of an arena, this budget's tensors have addresses of their own",
           "request a plan of hoist's own, or use the placement in an arena");
    }
    // A plan is for the order that the user saw, which a learned one that still waits may differ from.
    const bool seen = problem->units.size() == present_.problem->units.size();
    const std::vector<std::uint32_t>& order = seen ? present_.order : base.order;
    AdoptedPlan adopted = adopt_plan(make_problem(order, base.budget_bytes), *problem, *plan);
    ready = make_ready(std::move(adopted.problem), std::move(adopted.plan), order, base.budget_bytes, Phase::serving);
  }
  ready.requested = true;
  propose(std::move(ready));
  apply_to_replays();
}

void Budget::set_budget(std::uint64_t bytes, double share) {
  require_share(share);
  change_budget(bytes, share);
}

void Budget::reserve(std::uint64_t bytes) {
  const std::uint64_t reserved = reserved_bytes_;
  if (bytes > UINT64_MAX - reserved) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text(bytes, " bytes beside the ", reserved, " reserved ones"),
         "reserve what a device can have");
  }
  if (bytes == 0) return;
  reserved_bytes_ += bytes;
  if (options_.bytes == 0) return;  // a share is of the tensors
  try {
    change_budget(options_.bytes, options_.share);
  } catch (...) {
    reserved_bytes_ -= bytes;
    throw;
  }
}

void Budget::release(std::uint64_t bytes) {
  std::uint64_t reserved = reserved_bytes_;
  do {
    if (bytes <= reserved) continue;
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("bytes is ", bytes, ", more than the ", reserved, " reserved"),
         "give back what was reserved");
  } while (!reserved_bytes_.compare_exchange_weak(reserved, reserved - bytes));
}

// A plan of the smaller budget goes on where none of the larger one can be made now.
void Budget::plan_with_released() {
  if (options_.bytes == 0 || phase_ == Phase::suspended || (executor_ && executor_->in_step())) return;
  try {
    change_budget(options_.bytes, options_.share);
  } catch (const Error& error) {
    log(HOIST_LOG_WARNING, "bytes were given back to the budget, but the old plan goes on: ", error.what());
  }
}

void Budget::change_budget(std::uint64_t bytes, double share) {
  require_between_steps("the budget is changed");
  if (phase_ == Phase::suspended) {
    fail(HOIST_ERROR_INVALID_STATE, "the budget is changed while suspended", "resume first");
  }
  const auto before = std::make_pair(std::exchange(options_.bytes, bytes), std::exchange(options_.share, share));
  try {
    if (phase_ != Phase::building) {
      Ready ready = prepare(coming().order, wanted_bytes(), coming().phase);
      ready.requested = swapped_;
      propose(std::move(ready));
    }
    if (!swapped_ && pending_) {
      present_ = *pending_;
      present_.arena.reset();
    }
    apply_to_replays();
  } catch (...) {
    std::tie(options_.bytes, options_.share) = before;
    throw;
  }
}

std::shared_ptr<const plan::Problem> Budget::problem() const {
  if (!present_.problem) fail(HOIST_ERROR_INVALID_STATE, "there is no problem before the commit");
  return present_.problem;
}

std::shared_ptr<const plan::Plan> Budget::plan() const {
  if (!present_.plan) fail(HOIST_ERROR_INVALID_STATE, "there is no plan before the commit");
  return present_.plan;
}

}  // namespace hoist
