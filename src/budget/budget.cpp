// SPDX-License-Identifier: Apache-2.0
// Life and steps of a budget. How plans come about is in planning.cpp.
#include "budget/budget.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "exec/graph_session.hpp"

namespace hoist {

Budget::Budget(std::shared_ptr<Device> device, const BudgetOptions& options)
    : device_(std::move(device)),
      options_(options),
      placement_(options.placement),
      catalog_(device_->properties().alignment),
      pinned_(device_, options.pinned_limit_bytes) {}

Budget::~Budget() {
  end_replays();
  executor_.reset();
  if (epoch_ != nullptr) device_->event_destroy(epoch_);
}

std::size_t Budget::join(BudgetMember* member) {
  if (swapped_) {
    fail(HOIST_ERROR_INVALID_STATE, "a manager joins a budget whose steps have begun",
         "create and commit all managers of a budget before its first step");
  }
  members_.push_back(member);
  return joins_++;
}

void* Budget::keep(const std::shared_ptr<void>& stream) {
  if (executor_ && named_.get() == executor_->residency().lane(LaneId::compute).stream()) stream_ = named_;
  named_ = stream;
  return stream.get();
}

void Budget::require_between_steps(const char* what) const {
  require_no_capture(what);
  if (executor_ && executor_->in_step()) {
    fail(HOIST_ERROR_INVALID_STATE, text(what, " within a step"), "end or abort the step first");
  }
}

void Budget::commit(const std::vector<void*>& hosts) {
  if (swapped_) {
    fail(HOIST_ERROR_INVALID_STATE, "a manager commits after its budget's first step",
         "commit all managers of a budget before the first step");
  }
  if (phase_ == Phase::suspended) {
    fail(HOIST_ERROR_INVALID_STATE, "a manager commits while its budget is suspended", "resume first");
  }
  if (catalog_.units().empty()) return;  // nothing to plan, until another manager commits
  if (!links_measured_) {
    links_ = options_.links ? *options_.links : measure_links(*device_);
    links_measured_ = true;
  }
  std::vector<std::uint32_t> order(catalog_.units().size());
  for (std::uint32_t unit = 0; unit < order.size(); ++unit) order[unit] = unit;
  measure_.resize(catalog_.units().size());
  lay_out();
  Ready ready = prepare(order, wanted_bytes(), Phase::discovery);
  pending_.reset();          // an arena that an earlier commit took
  phase_ = Phase::building;  // where what follows fails the next step tries again
  reserve_addresses();
  if (!asleep_) take_arena(ready);
  rebuild_executor();
  auto& items = executor_->residency().items();
  for (std::size_t item = 0; item < hosts.size(); ++item) {
    if (hosts[item] != nullptr) items[item].host = hosts[item];
  }
  executor_->residency().find_regions(catalog_.alignment());
  reserve_hosts(ready);
  present_ = ready;
  present_.arena.reset();
  pending_ = std::make_unique<Ready>(std::move(ready));
  phase_ = Phase::discovery;
}

// What was known of items stays known: those of an earlier commit, and those that another member left behind.
void Budget::rebuild_executor() {
  ExecutorOptions options;
  options.trust = options_.trust;
  options.run_ahead_steps = options_.run_ahead_steps;
  auto executor = std::make_unique<Executor>(device_, pinned_, options, catalog_.unit_uses(), measure_);
  const std::vector<ItemState>& before = executor_ ? executor_->residency().items() : carried_;
  auto& items = executor->residency().items();
  items.resize(catalog_.items().size());
  for (std::size_t item = 0; item < items.size(); ++item) {
    items[item].name = catalog_.items()[item].name;
    items[item].bytes = catalog_.items()[item].bytes;
    items[item].transient = catalog_.items()[item].transient;
    if (item >= before.size()) continue;
    items[item].host = before[item].host;
    items[item].version = before[item].version;
    items[item].host_version = before[item].host_version;
  }
  fix_addresses(items);
  executor->set_counters(executor_ ? executor_->counters() : carried_counters_);
  executor->residency().ledger() = executor_ ? executor_->residency().ledger() : carried_ledger_;
  executor_ = std::move(executor);
  carried_.clear();
  measure_.set_copy_log(&executor_->residency().copies());
  if (timing_) timing_ = new_timing(timing_limit_);
  observe();
}

void Budget::step_begin(void* stream) {
  require_no_capture("a step begins");
  recommit();
  if (phase_ == Phase::building || !executor_) {
    fail(HOIST_ERROR_INVALID_STATE, "a step begins before any unit has been committed",
         "add units, then commit the manager");
  }
  if (phase_ == Phase::suspended) {
    fail(HOIST_ERROR_INVALID_STATE, "a step begins while the budget is suspended", "resume first");
  }
  for (const BudgetMember* member : members_) {
    if (member->committed()) continue;
    fail(HOIST_ERROR_INVALID_STATE, "a step begins before every manager of the budget has committed",
         "commit or destroy the other managers first");
  }
  if (executor_->in_step()) {
    fail(HOIST_ERROR_INVALID_STATE, "a step begins within a step", "end or abort the open one first");
  }
  if (device_->is_capturing(stream)) return capture_step_begin(stream);
  step_begins_beside(stream);
  Ledger& ledger = executor_->residency().ledger();
  step_h2d_ = Ledger::total(ledger.h2d);
  step_d2h_ = Ledger::total(ledger.d2h);
  if (pending_) swap(stream);
  executor_->time_all(phase_ != Phase::serving || recorder_ || timing_ || loaded_links_);
  look_for_news();
  executor_->step_begin(stream);
}

void Budget::unit_begin(std::uint32_t unit, void* stream) {
  if (is_capturing()) return capture_unit_begin(unit);
  if (!executor_ || !executor_->in_step()) {
    fail(HOIST_ERROR_ORDER, text("unit \"", catalog_.units()[unit].name, "\" begins outside of a step"),
         "begin a step first");
  }
  if (executor_->open_unit() != no_index) {
    fail(HOIST_ERROR_ORDER,
         text("unit \"", catalog_.units()[unit].name, "\" begins while unit \"",
              catalog_.units()[executor_->open_unit()].name, "\" is open"),
         "end that one first");
  }
  executor_->unit_begin(unit, stream);
}

void Budget::unit_end(std::uint32_t unit, void* stream) {
  if (is_capturing()) return capture_unit_end(unit);
  const std::uint32_t open = executor_ ? executor_->open_unit() : no_index;
  if (open != unit) {
    fail(HOIST_ERROR_ORDER,
         text("unit \"", catalog_.units()[unit].name, "\" ends, but ",
              open == no_index ? std::string("none") : text("\"", catalog_.units()[open].name, "\""), " is open"));
  }
  if (stream != executor_->residency().lane(LaneId::compute).stream()) {
    fail(HOIST_ERROR_ORDER, text("unit \"", catalog_.units()[unit].name, "\" ends on another stream than it began on"),
         "end it on the stream of its begin");
  }
  executor_->unit_end(stream);
}

void Budget::step_end() {
  if (is_capturing()) return capture_step_end();
  if (!executor_ || !executor_->in_step()) fail(HOIST_ERROR_ORDER, "a step ends, but none is open");
  if (executor_->open_unit() != no_index) {
    fail(HOIST_ERROR_ORDER,
         text("a step ends while unit \"", catalog_.units()[executor_->open_unit()].name, "\" is open"),
         "end the unit first, or abort the step");
  }
  executor_->step_end(false);
  finish_step();
  advance();
  go_on_with_replays();
  let_go();
}

void Budget::step_abort(void* stream) {
  if (is_capturing()) return capture_abort();
  if (!executor_ || !executor_->in_step()) fail(HOIST_ERROR_ORDER, "a step is aborted, but none is open");
  static_cast<void>(stream);
  give_up_step();
  let_go();
}

void Budget::give_up_step() {
  if (executor_->open_unit() != no_index) executor_->unit_abort();
  executor_->step_end(true);
  finish_step();
  go_on_with_replays();
}

void Budget::finish_step() {
  Ledger& ledger = executor_->residency().ledger();
  last_step_h2d_ = Ledger::total(ledger.h2d) - step_h2d_;
  last_step_d2h_ = Ledger::total(ledger.d2h) - step_d2h_;
}

void Budget::drain() {
  require_between_steps("a drain");
  if (!executor_ || !swapped_ || phase_ == Phase::suspended) return;
  const ReplaysPaused paused(*this);
  executor_->residency().store_all(Reason::drain);
  executor_->residency().wait_all();
}

void Budget::suspend() {
  require_between_steps("a suspend");
  if (phase_ == Phase::suspended) fail(HOIST_ERROR_INVALID_STATE, "the budget is suspended already", "resume to go on");
  if (phase_ == Phase::building) {
    fail(HOIST_ERROR_INVALID_STATE, "nothing has been committed that could be suspended", "commit the manager first");
  }
  if (graphs_ && !in_slots()) require_replaceable({});
  const ReplaysPaused paused(*this);  // until the resume
  if (swapped_) executor_->evacuate();
  if (pending_) pending_->arena.reset();
  resumed_phase_ = phase_;
  phase_ = Phase::suspended;
}

void Budget::resume() {
  if (phase_ != Phase::suspended)
    fail(HOIST_ERROR_INVALID_STATE, "the budget is not suspended", "only what has been suspended resumes");
  if (swapped_) {
    executor_->resume(make_arena(present_));
  } else if (pending_) {
    take_arena(*pending_);
  }
  phase_ = resumed_phase_;  // an arena for a pending plan is taken at its swap
  go_on_with_replays();
}

void Budget::update(std::uint32_t item, const void* src) {
  if (!executor_) fail(HOIST_ERROR_INVALID_STATE, "a tensor is updated before the commit", "change its host bytes");
  require_no_capture("a tensor is updated");
  if (executor_->open_unit() != no_index) {
    fail(HOIST_ERROR_ORDER,
         text("tensor \"", catalog_.items()[item].name, "\" is updated while unit \"",
              catalog_.units()[executor_->open_unit()].name, "\" is open"),
         "end the unit first");
  }
  const ReplaysPaused paused(*this);
  executor_->update(item, src);
}

void Budget::read(std::uint32_t item, void* dst) {
  if (!executor_) fail(HOIST_ERROR_INVALID_STATE, "a tensor is read before the commit", "read its host bytes");
  if (executor_->open_unit() != no_index) {
    fail(HOIST_ERROR_ORDER,
         text("tensor \"", catalog_.items()[item].name, "\" is read while unit \"",
              catalog_.units()[executor_->open_unit()].name, "\" is open"),
         "end the unit first");
  }
  require_no_capture("a tensor is read");
  const ReplaysPaused paused(*this);
  executor_->residency().read(item, dst);
}

const ItemState& Budget::item(std::uint32_t item) const { return executor_->residency().items().at(item); }

bool Budget::host_complete(std::uint32_t item) const {
  const ItemState& state = executor_->residency().items().at(item);
  return state.host_current() && executor_->residency().lane(LaneId::d2h).poll(state.host_store);
}

void* Budget::address(std::uint32_t item) const {
  if (is_capturing()) return captured_address(item);
  const Residency& residency = executor_->residency();
  return residency.address(residency.items()[item]);
}

// One shows the order, then some are measured; suspended or not.
std::uint64_t Budget::steps_before_serving() const noexcept {
  const Phase here = phase_ == Phase::suspended ? resumed_phase_ : phase_;
  const Phase next = pending_ ? pending_->phase : here;
  if (!executor_ || next == Phase::building || next == Phase::discovery) return options_.profile_steps + 1ULL;
  return next == Phase::profiling ? options_.profile_steps - profiled_ : 0;
}

// Every member at its place: to clear them all first takes longer than the rest.
BudgetStatus Budget::status() {
  count_replays(false);
  const Residency* residency = executor_ ? &executor_->residency() : nullptr;
  const Ledger& ledger = residency != nullptr ? residency->ledger() : carried_ledger_;
  const std::uint64_t waiting = residency != nullptr && pending_ && pending_->arena ? pending_->arena->bytes() : 0;
  return {.phase = phase_,
          .budget_bytes = phase_ == Phase::building ? wanted_bytes() : present_.budget_bytes,
          .reserved_bytes = reserved_bytes_,
          .arena_bytes = residency != nullptr ? residency->arena_bytes() + waiting : 0,
          .peak_bytes = residency != nullptr ? residency->peak_bytes() : 0,
          .replans = replans_,
          .last_step_h2d_bytes = last_step_h2d_,
          .last_step_d2h_bytes = last_step_d2h_,
          .last_step_us = executor_ ? executor_->last_step_us() : 0,
          .last_stall_us = executor_ ? measure_.last_stall_us() : 0,
          .steps_before_serving = steps_before_serving(),
          .predicted = executor_ && present_.plan ? present_.plan->predicted : plan::Predicted{},
          .counters = executor_ ? executor_->counters() : carried_counters_,
          .h2d_bytes = Ledger::total(ledger.h2d),
          .d2h_bytes = Ledger::total(ledger.d2h)};
}

}  // namespace hoist
