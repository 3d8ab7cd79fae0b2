// SPDX-License-Identifier: Apache-2.0
// What the solver works on: gaps between uses, drafts that evict some of them, the stays that result.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.hpp"
#include "plan/problem.hpp"
#include "plan/program.hpp"

namespace hoist::plan {

// The time between two consecutive uses of an item, on the cycle. An item with m uses has m gaps; the one after
// its last use is `outside` where nothing repeats: for transient items, and in a single shot.
struct Gap {
  std::uint32_t item = 0;
  std::uint32_t from = 0;     // the unit of the use before
  std::uint32_t to = 0;       // the unit of the use after
  std::uint32_t between = 0;  // units strictly between, the most a load can be ahead
  bool outside = false;       // always evicted
  bool loads = false;         // the use after reads: a load ends it; otherwise a birth does
  double load_us = 0;         // 0 where none is needed
};

struct Model {
  explicit Model(const Problem& of);

  const Problem& problem;
  std::uint32_t units = 0;
  std::uint64_t arena = 0;
  Rows<UnitUse> uses;
  std::vector<std::uint64_t> size;        // by item, as memory counts it
  std::vector<double> store_us;           // by item
  std::vector<Gap> gaps;                  // by item and use
  std::vector<std::uint32_t> gaps_begin;  // by item
  std::vector<std::uint64_t> base;        // by unit: bytes with nothing evicted
  double compute_us = 0;

  [[nodiscard]] bool can_evict(const Gap& gap) const { return !gap.outside && gap.between > 0 && size[gap.item] > 0; }
  [[nodiscard]] LinkId link(const Gap& gap) const { return problem.items[gap.item].link; }
  [[nodiscard]] std::size_t work() const { return gaps.size() + units; }  // what a plan costs grows with it
  [[nodiscard]] bool is_tiny() const { return work() <= 64; }
  [[nodiscard]] std::uint32_t wrap(std::int64_t unit) const;
};

// One solution, before places: which gaps are evicted, and when their ops are due.
struct Draft {
  std::vector<char> evicted;          // by gap
  std::vector<std::uint32_t> ahead;   // by gap: units between the load's `after` and the use, 1 or more
  std::vector<std::uint32_t> late;    // by gap: units by which store and drop wait
  std::vector<std::uint32_t> pause;   // by gap that is not late: units between the last write and the store
  std::vector<std::uint64_t> offset;  // by gap: the place of the stay that begins with its end
};
Draft keep_everything(const Model& model);

// One stay on the device: from the end of gap `in` to the beginning of gap `out`.
struct Stay {
  std::uint32_t item = 0;
  std::uint32_t in = none;    // gap; none for a stay that never ends
  std::uint32_t out = none;   // gap
  std::uint32_t first = 0;    // the first unit of use
  std::uint32_t start = 0;    // the first unit during which its bytes are taken
  std::uint32_t length = 0;   // units, on the cycle
  std::int32_t written = -1;  // the last unit that writes; -1: clean
  std::uint64_t size = 0;
};
std::vector<Stay> stays_of(const Model& model, const Draft& draft);

// Whether the draft stores it as it leaves, and the unit whose end makes that store due.
bool is_stored(const Model& model, const Stay& stay);
std::uint32_t store_after(const Model& model, const Draft& draft, const Stay& stay);

// Bytes by unit of a draft, its leads included.
std::vector<std::uint64_t> occupancy(const Model& model, const Draft& draft);

// The plan of a draft whose offsets are set; permanent stays have theirs in `offset` of the item's first gap. Of ops
// that are due together and as urgent as each other, the order is that of their places or of their names.
Plan emit(const Model& model, const Draft& draft, const std::vector<Stay>& stays, bool by_offset = true);

}  // namespace hoist::plan
