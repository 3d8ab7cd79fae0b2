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

using Row = std::vector<Taken>;  // stretches that are taken, by offset, neither touching nor overlapping

void join(Row& row, Taken taken) {
  const auto ends_before = [](const Taken& a, std::uint64_t begin) { return a.end < begin; };
  const auto first = std::lower_bound(row.begin(), row.end(), taken.begin, ends_before);
  auto last = first;
  for (; last != row.end() && last->begin <= taken.end; ++last) {
    taken.begin = std::min(taken.begin, last->begin);
    taken.end = std::max(taken.end, last->end);
  }
  if (first == last) {
    row.insert(first, taken);
    return;
  }
  *first = taken;
  row.erase(first + 1, last);
}

// What is placed: by unit all that is taken, and by unit and block of units what begins there. A stay meets what is
// there as it begins and what begins while it lasts.
class Field {
 public:
  explicit Field(std::uint32_t units) : units_(units), rows_(units), begins_(units), blocks_(units / block + 1) {}

  void clear() {
    for (Row& row : rows_) row.clear();
    for (Row& row : begins_) row.clear();
    for (Row& row : blocks_) row.clear();
  }

  void add(std::uint32_t start, std::uint32_t length, Taken taken) {
    for (std::uint32_t k = 0, u = start; k < length; ++k, u = u + 1 == units_ ? 0 : u + 1) join(rows_[u], taken);
    begins_[start].push_back(taken);
    join(blocks_[start / block], taken);
  }

  [[nodiscard]] bool is_free(std::uint32_t unit, Taken taken) const {
    const Row& row = rows_[unit];
    const auto next = std::upper_bound(row.begin(), row.end(), taken, lower);
    return (next == row.end() || next->begin >= taken.end) &&
           (next == row.begin() || std::prev(next)->end <= taken.begin);
  }

  // Everything that meets the units from start on, by offset.
  const Row& meets(std::uint32_t start, std::uint32_t length) {
    later_.clear();
    for (std::uint32_t k = 1, u = start + 1 == units_ ? 0 : start + 1; k < length;) {
      const bool whole = u % block == 0 && length - k >= block && u + block <= units_;
      const Row& row = whole ? blocks_[u / block] : begins_[u];
      later_.insert(later_.end(), row.begin(), row.end());
      const std::uint32_t step = whole ? block : 1;
      k += step;
      u = u + step == units_ ? 0 : u + step;
    }
    if (later_.empty()) return rows_[start];
    std::sort(later_.begin(), later_.end(), lower);
    met_.resize(rows_[start].size() + later_.size());
    std::merge(rows_[start].begin(), rows_[start].end(), later_.begin(), later_.end(), met_.begin(), lower);
    return met_;
  }

 private:
  static constexpr std::uint32_t block = 16;

  const std::uint32_t units_;
  std::vector<Row> rows_, begins_, blocks_;
  Row later_, met_;
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
