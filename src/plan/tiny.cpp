// SPDX-License-Identifier: Apache-2.0
#include "plan/tiny.hpp"

#include <algorithm>
#include <limits>

#include "plan/launch.hpp"

namespace hoist::plan {
namespace {

constexpr std::array orders = {PlaceOrder::time, PlaceOrder::size, PlaceOrder::length, PlaceOrder::area};

class Tiny {
 public:
  Tiny(Workshop& workshop, double bound_us, std::uint64_t tries)
      : workshop_(workshop), model_(workshop.model), bound_us_(bound_us), tries_(tries) {}

  bool try_all(std::uint64_t most) {
    double count = 1;
    for (const Gap& gap : model_.gaps) count *= static_cast<double>(choices(gap));
    if (count > static_cast<double>(most)) return false;
    Draft draft = keep_everything(model_);
    current_us_ = workshop_.best_us();
    each(draft, 0);
    return true;
  }

  // From the best draft; from everything evicted too, as the best may be the naive plan, or a dead end.
  void refine() {
    if (workshop_.best_is_draft()) {
      draft_ = workshop_.best_draft();
      current_us_ = workshop_.best_us();
      descend();
    }
    draft_ = keep_everything(model_);
    for (std::uint32_t g = 0; g < model_.gaps.size(); ++g) {
      if (model_.can_evict(model_.gaps[g])) draft_.evicted[g] = 1;
    }
    current_us_ = std::numeric_limits<double>::infinity();
    (void)accept(draft_);
    descend();
  }

 private:
  void descend() {
    for (bool better = true; better && !is_over();) {
      better = false;
      for (std::uint32_t g = 0; g < model_.gaps.size() && !is_over(); ++g) better |= change(g);
      if (!better) better = swap_any();
    }
  }

  [[nodiscard]] bool is_over() const { return tries_ == 0 || workshop_.best_us() <= bound_us_ * (1 + 1e-9); }

  [[nodiscard]] static std::uint32_t most_ahead(const Gap& gap) { return gap.loads ? std::max(gap.between, 1U) : 1; }
  [[nodiscard]] static std::uint32_t most_late(const Gap& gap) {
    return gap.outside || gap.between == 0 ? 0 : gap.between - 1;
  }

  // Kept, or evicted with a launch and a delay that do not meet.
  [[nodiscard]] std::uint64_t choices(const Gap& gap) const {
    std::uint64_t count = model_.can_evict(gap) ? 1 : 0;
    if (!model_.can_evict(gap) && !gap.outside) return 1;
    for (std::uint32_t ahead = 1; ahead <= most_ahead(gap); ++ahead) {
      for (std::uint32_t late = 0; late <= most_late(gap); ++late) count += is_apart(gap, ahead, late) ? 1 : 0;
    }
    return count;
  }

  [[nodiscard]] static bool is_apart(const Gap& gap, std::uint32_t ahead, std::uint32_t late) {
    return late == 0 || ahead + late <= gap.between;
  }

  void each(Draft& draft, std::uint32_t g) {
    if (workshop_.best_us() <= bound_us_ * (1 + 1e-9)) return;
    if (g == model_.gaps.size()) {
      attempt(draft);
      return;
    }
    const Gap& gap = model_.gaps[g];
    if (!gap.outside) {
      draft.evicted[g] = 0;
      each(draft, g + 1);
      if (!model_.can_evict(gap)) return;
    }
    draft.evicted[g] = 1;
    for (draft.ahead[g] = 1; draft.ahead[g] <= most_ahead(gap); ++draft.ahead[g]) {
      for (draft.late[g] = 0; draft.late[g] <= most_late(gap); ++draft.late[g]) {
        if (is_apart(gap, draft.ahead[g], draft.late[g])) each(draft, g + 1);
      }
    }
    draft.ahead[g] = 1;
    draft.late[g] = 0;
  }

  // Whether it beats what the descent stands on. Bytes and link time refuse most drafts at little cost.
  bool attempt(const Draft& draft) {
    if (copies_us(model_, draft) >= current_us_) return false;
    const auto bytes = occupancy(model_, draft);
    if (*std::max_element(bytes.begin(), bytes.end()) > model_.arena) return false;
    const double before = current_us_;
    for (const PlaceOrder order : orders) {
      if (tries_ > 0) --tries_;
      PlaceOptions options;
      options.order = order;
      const std::optional<double> time = workshop_.try_draft(draft, draft.ahead, options);
      if (time) current_us_ = std::min(current_us_, *time);
      if (time && order == PlaceOrder::time && *time >= before * 1.3) break;  // no place makes up for that
    }
    return current_us_ < before;
  }

  bool accept(const Draft& draft) {
    if (!attempt(draft)) return false;
    draft_ = draft;
    return true;
  }

  // Every other choice for one gap.
  bool change(std::uint32_t g) {
    const Gap& gap = model_.gaps[g];
    if (!model_.can_evict(gap) && !gap.outside) return false;
    bool better = false;
    if (!gap.outside && draft_.evicted[g] != 0) {
      Draft draft = draft_;
      set(draft, g, 0, 1, 0);
      better |= accept(draft);
    }
    for (std::uint32_t ahead = 1; ahead <= most_ahead(gap); ++ahead) {
      for (std::uint32_t late = 0; late <= most_late(gap) && !is_over(); ++late) {
        const bool same = draft_.evicted[g] != 0 && draft_.ahead[g] == ahead && draft_.late[g] == late;
        if (same || !is_apart(gap, ahead, late)) continue;
        Draft draft = draft_;
        set(draft, g, 1, ahead, late);
        better |= accept(draft);
      }
    }
    return better;
  }

  static void set(Draft& draft, std::uint32_t g, char evicted, std::uint32_t ahead, std::uint32_t late) {
    draft.evicted[g] = evicted;
    draft.ahead[g] = ahead;
    draft.late[g] = late;
  }

  // One evicted gap comes back for a kept one that goes.
  bool swap_any() {
    for (std::uint32_t back = 0; back < model_.gaps.size(); ++back) {
      if (!model_.can_evict(model_.gaps[back]) || draft_.evicted[back] == 0) continue;
      for (std::uint32_t gone = 0; gone < model_.gaps.size() && !is_over(); ++gone) {
        if (!model_.can_evict(model_.gaps[gone]) || draft_.evicted[gone] != 0) continue;
        Draft draft = draft_;
        set(draft, back, 0, 1, 0);
        set(draft, gone, 1, most_ahead(model_.gaps[gone]), 0);
        if (accept(draft)) return true;
        set(draft, gone, 1, 1, 0);
        if (accept(draft)) return true;
      }
    }
    return false;
  }

  Workshop& workshop_;
  const Model& model_;
  const double bound_us_;
  std::uint64_t tries_;
  double current_us_ = 0;
  Draft draft_;
};

}  // namespace

bool try_all(Workshop& workshop, double bound_us, std::uint64_t most) {
  return Tiny(workshop, bound_us, 0).try_all(most);
}

void refine(Workshop& workshop, double bound_us, std::uint64_t tries) { Tiny(workshop, bound_us, tries).refine(); }

}  // namespace hoist::plan
