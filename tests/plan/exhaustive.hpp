// SPDX-License-Identifier: Apache-2.0
// The best of all plans of a tiny problem: every set of evicted gaps, every launch of every load, every delay of
// every store; places by first fit in many orders. Slow, and shares only the simulator with the solver's decisions.
#pragma once

#include <limits>

#include "plan/model.hpp"
#include "plan/place.hpp"
#include "plan/planner.hpp"
#include "plan/simulate.hpp"

namespace hoist::plan {

class Exhaustive {
 public:
  explicit Exhaustive(const Problem& problem) : model_(problem) {
    for (std::uint32_t g = 0; g < model_.gaps.size(); ++g) {
      if (model_.can_evict(model_.gaps[g])) movable_.push_back(g);
    }
  }

  [[nodiscard]] std::size_t movable() const { return movable_.size(); }

  double best_us() {
    for (std::uint32_t set = 0; set < 1U << movable_.size(); ++set) {
      Draft draft = keep_everything(model_);
      for (std::size_t i = 0; i < movable_.size(); ++i) draft.evicted[movable_[i]] = (set >> i & 1) != 0 ? 1 : 0;
      times(draft, 0);
    }
    return best_;
  }

 private:
  // All launches and delays of gap g and those after it.
  void times(Draft& draft, std::uint32_t g) {
    if (g == model_.gaps.size()) {
      attempt(draft);
      return;
    }
    const Gap& gap = model_.gaps[g];
    const std::uint32_t room = draft.evicted[g] != 0 ? gap.between : 0;
    const std::uint32_t most_ahead = gap.loads ? std::max(room, 1U) : 1;
    const std::uint32_t most_late = gap.outside || room == 0 ? 0 : room - 1;
    for (std::uint32_t ahead = 1; ahead <= most_ahead; ++ahead) {
      for (std::uint32_t late = 0; late <= most_late && ahead + late <= std::max(room, 1U); ++late) {
        draft.ahead[g] = ahead;
        draft.late[g] = late;
        times(draft, g + 1);
      }
    }
    draft.ahead[g] = 1;
    draft.late[g] = 0;
  }

  void attempt(const Draft& draft) {
    for (const std::uint64_t bytes : occupancy(model_, draft)) {
      if (bytes > model_.arena) return;
    }
    for (const PlaceOrder order : {PlaceOrder::size, PlaceOrder::time, PlaceOrder::length, PlaceOrder::area}) {
      Draft placed = draft;
      PlaceOptions options;
      options.order = order;
      if (!place(model_, placed, options) || placed.ahead != draft.ahead) continue;
      const Plan plan = emit(model_, placed, stays_of(model_, placed));
      best_ = std::min(best_, simulate(model_.problem, compile(model_.problem, model_.uses, plan), {}).step_us);
    }
  }

  Model model_;
  std::vector<std::uint32_t> movable_;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace hoist::plan
