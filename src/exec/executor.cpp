// SPDX-License-Identifier: Apache-2.0
#include "exec/executor.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"

namespace hoist {

Executor::Executor(std::shared_ptr<Device> device, PinnedArena& pinned, const ExecutorOptions& options,
                   const std::vector<std::vector<UnitUse>>& uses, UnitSink& sink)
    : device_(std::move(device)),
      options_(options),
      uses_(uses),
      residency_(device_, pinned, {options.trust, 64}),
      unit_clock_(device_, residency_.lane(LaneId::compute), sink),
      step_clock_(device_, residency_.lane(LaneId::compute), options.run_ahead_steps) {}

void Executor::step_begin(void* stream) {
  check_trust();
  residency_.switch_stream(stream);
  step_clock_.begin();
  unit_clock_.collect(false);
  timed_ = sampling_.next();
  residency_.set_step(counters_.steps);
  sequence_.clear();
  next_ = 0;
  clean_step_ = true;
  in_step_ = true;
  check_resident();
}

void Executor::unit_begin(std::uint32_t unit, void* stream) {
  check_trust();
  require_readable(unit);
  seek(unit);
  residency_.switch_stream(stream);
  unit_clock_.begin(unit, counters_.steps, timed_);
  born_.clear();
  try {
    fetch(unit);
    wait_for_bytes(unit);
    open_access(unit, stream);
    unit_clock_.waited();
    sequence_.push_back(unit);
  } catch (...) {
    close_access(stream);
    unit_clock_.cancel();
    undo_births();
    throw;
  }
  open_unit_ = unit;
}

void Executor::unit_end(void* stream) {
  close_access(stream);
  if (on_plan_) prefetch(program_->positions[next_].ops.first);
  unit_clock_.end();
  for (const UnitUse& use : uses_[open_unit_]) {
    // Only now does a mark stand for the unit's waits: a unit that could not begin has waited, and left none.
    ItemState& state = residency_.items()[use.item];
    if (state.unread) state.unread = false;
    if (plan::writes(use.mode)) residency_.written(use.item);
  }
  residency_.sealed();
  open_unit_ = no_index;
  if (on_plan_) finish(program_->positions[next_++], true);
  if (!deviants_.empty()) reconcile(Reason::restore);
}

void Executor::unit_abort() {
  unit_clock_.cancel();
  unit_end(residency_.lane(LaneId::compute).stream());
}

void Executor::step_end(bool aborted) {
  if (next_ < program_->positions.size()) {
    if (counting_ && !aborted) ++counters_.mispredictions;
    clean_step_ = false;
    end_transients();  // nobody can read them any more
    while (next_ < program_->positions.size()) finish(program_->positions[next_++], false);
  }
  if (!clean_step_ || program_->lingers) end_transients();
  if (!deviants_.empty()) reconcile(Reason::restore);
  in_step_ = false;
  ++counters_.steps;
  counters_.aborted_steps += aborted ? 1 : 0;
  step_clock_.end();
}

void Executor::seek(std::uint32_t unit) {
  const auto& positions = program_->positions;
  on_plan_ = next_ < positions.size() && positions[next_].unit == unit;
  if (on_plan_) return;
  clean_step_ = false;
  if (counting_) ++counters_.mispredictions;
  const auto found = std::find_if(positions.begin() + next_, positions.end(),
                                  [unit](const Position& position) { return position.unit == unit; });
  if (found == positions.end()) return;
  // A later unit than expected: the skipped ones count as ended.
  const auto target = static_cast<std::uint32_t>(found - positions.begin());
  while (next_ < target) finish(positions[next_++], false);
  if (!deviants_.empty()) reconcile(Reason::restore);
  on_plan_ = true;
}

void Executor::require_readable(std::uint32_t unit) const {
  for (const UnitUse& use : uses_[unit]) {
    const ItemState& state = residency_.items()[use.item];
    if (state.transient && !state.live && plan::reads(use.mode)) {
      fail(HOIST_ERROR_STALE,
           text("unit ", unit, " reads transient tensor \"", state.name,
                "\", which this step has not written or which is "
                "past its last use"),
           "run the unit that writes it first");
    }
  }
}

void Executor::fetch(std::uint32_t unit) {
  const auto& uses = uses_[unit];
  // Bringing one item may take another's place; the demand places of a unit do not overlap, so this ends.
  bool brought = false;
  for (bool complete = false; !complete;) {
    complete = true;
    for (std::size_t k = 0; k < uses.size(); ++k) {
      if (residency_.items()[uses[k].item].place.set) continue;
      complete = false;
      brought = true;
      bring(uses[k], program_->demand[program_->unit_demand[unit].first + k]);
    }
  }
  if (brought) residency_.close_loads();
}

// Where a unit's item goes that is not there: as planned where the plan has just that, else to its own place.
const Place* Executor::planned_place(const UnitUse& use) const {
  const Place& birth = program_->births[use.item];
  const bool born = on_plan_ && !plan::reads(use.mode) && birth.set;
  const Place& planned = born ? birth : planned_[use.item];
  return planned.set && residency_.is_free(use.item, planned) ? &planned : nullptr;
}

void Executor::bring(const UnitUse& use, const Place& demand) {
  ItemState& state = residency_.items()[use.item];
  const bool birth = !plan::reads(use.mode);
  const Place* planned = planned_place(use);
  const Place place = planned != nullptr ? *planned : demand;
  if (planned == nullptr || !birth) deviates(use.item);
  for (std::uint32_t other = residency_.occupant(use.item, place); other != no_index;
       other = residency_.occupant(use.item, place)) {
    deviates(other);
    residency_.drop(other, Reason::demand);
  }
  if (birth) {
    residency_.birth(use.item, place);
    born_.push_back(use.item);
    if (on_plan_ && program_->births[use.item].same(place)) planned_[use.item] = place;
    return;
  }
  residency_.load(use.item, place, Reason::demand);
  counters_.demand_loads += counting_ && state.bytes != 0 ? 1 : 0;
}

// A unit that could not begin has written nothing: what it was to bring into being is not there.
void Executor::undo_births() noexcept {
  for (std::uint32_t item : born_) {
    ItemState& state = residency_.items()[item];
    state.dirty = false;
    try {
      residency_.drop(item, Reason::demand);
    } catch (const std::exception& error) {
      log(HOIST_LOG_WARNING, "tensor \"", state.name, "\" could not be dropped: ", error.what());
    }
  }
  born_.clear();
}

void Executor::wait_for_bytes(std::uint32_t unit) {
  Residency::Needs needs;
  for (const UnitUse& use : uses_[unit]) residency_.add_needs(use.item, plan::writes(use.mode), needs);
  residency_.wait_for(needs);
}

void Executor::open_access(std::uint32_t unit, void* stream) {
  accessed_.clear();
  if (!device_->has(HOIST_CAPABILITY_ACCESS)) return;
  accessed_.reserve(uses_[unit].size());
  for (const UnitUse& use : uses_[unit]) {
    const ItemState& state = residency_.items()[use.item];
    if (state.bytes == 0) continue;
    device_->access_begin(stream, residency_.address(state), state.bytes);
    accessed_.push_back({residency_.address(state), state.bytes});
  }
}

void Executor::close_access(void* stream) noexcept {
  for (const Accessed& it : accessed_) {
    try {
      device_->access_end(stream, it.memory, it.bytes);
    } catch (const std::exception& error) {
      log(HOIST_LOG_WARNING, "pages of a unit stay open: ", error.what());
    }
  }
  accessed_.clear();
}

// Transients leave by themselves at their last use. One that a later unit might read yet, out of order, goes to
// the host instead, until the step ends.
void Executor::let_go(const Position& position, bool ran) {
  for (std::uint32_t index = position.expiring.first; index < position.expiring.last; ++index) {
    const Expiry& expiry = program_->expiring[index];
    planned_[expiry.item] = Place{};
    if (ran && !expiry.lingers) {
      residency_.expire(expiry.item);
    } else {
      attempt(expiry.item, [&] { residency_.drop(expiry.item, Reason::demand); });
    }
  }
}

// Where an op is refused nothing is lost: the item is where it was, and is brought to where it should be later.
template <typename Op>
void Executor::attempt(std::uint32_t item, const Op& op) {
  try {
    op();
  } catch (const std::exception& error) {
    ++counters_.refused_ops;
    deviates(item);
    log(HOIST_LOG_WARNING, "an op on \"", residency_.items()[item].name, "\" was refused: ", error.what());
  }
}

void Executor::prefetch(std::uint32_t index) const noexcept {
  if (index >= program_->ops.size()) return;
  const ProgramOp& op = program_->ops[index];
  residency_.prefetch(op.item, op.place);
  __builtin_prefetch(&planned_[op.item]);
}

// Transients leave before the ops that take their places. A mark is recorded where a unit has all of its bytes: whoever
// waits for an earlier load of it waits for that too.
void Executor::finish(const Position& position, bool ran) {
  let_go(position, ran);
  residency_.gather_loads(true, position.batches);
  for (std::uint32_t index = position.ops.first; index < position.ops.last; ++index) {
    const ProgramOp& op = program_->ops[index];
    prefetch(index + 1);
    attempt(op.item, [&] { submit(op); });
    if (op.completes) residency_.close_loads();
  }
  residency_.gather_loads(false);
  if (!residency_.refused().empty()) make_up_for_refused();
}

// Gathered loads are refused later than they were asked for.
void Executor::make_up_for_refused() {
  for (std::uint32_t item : residency_.refused()) {
    ++counters_.refused_ops;
    deviates(item);
  }
  residency_.refused().clear();
}

void Executor::submit(const ProgramOp& op) {
  switch (op.kind) {
    case plan::OpKind::drop:
      planned_[op.item] = Place{};
      residency_.drop(op.item, Reason::plan);
      break;
    case plan::OpKind::load:
      planned_[op.item] = op.place;
      if (residency_.items()[op.item].place.set && !residency_.items()[op.item].place.same(op.place)) {
        deviates(op.item);
        break;
      }
      residency_.load(op.item, op.place, Reason::plan);
      break;
    case plan::OpKind::store:
      residency_.store(op.item, Reason::plan);
      break;
  }
}

void Executor::end_transients() {
  auto& items = residency_.items();
  for (std::uint32_t item = 0; item < items.size(); ++item) {
    if (!items[item].transient || (!items[item].live && !items[item].place.set)) continue;
    planned_[item] = Place{};
    residency_.expire(item);
  }
}

void Executor::deviates(std::uint32_t item) {
  if (is_deviant_[item]) return;
  is_deviant_[item] = true;
  deviants_.push_back(item);
}

bool Executor::settle(std::uint32_t item, Reason reason, bool loads) {
  ItemState& state = residency_.items()[item];
  const Place& planned = planned_[item];
  try {
    if (!loads && state.place.set && !state.place.same(planned)) residency_.drop(item, reason);
    if (loads && planned.set && !state.place.set) residency_.load(item, planned, reason);
    return true;
  } catch (const std::exception& error) {
    ++counters_.refused_ops;
    log(HOIST_LOG_WARNING, "\"", state.name, "\" could not be brought to where the plan has it: ", error.what());
    return false;
  }
}

void Executor::reconcile(Reason reason) {
  for (std::uint32_t item : deviants_) settle(item, reason, false);
  std::size_t kept = 0;
  for (std::uint32_t item : deviants_) {
    const bool settled = settle(item, reason, true) && (planned_[item].set || !residency_.items()[item].place.set);
    is_deviant_[item] = !settled;
    if (!settled) deviants_[kept++] = item;
  }
  deviants_.resize(kept);
  residency_.close_loads();
}

void Executor::check_trust() {
  if (!options_.trust) return;
  const std::uint32_t corrupt = residency_.take_corrupt();
  if (corrupt != no_index) {
    ItemState& state = residency_.items()[corrupt];
    residency_.drop(corrupt, Reason::restore);
    deviates(corrupt);
    fail(HOIST_ERROR_CORRUPT,
         text("tensor \"", state.name,
              "\" on the device differed from its host copy, though no unit that writes it has run"),
         "say read-write for the unit that writes it; its bytes are loaded again from the host copy");
  }
}

// One resident item a step: poison does not see a write into bytes that stay.
void Executor::check_resident() {
  const auto& initial = program_->initial;
  if (!options_.trust || initial.empty()) return;
  next_check_ = static_cast<std::uint32_t>((next_check_ + 1) % initial.size());
  residency_.check(initial[next_check_].item);
}

}  // namespace hoist
