// SPDX-License-Identifier: Apache-2.0
// Bytes of the arena that are taken, unit by unit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace hoist::plan {

struct Taken {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

inline constexpr auto lower = [](const Taken& a, const Taken& b) { return a.begin < b.begin; };

using Row = std::vector<Taken>;  // stretches that are taken, by offset, neither touching nor overlapping

inline void join(Row& row, Taken taken) {
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

inline bool is_free(const Row& row, Taken taken) {
  const auto next = std::upper_bound(row.begin(), row.end(), taken, lower);
  return (next == row.end() || next->begin >= taken.end) &&
         (next == row.begin() || std::prev(next)->end <= taken.begin);
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

  [[nodiscard]] bool is_free(std::uint32_t unit, Taken taken) const { return plan::is_free(rows_[unit], taken); }

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

inline constexpr std::uint64_t nowhere = UINT64_MAX;

// The lowest stretch between what is taken that holds `size` bytes, or the tightest; `met` by offset.
inline std::uint64_t hole(const std::vector<Taken>& met, std::uint64_t size, std::uint64_t bottom, std::uint64_t top,
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

// The highest stretch between what is taken that holds `size` bytes.
inline std::uint64_t highest_hole(const std::vector<Taken>& met, std::uint64_t size, std::uint64_t bottom,
                                  std::uint64_t top) {
  std::uint64_t at = bottom;
  std::uint64_t found = nowhere;
  const auto look = [&](std::uint64_t end) {
    if (end >= at && end - at >= size) found = end - size;
  };
  for (const Taken& taken : met) {
    look(std::min(taken.begin, top));
    at = std::max(at, taken.end);
  }
  look(top);
  return found;
}

}  // namespace hoist::plan
