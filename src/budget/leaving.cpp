// SPDX-License-Identifier: Apache-2.0
// Members that go while others stay.
#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "budget/budget.hpp"

namespace hoist {

// A step that is open is not only the member's: where others can end it, the member goes with its end.
bool Budget::stays_for_step(const BudgetMember* member) const {
  if (!executor_ || !executor_->in_step() || !member->may_go_later()) return false;
  return std::any_of(members_.begin(), members_.end(), [&](const BudgetMember* other) {
    const auto is_leaving = [&](const auto& leaving) { return leaving.get() == other; };
    return other != member && std::none_of(leaving_.begin(), leaving_.end(), is_leaving);
  });
}

void Budget::end(std::unique_ptr<BudgetMember> member) {
  if (stays_for_step(member.get())) return leaving_.push_back(std::move(member));
  member.reset();
  // Nobody is left who could end the step for those that wait for it, or it has been given up.
  if (!executor_ || !executor_->in_step() || leaving_.size() == members_.size()) let_go();
}

void Budget::let_go() noexcept { std::exchange(leaving_, {}).clear(); }

// Before memory goes: everything to the host. A device that refuses once is asked again.
void Budget::bring_home() noexcept {
  for (bool again = true;; again = false) {
    try {
      if (executor_->in_step()) give_up_step();
      if (phase_ != Phase::suspended) executor_->evacuate();
      return;
    } catch (const std::exception& error) {
      if (again) continue;
      return log(HOIST_LOG_ERROR,
                 "bytes that units wrote may be lost, the device refused to store them: ", error.what());
    }
  }
}

// The items of those that stay, by their new numbers.
void Budget::carry(const std::vector<ItemState>& states, const std::vector<std::uint32_t>& item_ids) {
  carried_.assign(catalog_.items().size(), ItemState{});
  for (std::size_t item = 0; item < states.size(); ++item) {
    const ItemState& state = states[item];
    if (item_ids[item] != no_index) {
      carried_[item_ids[item]] = state;
    } else if (state.transient) {
      pinned_.release(state.host);  // taken by a store that no plan foresaw
    }
  }
}

void Budget::leave(BudgetMember* member, const std::vector<bool>& units, const std::vector<bool>& items) {
  members_.erase(std::remove(members_.begin(), members_.end(), member), members_.end());
  const auto any = [](const std::vector<bool>& flags) {
    return std::find(flags.begin(), flags.end(), true) != flags.end();
  };
  if (!any(units) && !any(items)) return;  // the others need not notice
  asleep_ = asleep_ || phase_ == Phase::suspended;
  end_replays();
  if (executor_ && swapped_) bring_home();
  pending_.reset();
  forget(units, items);
  swapped_ = false;
  phase_ = Phase::building;
  try {
    recommit();
  } catch (const std::exception& error) {
    log(HOIST_LOG_WARNING, "a manager left its budget; the others go on at their next step: ", error.what());
  }
}

void Budget::forget(const std::vector<bool>& units, const std::vector<bool>& items) {
  std::vector<ItemState> states = executor_ ? executor_->residency().items() : carried_;
  if (executor_) {
    try {
      collect_watched();
    } catch (const std::exception& error) {
      log(HOIST_LOG_WARNING, "a trace lost its newest intervals: ", error.what());
    }
    name_recorded();
    carried_counters_ = executor_->counters();
    carried_ledger_ = executor_->residency().ledger();
  }
  executor_.reset();  // before the catalog changes: it refers to the uses
  std::vector<std::uint32_t> unit_ids;
  std::vector<std::uint32_t> item_ids;
  catalog_.remove(units, items, unit_ids, item_ids);
  for (BudgetMember* other : members_) other->renumber(unit_ids, item_ids);
  if (timing_) timing_ = new_timing(timing_limit_);
  carry(states, item_ids);
  measure_.forget();
}

// After a member has left. Where it fails the next step begins with another try.
void Budget::recommit() {
  const bool others = std::any_of(members_.begin(), members_.end(), [](auto* m) { return m->committed(); });
  if (phase_ != Phase::building || !others) return;
  commit({});
  if (asleep_ && phase_ != Phase::building) suspend();
  asleep_ = false;
}

}  // namespace hoist
