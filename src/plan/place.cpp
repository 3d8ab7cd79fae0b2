// SPDX-License-Identifier: Apache-2.0
#include "plan/place.hpp"

#include <algorithm>

#include "plan/field.hpp"
#include "plan/stores.hpp"

namespace hoist::plan {
namespace {

class Placer {
 public:
  Placer(const Model& model, Draft& draft, const PlaceOptions& options)
      : model_(model),
        draft_(draft),
        options_(options),
        field_(model.units),
        birth_(model.problem.items.size(), nowhere) {}

  bool run() {
    std::vector<Stay> stays = stays_of(model_, draft_);
    put_permanent(stays);
    if (bottom_ > model_.arena) return false;
    if (options_.echo) tails_ = store_tails(model_, draft_, stays);
    sort(stays);
    for (std::uint32_t retry = 0;; ++retry) {
      const std::size_t failed = put_all(stays);
      if (failed == stays.size()) return true;
      if (retry == options_.retries || failed == 0) return false;
      std::rotate(stays.begin(), stays.begin() + static_cast<std::ptrdiff_t>(failed),
                  stays.begin() + static_cast<std::ptrdiff_t>(failed) + 1);
      shorten(stays, retry < 2 ? 4 >> retry : 1);
    }
  }

 private:
  void put_permanent(std::vector<Stay>& stays) {
    for (const Stay& stay : stays) {
      if (stay.in != none) continue;
      draft_.offset[model_.gaps_begin[stay.item]] = bottom_;
      bottom_ += stay.size;
    }
    stays.erase(std::remove_if(stays.begin(), stays.end(), [](const Stay& stay) { return stay.in == none; }),
                stays.end());
  }

  void sort(std::vector<Stay>& stays) const {
    const auto key = [&](const Stay& stay) -> std::uint64_t {
      switch (options_.order) {
        case PlaceOrder::size:
          return stay.size;
        case PlaceOrder::area:
          return stay.size * stay.length;
        case PlaceOrder::length:
          return stay.length;
        case PlaceOrder::time:
          return model_.units - stay.start;
      }
      return 0;
    };
    std::stable_sort(stays.begin(), stays.end(), [&](const Stay& a, const Stay& b) {
      if (key(a) != key(b)) return key(a) > key(b);
      return a.size != b.size ? a.size > b.size : a.start < b.start;
    });
  }

  // How many found a place, in order: all, or the index of the first that did not.
  std::size_t put_all(const std::vector<Stay>& stays) {
    field_.clear();
    std::fill(birth_.begin(), birth_.end(), nowhere);
    echoes_.assign(options_.echo ? model_.units : 0, {});
    for (std::size_t i = 0; i < stays.size(); ++i) {
      if (!put(stays[i])) return i;
    }
    return stays.size();
  }

  void shorten(std::vector<Stay>& stays, std::uint32_t most) {
    for (Stay& stay : stays) {
      if (!model_.gaps[stay.in].loads || draft_.ahead[stay.in] <= most) continue;
      const std::uint32_t less = draft_.ahead[stay.in] - most;
      draft_.ahead[stay.in] = most;
      stay.length -= less;
      stay.start = model_.wrap(std::int64_t{stay.start} + less);
    }
  }

  bool put(Stay stay) {
    const Gap& in = model_.gaps[stay.in];
    const std::uint32_t tail = options_.echo ? tails_[stay.out] : stay.written >= 0 ? options_.tail : 0;
    std::uint32_t wait = 0;  // units for which a store may still have the place
    for (;;) {
      const std::uint64_t offset = find(stay, tail > wait ? tail - wait : 0, wait);
      if (offset != nowhere) {
        settle(stay, offset, tail);
        return true;
      }
      if (!options_.echo && wait < tail) {
        wait = tail;
      } else if (in.loads && draft_.ahead[stay.in] > 1) {
        const std::uint32_t less = (draft_.ahead[stay.in] + 7) / 8;
        draft_.ahead[stay.in] -= less;
        stay.length -= less;
        stay.start = model_.wrap(std::int64_t{stay.start} + less);
      } else if (options_.echo && wait < model_.units) {
        wait = std::max(2U, 4 * wait);
      } else {
        return false;
      }
    }
  }

