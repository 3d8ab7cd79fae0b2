// SPDX-License-Identifier: Apache-2.0
#include "plan/place.hpp"

#include <algorithm>

namespace hoist::plan {
namespace {

struct Taken {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

bool lower(const Taken& a, const Taken& b) { return a.begin < b.begin; }

// What is placed, by unit: the stretches that are taken there, by offset, and what begins there.
class Field {
 public:
  explicit Field(std::uint32_t units) : there_(units), begins_(units) {}

  void clear() {
    for (auto& row : there_) row.clear();
    for (auto& row : begins_) row.clear();
  }

  void add(std::uint32_t start, std::uint32_t length, Taken taken) {
    begins_[start].push_back(taken);
    const auto units = static_cast<std::uint32_t>(there_.size());
    for (std::uint32_t k = 0, u = start; k < length; ++k, u = u + 1 == units ? 0 : u + 1) join(there_[u], taken);
  }

  // Neighbours become one stretch, so that rows stay short.
  static void join(std::vector<Taken>& row, Taken taken) {
    auto next = std::upper_bound(row.begin(), row.end(), taken, lower);
    if (next != row.end() && next->begin == taken.end) {
      next->begin = taken.begin;
      if (next == row.begin() || std::prev(next)->end != taken.begin) return;
      std::prev(next)->end = next->end;
      row.erase(next);
    } else if (next != row.begin() && std::prev(next)->end == taken.begin) {
      std::prev(next)->end = taken.end;
    } else {
      row.insert(next, taken);
    }
  }

  // Everything that meets the units from start on, by offset.
  const std::vector<Taken>& meets(std::uint32_t start, std::uint32_t length) {
    const auto units = static_cast<std::uint32_t>(there_.size());
    later_.clear();
    for (std::uint32_t k = 1, u = start; k < length; ++k) {
      u = u + 1 == units ? 0 : u + 1;
      later_.insert(later_.end(), begins_[u].begin(), begins_[u].end());
    }
    if (later_.empty()) return there_[start];
    std::sort(later_.begin(), later_.end(), lower);
    met_.resize(there_[start].size() + later_.size());
    std::merge(there_[start].begin(), there_[start].end(), later_.begin(), later_.end(), met_.begin(), lower);
    return met_;
  }

 private:
  std::vector<std::vector<Taken>> there_, begins_;
  std::vector<Taken> later_, met_;
};

constexpr std::uint64_t nowhere = UINT64_MAX;

std::uint64_t hole(const std::vector<Taken>& met, std::uint64_t size, std::uint64_t bottom, std::uint64_t top,
                   bool best_fit) {
  std::uint64_t at = bottom;
  std::uint64_t found = nowhere;
  std::uint64_t tightest = nowhere;
  const auto look = [&](std::uint64_t end) {
    if (end < at || end - at < size || end - at >= tightest) return;
    found = at;
    tightest = best_fit ? end - at : 0;
  };
  for (const Taken& taken : met) {
    look(taken.begin);
    if (tightest == 0) return found;
    at = std::max(at, taken.end);
  }
  look(top);
  return found;
}

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
    std::uint32_t tail = stay.written >= 0 ? options_.tail : 0;
    for (;;) {
      const std::uint64_t offset = find(stay, tail);
      if (offset != nowhere) {
        draft_.offset[stay.in] = offset;
        if (!in.loads) birth_[stay.item] = offset;
        if (stay.size > 0) field_.add(stay.start, stay.length, {offset, offset + stay.size});
        return true;
      }
      if (tail > 0) {
        tail = 0;
      } else if (in.loads && draft_.ahead[stay.in] > 1) {
        const std::uint32_t less = (draft_.ahead[stay.in] + 7) / 8;
        draft_.ahead[stay.in] -= less;
        stay.length -= less;
        stay.start = model_.wrap(std::int64_t{stay.start} + less);
      } else {
        return false;
      }
    }
  }

  std::uint64_t find(const Stay& stay, std::uint32_t tail) {
    const std::uint32_t length = std::min(stay.length + tail, model_.units);
    if (stay.size == 0) return birth_[stay.item] != nowhere ? birth_[stay.item] : 0;
    const bool fixed = !model_.gaps[stay.in].loads && birth_[stay.item] != nowhere;
    if (!fixed) return hole(field_.meets(stay.start, length), stay.size, bottom_, model_.arena, options_.best_fit);
    // All births of an item have one place.
    const std::uint64_t at = birth_[stay.item];
    const auto& met = field_.meets(stay.start, length);
    const bool taken =
        std::any_of(met.begin(), met.end(), [&](const Taken& it) { return it.begin < at + stay.size && at < it.end; });
    return taken ? nowhere : at;
  }

  const Model& model_;
  Draft& draft_;
  const PlaceOptions& options_;
  Field field_;
  std::vector<std::uint64_t> birth_;  // by item
  std::uint64_t bottom_ = 0;
};

}  // namespace

bool place(const Model& model, Draft& draft, const PlaceOptions& options) {
  return Placer(model, draft, options).run();
}

void grow_in_place(const Model& model, Draft& draft, const std::vector<std::uint32_t>& most) {
  const std::vector<Stay> stays = stays_of(model, draft);
  std::vector<std::vector<Taken>> there(model.units);
  std::vector<const Stay*> loads;
  for (const Stay& stay : stays) {
    if (stay.in == none || stay.size == 0) continue;
    const std::uint64_t offset = draft.offset[stay.in];
    for (std::uint32_t k = 0; k < stay.length; ++k) {
      there[(stay.start + k) % model.units].push_back({offset, offset + stay.size});
    }
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
    const bool taken = std::any_of(there[unit].begin(), there[unit].end(),
                                   [&](const Taken& it) { return it.begin < mine.end && mine.begin < it.end; });
    if (taken) return true;
    there[unit].push_back(mine);
    ++ahead;
    return false;
  };
  while (!loads.empty()) loads.erase(std::remove_if(loads.begin(), loads.end(), is_stuck), loads.end());
}

}  // namespace hoist::plan
