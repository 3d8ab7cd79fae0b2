// SPDX-License-Identifier: Apache-2.0
#include "plan/rearrange.hpp"

#include <algorithm>
#include <numeric>

#include "plan/field.hpp"
#include "plan/launch.hpp"
#include "plan/random.hpp"
#include "plan/sizes.hpp"

namespace hoist::plan {
namespace {

class Rearranger {
 public:
  Rearranger(Workshop& workshop, double bound_us, std::uint64_t tries)
      : workshop_(workshop),
        model_(workshop.model),
        bound_us_(bound_us),
        tries_(tries),
        draft_(workshop.best_draft()),
        options_(workshop.best_options()),
        loose_(model_.problem.items.size(), 0) {
    for (std::uint32_t g = 0; g < model_.gaps.size(); ++g) {
      if (model_.can_evict(model_.gaps[g])) movable_.push_back(g);
    }
    by_unit_.resize(model_.units);
    for (const std::uint32_t g : movable_) by_unit_[model_.gaps[g].to].push_back(g);
    set_most();
    stand();
  }

  void run() {
    if (movable_.empty()) return;
    const std::uint64_t most = 8 * tries_;
    (void)workshop_.try_placed(Draft(draft_), options_);
    stalls_ = workshop_.last_stalls();
    for (std::uint64_t proposals = 0; tries_ > 0 && proposals < most && !is_done(); ++proposals) propose();
  }

 private:
  struct Standing {
    std::uint32_t item = 0;
    std::uint32_t start = 0;
    std::uint32_t length = 0;
    Taken place;
  };

  [[nodiscard]] bool is_done() const { return workshop_.best_us() <= bound_us_ * (1 + 1e-6); }

  void set_most() {
    most_ = needed_leads(model_, draft_, std::max(model_.compute_us, copies_us(model_, draft_)));
    for (std::uint32_t& lead : most_) lead = 2 * lead + 8;
  }

  void propose() {
    Draft draft = draft_;
    std::fill(loose_.begin(), loose_.end(), 0);
    change(draft);
    if (copies_us(model_, draft) >= workshop_.best_us()) return;
    if (!put_back(draft)) return;
    --tries_;
    PlaceOptions options = options_;
    if (random_.below(8) == 0) options.by_offset = !options.by_offset;
    if (random_.below(8) == 0) options.grow = !options.grow;
    if (options.grow) grow_in_place(model_, draft, most_);
    const double before = workshop_.best_us();
    if (workshop_.try_placed(Draft(draft), options) > before) return;
    draft_ = std::move(draft);
    options_ = options;
    stalls_ = workshop_.last_stalls();
    set_most();
    stand();
  }

  // A unit shortly before one that stalls, more often the longer it does; now and then any.
  std::uint32_t focus() {
    const double sum = std::accumulate(stalls_.begin(), stalls_.end(), 0.0);
    std::uint32_t unit = random_.below(model_.units);
    if (sum <= 0 || random_.below(3) == 0) return unit;
    double at = sum * random_.below(1 << 20) / (1 << 20);
    for (unit = 0; unit + 1 < model_.units && at >= stalls_[unit]; ++unit) at -= stalls_[unit];
    return model_.wrap(std::int64_t{unit} - random_.below(std::min(model_.units, 4U)));
  }

  // What goes and what comes back, another time for a store, or nothing but places.
  void change(Draft& draft) {
    const std::uint32_t kind = random_.below(10);
    const std::uint32_t unit = focus();
    if (kind < 6) {
      const std::uint32_t back = pick(true, draft, by_unit_[unit].empty() ? movable_ : by_unit_[unit]);
      if (kind != 0) flip(draft, back);
      const auto& near = back != none && kind < 4 ? by_unit_[model_.gaps[back].to] : movable_;
      for (std::uint32_t i = kind == 1 ? 0 : 1 + random_.below(2); i > 0; --i) flip(draft, pick(false, draft, near));
    } else if (kind < 8) {
      retime(draft, pick(true, draft, movable_));
    }
    for (std::uint32_t i = random_.below(kind < 8 ? 3 : 6); i > 0; --i) {
      const std::uint32_t begin = model_.uses.begin[unit];
      const std::uint32_t count = model_.uses.begin[unit + 1] - begin;
      if (count > 0) loose_[model_.uses.values[begin + random_.below(count)].item] = 1;
    }
  }

  std::uint32_t pick(bool evicted, const Draft& draft, const std::vector<std::uint32_t>& from) {
    for (int i = 0; i < 16 && !from.empty(); ++i) {
      const std::uint32_t g = from[random_.below(from.size())];
      if ((draft.evicted[g] != 0) == evicted) return g;
    }
    return none;
  }

  void flip(Draft& draft, std::uint32_t g) {
    if (g == none) return;
    draft.evicted[g] = draft.evicted[g] != 0 ? 0 : 1;
    draft.late[g] = draft.pause[g] = 0;
    draft.ahead[g] = 1;
    loose_[model_.gaps[g].item] = 1;
  }

  void retime(Draft& draft, std::uint32_t g) {
    if (g == none) return;
    const Gap& gap = model_.gaps[g];
    loose_[gap.item] = 1;
    if (!is_written(model_.problem.items[gap.item])) return;
    draft.ahead[g] = 1;
    draft.late[g] = random_.below(std::min(gap.between, 1 + model_.units / 3));
    draft.pause[g] = 0;
  }