  void settle(const Stay& stay, std::uint64_t offset, std::uint32_t tail) {
    draft_.offset[stay.in] = offset;
    if (!model_.gaps[stay.in].loads) birth_[stay.item] = offset;
    if (stay.size == 0) return;
    field_.add(stay.start, stay.length, {offset, offset + stay.size});
    if (!options_.echo) return;
    std::uint32_t unit = model_.wrap(std::int64_t{stay.start} + stay.length);
    for (std::uint32_t k = 0; k < tail; ++k, unit = unit + 1 == model_.units ? 0 : unit + 1) {
      join(echoes_[unit], {offset, offset + stay.size});
    }
  }

  std::uint64_t find(const Stay& stay, std::uint32_t tail, std::uint32_t wait) {
    const std::uint32_t length = std::min(stay.length + tail, model_.units);
    if (stay.size == 0) return birth_[stay.item] != nowhere ? birth_[stay.item] : 0;
    const bool fixed = !model_.gaps[stay.in].loads && birth_[stay.item] != nowhere;
    if (!fixed) {
      const Row& met = with_echoes(field_.meets(stay.start, length), stay.start, wait);
      if (options_.split && model_.problem.items[stay.item].transient) {
        return highest_hole(met, stay.size, bottom_, model_.arena);
      }
      return hole(met, stay.size, bottom_, model_.arena, options_.best_fit);
    }
    // All births of an item have one place.
    const std::uint64_t at = birth_[stay.item];
    const auto& met = field_.meets(stay.start, length);
    const bool taken =
        std::any_of(met.begin(), met.end(), [&](const Taken& it) { return it.begin < at + stay.size && at < it.end; });
    return taken ? nowhere : at;
  }

  // What stores have for more than `wait` units from the start on is met, too.
  const Row& with_echoes(const Row& met, std::uint32_t start, std::uint32_t wait) {
    if (!options_.echo || wait >= model_.units) return met;
    const Row& echoes = echoes_[(start + wait) % model_.units];
    if (echoes.empty()) return met;
    both_.resize(met.size() + echoes.size());
    std::merge(met.begin(), met.end(), echoes.begin(), echoes.end(), both_.begin(), lower);
    return both_;
  }

  const Model& model_;
  Draft& draft_;
  const PlaceOptions& options_;
  Field field_;
  std::vector<std::uint64_t> birth_;  // by item
  std::uint64_t bottom_ = 0;
  std::vector<std::uint32_t> tails_;  // by gap
  std::vector<Row> echoes_;           // by unit: what stores still have
  Row both_;
};

}  // namespace

bool place(const Model& model, Draft& draft, const PlaceOptions& options) {
  return Placer(model, draft, options).run();
}

void grow_in_place(const Model& model, Draft& draft, const std::vector<std::uint32_t>& most) {
  const std::vector<Stay> stays = stays_of(model, draft);
  Field field(model.units);
  std::vector<const Stay*> loads;
  for (const Stay& stay : stays) {
    if (stay.in == none || stay.size == 0) continue;
    const std::uint64_t offset = draft.offset[stay.in];
    field.add(stay.start, stay.length, {offset, offset + stay.size});
    if (model.gaps[stay.in].loads) loads.push_back(&stay);
  }
  std::stable_sort(loads.begin(), loads.end(), [](const Stay* a, const Stay* b) { return a->first < b->first; });
  // What is blocked once stays so: places only fill up.
  const auto is_stuck = [&](const Stay* stay) {
    std::uint32_t& ahead = draft.ahead[stay->in];
    const Gap& gap = model.gaps[stay->in];
    if (ahead >= most[stay->in] || ahead + draft.late[stay->in] >= gap.between) return true;
    const std::uint32_t unit = model.wrap(std::int64_t{gap.to} - ahead);
    const Taken mine{draft.offset[stay->in], draft.offset[stay->in] + stay->size};
    if (!field.is_free(unit, mine)) return true;
    field.add(unit, 1, mine);
    ++ahead;
    return false;
  };
  while (!loads.empty()) loads.erase(std::remove_if(loads.begin(), loads.end(), is_stuck), loads.end());
}

}  // namespace hoist::plan
