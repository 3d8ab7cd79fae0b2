// SPDX-License-Identifier: Apache-2.0
#include "plan/model.hpp"

#include <algorithm>

#include "plan/sizes.hpp"

namespace hoist::plan {
namespace {

Gap gap_after(const Problem& problem, std::uint32_t index, std::size_t n) {
  const Item& item = problem.items[index];
  const auto units = static_cast<std::uint32_t>(problem.units.size());
  const bool last = n + 1 == item.uses.size();
  const Use& next = item.uses[last ? 0 : n + 1];
  Gap gap;
  gap.item = index;
  gap.from = item.uses[n].unit;
  gap.to = next.unit;
  gap.outside = last && (item.transient || !problem.cyclic);
  gap.between = last ? gap.to + units - gap.from - 1 : gap.to - gap.from - 1;
  if (gap.outside) gap.between = item.transient ? 0 : gap.to + 1;
  gap.loads = reads(next.mode);
  gap.load_us = gap.loads ? load_us(problem, item) : 0;
  return gap;
}

}  // namespace

std::uint32_t Model::wrap(std::int64_t unit) const {
  const auto n = static_cast<std::int64_t>(units);
  return static_cast<std::uint32_t>(unit < 0 ? unit + n : unit >= n ? unit - n : unit);
}

Model::Model(const Problem& of)
    : problem(of), units(static_cast<std::uint32_t>(of.units.size())), arena(arena_of(of)), uses(uses_by_unit(of)) {
  const std::size_t items = problem.items.size();
  size.resize(items);
  store_us.resize(items);
  gaps_begin.assign(1, 0);
  base.assign(units, 0);
  for (std::uint32_t i = 0; i < items; ++i) {
    const Item& item = problem.items[i];
    size[i] = size_of(problem, i);
    store_us[i] = plan::store_us(problem, item);
    for (std::size_t n = 0; n < item.uses.size(); ++n) gaps.push_back(gap_after(problem, i, n));
    gaps_begin.push_back(static_cast<std::uint32_t>(gaps.size()));
  }
  for (const Unit& unit : problem.units) compute_us += unit.compute_us;
  base = occupancy(*this, keep_everything(*this));
}

Draft keep_everything(const Model& model) {
  Draft draft;
  draft.evicted.resize(model.gaps.size());
  for (std::size_t g = 0; g < model.gaps.size(); ++g) draft.evicted[g] = model.gaps[g].outside ? 1 : 0;
  draft.ahead.assign(model.gaps.size(), 1);
  draft.late.assign(model.gaps.size(), 0);
  draft.pause.assign(model.gaps.size(), 0);
  draft.offset.assign(model.gaps.size(), 0);
  return draft;
}

namespace {

// The stay that gap `in` ends: it runs over kept gaps to the next evicted one.
Stay stay_after(const Model& model, const Draft& draft, std::uint32_t in) {
  const Gap& gap = model.gaps[in];
  const auto& uses = model.problem.items[gap.item].uses;
  const std::uint32_t begin = model.gaps_begin[gap.item];
  const auto count = static_cast<std::uint32_t>(uses.size());
  Stay stay;
  stay.item = gap.item;
  stay.size = model.size[gap.item];
  stay.in = in;
  stay.first = gap.to;
  const std::uint32_t early = gap.loads ? draft.ahead[in] - 1 : 0;
  stay.start = model.wrap(std::int64_t{gap.to} - early);
  stay.length = early + 1;
  std::uint32_t n = (in - begin + 1) % count;  // the use that the gap ends with
  for (;; n = (n + 1) % count) {
    if (writes(uses[n].mode)) stay.written = static_cast<std::int32_t>(uses[n].unit);
    const std::uint32_t out = begin + n;
    if (draft.evicted[out] != 0) {
      stay.out = out;
      stay.length += draft.late[out];
      return stay;
    }
    stay.length += model.gaps[out].between + 1;
  }
}

}  // namespace

std::vector<Stay> stays_of(const Model& model, const Draft& draft) {
  std::vector<Stay> stays;
  stays.reserve(model.problem.items.size());
  for (std::uint32_t item = 0; item < model.problem.items.size(); ++item) {
    const std::uint32_t begin = model.gaps_begin[item];
    const std::uint32_t end = model.gaps_begin[item + 1];
    if (begin == end) continue;
    bool permanent = true;
    for (std::uint32_t g = begin; g < end; ++g) {
      if (draft.evicted[g] == 0) continue;
      permanent = false;
      stays.push_back(stay_after(model, draft, g));
    }
    if (permanent) {
      Stay stay;
      stay.item = item;
      stay.size = model.size[item];
      stay.length = model.units;
      stays.push_back(stay);
    }
  }
  return stays;
}

bool is_stored(const Model& model, const Stay& stay) {
  if (stay.out == none || stay.written < 0) return false;
  return !(model.problem.items[stay.item].transient && model.gaps[stay.out].outside);  // that one leaves by itself
}

// After the pause, which ends before the item is dropped; without one at once, or with the drop where that is late.
std::uint32_t store_after(const Model& model, const Draft& draft, const Stay& stay) {
  const std::uint32_t from = model.gaps[stay.out].from;
  const std::uint32_t late = draft.late[stay.out];
  const std::uint32_t pause = draft.pause[stay.out];
  const std::int64_t kept = std::int64_t{from} - stay.written;
  const bool fits = pause <= (kept < 0 ? kept + model.units : kept) + late;
  if (pause > 0 && fits) return (static_cast<std::uint32_t>(stay.written) + pause) % model.units;
  return late > 0 ? model.wrap(std::int64_t{from} + late) : static_cast<std::uint32_t>(stay.written);
}

std::vector<std::uint64_t> occupancy(const Model& model, const Draft& draft) {
  // Differences that wrap at 2^64 and come back: sums of them are exact.
  std::vector<std::uint64_t> change(model.units + 1, 0);
  for (const Stay& stay : stays_of(model, draft)) {
    const std::uint32_t end = stay.start + stay.length;
    change[stay.start] += stay.size;
    change[std::min(end, model.units)] -= stay.size;
    if (end <= model.units) continue;
    change[0] += stay.size;
    change[end - model.units] -= stay.size;
  }
  std::uint64_t sum = 0;
  for (std::uint32_t u = 0; u < model.units; ++u) change[u] = sum += change[u];
  change.pop_back();
  return change;
}

}  // namespace hoist::plan