  // What stands on the device, by offset: of the draft that proposals start from.
  void stand() {
    standing_.clear();
    for (const Stay& stay : stays_of(model_, draft_)) {
      if (stay.size > 0)
        standing_.push_back({stay.item, stay.start, stay.length, taken(stay, draft_.offset[key(stay)])});
    }
    std::stable_sort(standing_.begin(), standing_.end(),
                     [](const Standing& a, const Standing& b) { return a.place.begin < b.place.begin; });
  }

  // Everything but the loose items keeps its place; these seek one, the largest first or in any order.
  bool put_back(Draft& draft) {
    std::vector<Stay> loose = stays_of(model_, draft);
    loose.erase(std::remove_if(loose.begin(), loose.end(), [&](const Stay& stay) { return loose_[stay.item] == 0; }),
                loose.end());
    if (random_.below(2) == 0) {
      std::stable_sort(loose.begin(), loose.end(),
                       [](const Stay& a, const Stay& b) { return a.size * a.length > b.size * b.length; });
    } else {
      for (std::size_t i = loose.size(); i > 1; --i) std::swap(loose[i - 1], loose[random_.below(i)]);
    }
    placed_.clear();
    const bool best_fit = random_.below(2) == 0;
    return std::all_of(loose.begin(), loose.end(), [&](const Stay& stay) { return put(draft, stay, best_fit); });
  }

  [[nodiscard]] std::uint32_t key(const Stay& stay) const {
    return stay.in == none ? model_.gaps_begin[stay.item] : stay.in;
  }

  static Taken taken(const Stay& stay, std::uint64_t at) { return {at, at + stay.size}; }

  bool put(Draft& draft, Stay stay, bool best_fit) {
    if (stay.size == 0) return true;
    const bool born = stay.in != none && !model_.gaps[stay.in].loads;
    const bool several = born && has_several_births(stay.item);
    if (stay.in == none || born) return several ? false : settle(draft, stay, best_fit);
    // As early as before, or as it may; later where no place is free for so long.
    lengthen(draft, stay);
    while (!settle(draft, stay, best_fit)) {
      if (draft.ahead[stay.in] == 1) return false;
      const std::uint32_t less = (draft.ahead[stay.in] + 3) / 4;
      draft.ahead[stay.in] -= less;
      stay.length -= less;
      stay.start = model_.wrap(std::int64_t{stay.start} + less);
    }
    return true;
  }

  void lengthen(Draft& draft, Stay& stay) {
    const Gap& gap = model_.gaps[stay.in];
    const std::uint32_t room = gap.between > draft.late[stay.in] ? gap.between - draft.late[stay.in] : 1;
    const std::uint32_t ahead = std::max(1U, std::min(room, 1 + random_.below(most_[stay.in])));
    stay.length += ahead;
    stay.length -= draft.ahead[stay.in];
    stay.start = model_.wrap(std::int64_t{gap.to} - (ahead - 1));
    draft.ahead[stay.in] = ahead;
  }

  bool settle(Draft& draft, const Stay& stay, bool best_fit) {
    if (stay.length > model_.units) return false;
    met_.clear();
    for (const Standing& other : standing_) {
      if (loose_[other.item] == 0 && meets(other, stay)) met_.push_back(other.place);
    }
    for (const Standing& other : placed_) {
      if (meets(other, stay)) met_.insert(std::upper_bound(met_.begin(), met_.end(), other.place, lower), other.place);
    }
    const std::uint64_t at = hole(met_, stay.size, 0, model_.arena, best_fit);
    if (at == nowhere) return false;
    draft.offset[key(stay)] = at;
    placed_.push_back({stay.item, stay.start, stay.length, taken(stay, at)});
    return true;
  }

  // On the cycle: one begins while the other lasts.
  [[nodiscard]] bool meets(const Standing& a, const Stay& b) const {
    const std::uint32_t a_to_b = b.start >= a.start ? b.start - a.start : b.start + model_.units - a.start;
    const std::uint32_t b_to_a = a_to_b == 0 ? 0 : model_.units - a_to_b;
    return a_to_b < a.length || b_to_a < b.length;
  }

  [[nodiscard]] bool has_several_births(std::uint32_t item) const {
    const auto& uses = model_.problem.items[item].uses;
    return std::count_if(uses.begin(), uses.end(), [](const Use& use) { return !reads(use.mode); }) > 1;
  }

  Workshop& workshop_;
  const Model& model_;
  const double bound_us_;
  std::uint64_t tries_;
  Draft draft_;
  PlaceOptions options_;
  std::vector<Standing> standing_, placed_;
  Row met_;
  std::vector<char> loose_;     // by item: its stays seek new places
  std::vector<double> stalls_;  // by unit, of the draft
  std::vector<std::uint32_t> movable_, most_;
  std::vector<std::vector<std::uint32_t>> by_unit_;
  Random random_;
};

}  // namespace

void rearrange(Workshop& workshop, double bound_us, std::uint64_t tries) {
  if (workshop.best_is_draft()) Rearranger(workshop, bound_us, tries).run();
}

}  // namespace hoist::plan
