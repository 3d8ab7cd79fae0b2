// SPDX-License-Identifier: Apache-2.0
#include "plan/repack.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "plan/field.hpp"
#include "plan/launch.hpp"
#include "plan/sizes.hpp"

namespace hoist::plan {
namespace {

struct Packing {
  bool alternate = false;  // every other unit from the top down, so that the next one's loads find room
  bool faithful = false;   // an item seeks the place that it has in the uses before and after
  bool large_first = true;
};

// Places for every use, each unit on its own.
class Packer {
 public:
  Packer(const Model& model, const Packing& packing)
      : model_(model), packing_(packing), rows_(model.units), placed_(model.gaps.size(), nowhere) {}

  // False where an item that several units bring into being finds no place that all of them have free.
  bool run(Draft& draft) {
    draft = keep_everything(model_);
    for (std::uint32_t g = 0; g < model_.gaps.size(); ++g) {
      if (model_.size[model_.gaps[g].item] > 0) draft.evicted[g] = 1;
      if (model_.size[model_.gaps[g].item] == 0) placed_[g] = 0;
    }
    std::vector<std::vector<std::uint32_t>> by_unit(model_.units);  // gaps by the unit that ends them
    for (std::uint32_t g = 0; g < model_.gaps.size(); ++g) by_unit[model_.gaps[g].to].push_back(g);
    std::vector<std::uint32_t> order(model_.units);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return used(by_unit[a]) > used(by_unit[b]); });
    if (!pack_births()) return false;
    for (const std::uint32_t u : order) {
      if (!pack(u, by_unit[u])) return false;
    }
    draft.offset = placed_;
    return true;
  }

 private:
  [[nodiscard]] std::uint64_t used(const std::vector<std::uint32_t>& gaps) const {
    std::uint64_t sum = 0;
    for (const std::uint32_t g : gaps) sum += model_.size[model_.gaps[g].item];
    return sum;
  }

  // All births of an item have one place.
  bool pack_births() {
    for (std::uint32_t item = 0; item < model_.problem.items.size(); ++item) {
      std::vector<std::uint32_t> births;
      for (std::uint32_t g = model_.gaps_begin[item]; g < model_.gaps_begin[item + 1]; ++g) {
        if (!model_.gaps[g].loads && model_.size[item] > 0) births.push_back(g);
      }
      if (births.size() < 2) continue;
      std::uint64_t at = 0;
      for (std::size_t i = 0; i < births.size();) {
        const std::uint64_t free = lowest(rows_[model_.gaps[births[i]].to], at, model_.size[item]);
        if (free == nowhere) return false;
        i = free == at ? i + 1 : 0;
        at = free;
      }
      for (const std::uint32_t g : births) put(g, at);
    }
    return true;
  }

  void put(std::uint32_t g, std::uint64_t at) {
    placed_[g] = at;
    join(rows_[model_.gaps[g].to], {at, at + model_.size[model_.gaps[g].item]});
  }

  bool pack(std::uint32_t unit, std::vector<std::uint32_t> gaps) {
    gaps.erase(std::remove_if(gaps.begin(), gaps.end(), [&](std::uint32_t g) { return placed_[g] != nowhere; }),
               gaps.end());
    if (packing_.large_first) {
      std::stable_sort(gaps.begin(), gaps.end(), [&](std::uint32_t a, std::uint32_t b) {
        return model_.size[model_.gaps[a].item] > model_.size[model_.gaps[b].item];
      });
    }
    if (packing_.faithful) {
      // Bytes that places sought elsewhere cut up may be too few for the rest: then it starts from nothing.
      const Row before = rows_[unit];
      for (const std::uint32_t g : gaps) seek(unit, g);
      if (fill(unit, gaps)) return true;
      rows_[unit] = before;
      for (const std::uint32_t g : gaps) placed_[g] = nowhere;
    }
    return fill(unit, gaps);
  }

  bool fill(std::uint32_t unit, const std::vector<std::uint32_t>& gaps) {
    for (const std::uint32_t g : gaps) {
      if (placed_[g] != nowhere) continue;
      const std::uint64_t size = model_.size[model_.gaps[g].item];
      const Row& row = rows_[unit];
      const std::uint64_t at = packing_.alternate && unit % 2 == 1 ? highest(row, size) : lowest(row, 0, size);
      if (at == nowhere) return false;
      put(g, at);
    }
    return true;
  }

  void seek(std::uint32_t unit, std::uint32_t g) {
    const std::uint32_t item = model_.gaps[g].item;
    const std::uint32_t begin = model_.gaps_begin[item];
    const std::uint32_t count = model_.gaps_begin[item + 1] - begin;
    const std::uint32_t n = g - begin;
    for (const std::uint32_t other : {begin + (n + count - 1) % count, begin + (n + 1) % count}) {
      const std::uint64_t at = placed_[other];
      if (at == nowhere || !is_free(rows_[unit], {at, at + model_.size[item]})) continue;
      put(g, at);
      return;
    }
  }

  [[nodiscard]] std::uint64_t lowest(const Row& row, std::uint64_t from, std::uint64_t size) const {
    std::uint64_t at = from;
    for (const Taken& taken : row) {
      if (taken.end <= at) continue;
      if (at + size <= taken.begin) return at;
      at = taken.end;
    }
    return at + size <= model_.arena ? at : nowhere;
  }

