// SPDX-License-Identifier: Apache-2.0
#include "plan/search.hpp"

#include <algorithm>

#include "plan/launch.hpp"
#include "plan/random.hpp"
#include "plan/sizes.hpp"

namespace hoist::plan {
namespace {

class Search {
 public:
  Search(Workshop& workshop, double bound_us, std::uint64_t tries)
      : workshop_(workshop),
        model_(workshop.model),
        bound_us_(bound_us),
        tries_(tries),
        draft_(workshop.best_draft()),
        options_(workshop.best_options()),
        most_(needed_leads(model_, draft_, std::max(model_.compute_us, copies_us(model_, draft_)))) {
    for (std::uint32_t& lead : most_) lead = 2 * lead + 8;
    for (std::uint32_t g = 0; g < model_.gaps.size(); ++g) {
      if (model_.can_evict(model_.gaps[g])) movable_.push_back(g);
    }
    by_unit_.resize(model_.units);
    for (const std::uint32_t g : movable_) by_unit_[model_.gaps[g].to].push_back(g);
  }

  void run_timed(double threshold) {
    if (movable_.empty()) return;
    std::optional<double> current = workshop_.time_of(draft_, most_);
    if (!current) return;
    const std::uint64_t all = tries_;
    for (std::uint64_t proposals = 0; tries_ > 0 && proposals < 8 * all && !is_done(); ++proposals) {
      Draft draft = draft_;
      if (!change(draft)) continue;
      const double most = *current * (1 + threshold * static_cast<double>(tries_) / static_cast<double>(all) *
                                              random_.below(1 << 20) / (1 << 20));
      if (copies_us(model_, draft) >= most) continue;
      --tries_;
      std::optional<double> time = workshop_.time_of(draft, most_);
      if (!time || *time > most) continue;
      if (*time < workshop_.best_us()) time = workshop_.try_timed(draft, most_);
      if (!time || *time > most) continue;
      current = time;
      draft_ = std::move(draft);
    }
  }

  void run() {
    if (movable_.empty()) return;
    // Most proposals are refused by bytes or link time alone, which costs little.
    const std::uint64_t most = most_proposals();
    for (std::uint64_t proposals = 0; tries_ > 0 && proposals < most && !is_done(); ++proposals) {
      Draft draft = draft_;
      if (!change(draft)) continue;
      if (!is_promising(draft)) continue;
      attempt(std::move(draft));
    }
  }

 private:
  // A proposal costs about as much as the problem is large.
  [[nodiscard]] std::uint64_t most_proposals() const {
    return std::clamp<std::uint64_t>(30'000'000 / (model_.gaps.size() + model_.units), 500, 60'000);
  }

  [[nodiscard]] bool is_done() const { return workshop_.best_us() <= bound_us_ * (1 + 1e-6); }

  std::uint32_t pick(bool evicted, const Draft& draft, const std::vector<std::uint32_t>& from) {
    for (int i = 0; i < 32; ++i) {
      const std::uint32_t g = from[random_.below(from.size())];
      if ((draft.evicted[g] != 0) == evicted) return g;
    }
    return none;
  }

  bool toggle(Draft& draft, std::uint32_t g) {
    if (g == none) return false;
    draft.evicted[g] = draft.evicted[g] != 0 ? 0 : 1;
    return true;
  }

  // Another time for the store of an evicted gap.
  bool retime(Draft& draft, std::uint32_t g) {
    if (g == none || !is_written(model_.problem.items[model_.gaps[g].item])) return false;
    draft.late[g] = random_.below(std::min(model_.gaps[g].between, 1 + model_.units / 3));
    draft.pause[g] = 0;
    return true;
  }

  // A few toggles: what comes back, and what goes for it, from the same unit or from any.
  bool change(Draft& draft) {
    const std::uint32_t kind = random_.below(14);
    if (kind == 0) return toggle(draft, pick(false, draft, movable_));
    if (kind >= 12) return retime(draft, pick(true, draft, movable_));
    const std::uint32_t back = pick(true, draft, movable_);
    if (!toggle(draft, back)) return false;
    if (kind <= 3) return true;
    const auto& from = kind <= 6 ? by_unit_[model_.gaps[back].to] : movable_;
    const std::uint32_t gone = kind <= 9 ? 1 + kind % 2 : 2 + random_.below(4);
    for (std::uint32_t i = 0; i < gone; ++i) {
      if (!toggle(draft, pick(false, draft, i == 0 ? from : movable_))) return false;
    }
    return true;
  }

  [[nodiscard]] bool is_promising(const Draft& draft) const {
    if (copies_us(model_, draft) >= workshop_.best_us()) return false;
    Draft bare = draft;
    std::fill(bare.ahead.begin(), bare.ahead.end(), 1);
    const auto bytes = occupancy(model_, bare);
    return *std::max_element(bytes.begin(), bytes.end()) <= model_.arena;
  }

  void attempt(Draft draft) {
    --tries_;
    for (std::uint32_t g = 0; g < draft.late.size(); ++g) {
      if (draft.evicted[g] == 0) draft.late[g] = 0;
    }
    Draft launched = draft;
    grow(model_, launched, model_.arena, most_);
    const double before = workshop_.best_us();
    PlaceOptions options = options_;
    if (random_.below(4) == 0) {
      options.order = static_cast<PlaceOrder>(random_.below(4));
      options.grow = random_.below(2) == 0;
      options.by_offset = random_.below(2) == 0;
    }
    const std::optional<double> time = workshop_.try_draft(std::move(launched), most_, options);
    if (!time || *time > before) return;
    draft_ = std::move(draft);
    options_ = options;
  }

  Workshop& workshop_;
  const Model& model_;
  const double bound_us_;
  std::uint64_t tries_;
  Draft draft_;
  PlaceOptions options_;
  std::vector<std::uint32_t> most_;
  std::vector<std::uint32_t> movable_;
  std::vector<std::vector<std::uint32_t>> by_unit_;
  Random random_;
};

}  // namespace

void search_in_time(Workshop& workshop, double bound_us, std::uint64_t tries, double threshold) {
  if (!workshop.best_is_draft()) return;
  Search(workshop, bound_us, tries).run_timed(threshold);
}

void search(Workshop& workshop, double bound_us, std::uint64_t tries) {
  if (!workshop.best_is_draft()) return;
  Search(workshop, bound_us, tries).run();
}

}  // namespace hoist::plan