  // Ends on a multiple of the alignment, as all sizes are.
  [[nodiscard]] std::uint64_t highest(const Row& row, std::uint64_t size) const {
    std::uint64_t end = model_.arena / model_.problem.alignment * model_.problem.alignment;
    for (std::size_t i = row.size(); i > 0; --i) {
      if (end >= row[i - 1].end + size) break;
      end = row[i - 1].begin;
    }
    return end >= size ? end - size : nowhere;
  }

  const Model& model_;
  const Packing& packing_;
  std::vector<Row> rows_;
  std::vector<std::uint64_t> placed_;  // by gap: of the use that ends it
};

// From a packed draft: what stays between two uses.
class Keeper {
 public:
  Keeper(Workshop& workshop, Draft draft) : workshop_(workshop), model_(workshop.model), draft_(std::move(draft)) {
    most_ = needed_leads(model_, draft_, std::max(model_.compute_us, copies_us(model_, draft_)));
    for (std::uint32_t& lead : most_) lead = 2 * lead + 8;
    for (std::uint32_t g = 0; g < model_.gaps.size(); ++g) {
      if (is_in_place(g)) keepable_.push_back(g);
    }
    // What the next unit uses takes no more bytes by staying.
    std::stable_sort(keepable_.begin(), keepable_.end(), [&](std::uint32_t a, std::uint32_t b) {
      const bool next_a = model_.gaps[a].between == 0;
      const bool next_b = model_.gaps[b].between == 0;
      return next_a != next_b ? next_a : worth(a) > worth(b);
    });
  }

  // Keeps what is worth most while so much of the arena is left free.
  void keep(double free_share, std::uint64_t& tries) {
    const auto free = static_cast<std::uint64_t>(free_share * static_cast<double>(model_.arena));
    Draft draft = draft_;
    Field field(model_.units);
    std::vector<std::uint64_t> bytes = occupancy(model_, draft);
    for (const Stay& stay : stays_of(model_, draft)) {
      if (stay.size > 0) field.add(stay.start, stay.length, place_of(stay.in));
    }
    for (const std::uint32_t g : keepable_) {
      if (!fits(field, bytes, g, free)) continue;
      const Gap& gap = model_.gaps[g];
      draft.evicted[g] = 0;
      if (gap.between == 0) continue;
      const std::uint32_t start = (gap.from + 1) % model_.units;
      field.add(start, gap.between, place_of(g));
      for (std::uint32_t k = 0; k < gap.between; ++k) bytes[(start + k) % model_.units] += model_.size[gap.item];
    }
    attempt(draft, tries);
  }

 private:
  // The place of the use after is that of the use before.
  [[nodiscard]] bool is_in_place(std::uint32_t g) const {
    const Gap& gap = model_.gaps[g];
    if (gap.outside || model_.size[gap.item] == 0) return false;
    const std::uint32_t begin = model_.gaps_begin[gap.item];
    const std::uint32_t count = model_.gaps_begin[gap.item + 1] - begin;
    return draft_.offset[g] == draft_.offset[begin + (g - begin + count - 1) % count];
  }

  [[nodiscard]] double worth(std::uint32_t g) const {
    const Gap& gap = model_.gaps[g];
    const double us = gap.load_us + (is_written(model_.problem.items[gap.item]) ? model_.store_us[gap.item] : 0);
    return us / static_cast<double>(model_.size[gap.item]) / std::max(gap.between, 1U);
  }

  [[nodiscard]] Taken place_of(std::uint32_t g) const {
    return {draft_.offset[g], draft_.offset[g] + model_.size[model_.gaps[g].item]};
  }

  [[nodiscard]] bool fits(const Field& field, const std::vector<std::uint64_t>& bytes, std::uint32_t g,
                          std::uint64_t free) const {
    const Gap& gap = model_.gaps[g];
    for (std::uint32_t k = 1; k <= gap.between; ++k) {
      const std::uint32_t unit = (gap.from + k) % model_.units;
      if (bytes[unit] + model_.size[gap.item] + free > model_.arena || !field.is_free(unit, place_of(g))) return false;
    }
    return true;
  }

  void attempt(const Draft& draft, std::uint64_t& tries) {
    for (const bool by_offset : {true, false}) {
      if (tries == 0) return;
      --tries;
      Draft launched = draft;
      grow_in_place(model_, launched, most_);
      PlaceOptions options;
      options.by_offset = by_offset;
      options.grow = true;
      (void)workshop_.try_placed(std::move(launched), options);
    }
  }

  Workshop& workshop_;
  const Model& model_;
  const Draft draft_;  // everything leaves
  std::vector<std::uint32_t> most_;
  std::vector<std::uint32_t> keepable_;
};

}  // namespace

void repack(Workshop& workshop, std::uint64_t tries) {
  constexpr std::array packings = {Packing{false, true, true}, Packing{true, true, true},   Packing{false, false, true},
                                   Packing{true, false, true}, Packing{false, true, false}, Packing{true, true, false}};
  for (const Packing& packing : packings) {
    Draft draft;
    if (tries == 0 || !Packer(workshop.model, packing).run(draft)) continue;
    Keeper keeper(workshop, std::move(draft));
    for (const double free : {0.0, 1.0, 0.1, 0.3}) keeper.keep(free, tries);
  }
}

}  // namespace hoist::plan
