// SPDX-License-Identifier: Apache-2.0
#include "plan/homes.hpp"

#include <algorithm>
#include <numeric>

#include "plan/planner.hpp"
#include "plan/sizes.hpp"

namespace hoist::plan {
namespace {

constexpr std::uint64_t nowhere = UINT64_MAX;
constexpr std::uint32_t most_steps = 300'000;

struct Span {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class Homes {
 public:
  Homes(const Problem& problem, const Rows<UnitUse>& uses, std::uint64_t arena)
      : problem_(problem), uses_(uses), arena_(arena), home_(problem.items.size(), nowhere) {}

  void clear() { home_.assign(home_.size(), nowhere); }
  void set(std::uint32_t item, std::uint64_t offset) { home_[item] = offset; }
  [[nodiscard]] std::uint64_t at(std::uint32_t item) const { return home_[item]; }

  // What the item must not overlap, by offset.
  const std::vector<Span>& taken(std::uint32_t item) {
    taken_.clear();
    for (const Use& use : problem_.items[item].uses) {
      for (std::uint32_t i = uses_.begin[use.unit]; i < uses_.begin[use.unit + 1]; ++i) {
        const std::uint32_t other = uses_.values[i].item;
        const std::uint64_t size = size_of(problem_, other);
        if (other == item || home_[other] == nowhere || size == 0) continue;
        taken_.push_back({home_[other], home_[other] + size});
      }
    }
    std::sort(taken_.begin(), taken_.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
    return taken_;
  }

  bool take(std::uint32_t item, const std::vector<Span>& spans, std::uint64_t offset) {
    const std::uint64_t end = offset + size_of(problem_, item);
    if (end > arena_) return false;
    const bool overlaps = end > offset && std::any_of(spans.begin(), spans.end(), [&](const Span& span) {
                            return span.begin < end && offset < span.end;
                          });
    if (overlaps) return false;
    home_[item] = offset;
    return true;
  }

  // The lowest offset from `least` on that overlaps no span; nowhere if the arena has none.
  [[nodiscard]] std::uint64_t lowest(std::uint32_t item, const std::vector<Span>& spans, std::uint64_t least) const {
    const bool used = !problem_.items[item].uses.empty();  // what nobody uses may be larger than the arena
    const std::uint64_t size = used ? size_of(problem_, item) : 0;
    if (size == 0) return 0;
    std::uint64_t offset = least;
    for (const Span& span : spans) {
      if (offset + size <= span.begin) break;
      offset = std::max(offset, span.end);
    }
    return offset + size > arena_ ? nowhere : offset;
  }

  bool first_fit(std::uint32_t item, const std::vector<Span>& spans) {
    home_[item] = lowest(item, spans, 0);
    return home_[item] != nowhere;
  }

  // First fit in an order; the first item that finds no place moves to the front and all begins again.
  bool from_nothing(std::vector<std::uint32_t> order, std::uint32_t tries) {
    for (; tries > 0; --tries) {
      clear();
      const auto failed =
          std::find_if(order.begin(), order.end(), [&](std::uint32_t item) { return !first_fit(item, taken(item)); });
      if (failed == order.end()) return true;
      std::rotate(order.begin(), failed, failed + 1);
    }
    return false;
  }

  // At most so many steps of the search unit by unit.
  bool from_nothing(std::uint32_t steps) {
    std::vector<std::uint32_t> order(home_.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto size = [&](std::uint32_t i) { return size_of(problem_, i); };
    const auto uses = [&](std::uint32_t i) { return problem_.items[i].uses.size(); };
    const auto bulk = [&](std::uint32_t i) { return size_of(problem_, i) * uses(i); };
    const std::uint32_t tries = home_.size() <= 2000 ? 64 : 2;
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return size(a) > size(b); });
    if (from_nothing(order, tries)) return true;
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return bulk(a) > bulk(b); });
    if (from_nothing(order, tries)) return true;
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return uses(a) > uses(b); });
    if (from_nothing(order, tries) || unit_by_unit(steps)) return true;
    return home_.size() <= 64 && in_any_order(order);
  }

  // The fullest unit first: what has no home yet is packed around what has. Where that fails, the unit moves to the
  // front and all begins again. Not where units of many items would take long.
  bool unit_by_unit(std::uint32_t steps) {
    std::vector<std::uint32_t> units(problem_.units.size());
    std::iota(units.begin(), units.end(), 0U);
    const auto items = [&](std::uint32_t unit) { return double(uses_.begin[unit + 1] - uses_.begin[unit]); };
    const auto work = [&](double sum, std::uint32_t unit) { return sum + items(unit) * items(unit); };
    if (std::accumulate(units.begin(), units.end(), 0.0, work) > 1e6) return false;
    const auto bytes = [&](std::uint32_t unit) { return bytes_of(unit); };
    std::stable_sort(units.begin(), units.end(), [&](auto a, auto b) { return bytes(a) > bytes(b); });
    steps_left_ = steps;
    for (int tries = 64; tries > 0 && steps_left_ > 0; --tries) {
      clear();
      for (std::uint32_t i = 0; i < home_.size(); ++i) {
        if (problem_.items[i].uses.empty() || size_of(problem_, i) == 0) home_[i] = 0;
      }
      const auto failed = std::find_if(units.begin(), units.end(), [&](std::uint32_t unit) { return !pack(unit); });
      if (failed == units.end()) return true;
      std::rotate(units.begin(), failed, failed + 1);
    }
    return false;
  }

  [[nodiscard]] std::uint64_t bytes_of(std::uint32_t unit) const {
    std::uint64_t bytes = 0;
    for (std::uint32_t i = uses_.begin[unit]; i < uses_.begin[unit + 1]; ++i) {
      bytes += size_of(problem_, uses_.values[i].item);
    }
    return bytes;
  }

  // Items of many units come first, then large ones: the search changes the last ones most.
  bool pack(std::uint32_t unit) {
    std::vector<std::uint32_t> rest;
    for (std::uint32_t i = uses_.begin[unit]; i < uses_.begin[unit + 1]; ++i) {
      if (home_[uses_.values[i].item] == nowhere) rest.push_back(uses_.values[i].item);
    }
    std::stable_sort(rest.begin(), rest.end(), [&](std::uint32_t a, std::uint32_t b) {
      const std::size_t uses_a = problem_.items[a].uses.size();
      const std::size_t uses_b = problem_.items[b].uses.size();
      return uses_a != uses_b ? uses_a > uses_b : size_of(problem_, a) > size_of(problem_, b);
    });
    unit_ = unit;
    slack_ = arena_ - bytes_of(unit);
    steps_ = std::min(20'000U, steps_left_);
    steps_left_ -= steps_;
    const bool fits = unit_fits(rest, 0, 0);
    steps_left_ += steps_;
    return fits;
  }

  // As rest_fits(), but only of one unit, beside what has homes; bytes that were passed over stay free for ever.
  bool unit_fits(std::vector<std::uint32_t>& order, std::size_t first, std::uint64_t least) {
    if (first == order.size()) return true;
    for (std::size_t i = first; i < order.size() && steps_ > 0; ++i) {
      const std::uint64_t offset = lowest(order[i], taken(order[i]), least);
      if (offset == nowhere) return false;
      if (passed_over(offset) > slack_ || is_repeated(order, first, i)) continue;
      --steps_;
      std::rotate(order.begin() + static_cast<std::ptrdiff_t>(first), order.begin() + static_cast<std::ptrdiff_t>(i),
                  order.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      home_[order[first]] = offset;
      if (unit_fits(order, first + 1, offset)) return true;
      home_[order[first]] = nowhere;
      std::rotate(order.begin() + static_cast<std::ptrdiff_t>(first),
                  order.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                  order.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
    return false;
  }

  // Bytes of the arena below an offset that none of the unit's items has.
  [[nodiscard]] std::uint64_t passed_over(std::uint64_t offset) const {
    std::uint64_t held = 0;
    for (std::uint32_t i = uses_.begin[unit_]; i < uses_.begin[unit_ + 1]; ++i) {
      const std::uint64_t home = home_[uses_.values[i].item];
      if (home < offset) held += std::min(size_of(problem_, uses_.values[i].item), offset - home);
    }
    return offset - held;
  }

  // Whether an item that nothing tells apart was tried in the same place.
  [[nodiscard]] bool is_repeated(const std::vector<std::uint32_t>& order, std::size_t first, std::size_t i) const {
    const Item& item = problem_.items[order[i]];
    return std::any_of(order.begin() + static_cast<std::ptrdiff_t>(first),
                       order.begin() + static_cast<std::ptrdiff_t>(i), [&](std::uint32_t index) {
                         const Item& other = problem_.items[index];
                         return size_of(problem_, index) == size_of(problem_, order[i]) &&
                                std::equal(item.uses.begin(), item.uses.end(), other.uses.begin(), other.uses.end(),
                                           [](const Use& a, const Use& b) { return a.unit == b.unit; });
                       });
  }

  // Small problems at their smallest budgets can need an unlikely order. Homes that fit can be pushed down until each
  // stands on 0 or on another, and then come one after the other in the order of their offsets: all such orders are
  // tried, while one can still fit, up to so many steps.
  bool in_any_order(std::vector<std::uint32_t> order) {
    clear();
    steps_ = 40'000;
    return rest_fits(order, 0, 0);
  }

  // Homes for order[first..] at `least` or above, beside those before it.
  bool rest_fits(std::vector<std::uint32_t>& order, std::size_t first, std::uint64_t least) {
    if (first == order.size()) return true;
    std::vector<std::uint64_t> offsets;
    for (std::size_t i = first; i < order.size(); ++i) {
      offsets.push_back(lowest(order[i], taken(order[i]), least));
      if (offsets.back() == nowhere) return false;  // nor will it fit beside more of them
    }
    for (std::size_t i = first; i < order.size() && steps_ > 0; ++i) {
      --steps_;
      std::swap(order[first], order[i]);
      home_[order[first]] = offsets[i - first];
      if (rest_fits(order, first + 1, std::max(least, offsets[i - first]))) return true;
      home_[order[first]] = nowhere;
      std::swap(order[first], order[i]);
    }
    return false;
  }

  std::uint64_t height() {
    std::uint64_t height = 0;
    for (std::uint32_t i = 0; i < home_.size(); ++i) {
      if (!problem_.items[i].uses.empty()) height = std::max(height, home_[i] + size_of(problem_, i));
    }
    return height;
  }

 private:
  const Problem& problem_;
  const Rows<UnitUse>& uses_;
  const std::uint64_t arena_;
  std::vector<std::uint64_t> home_;
  std::vector<Span> taken_;
  std::uint32_t steps_ = 0;
  std::uint32_t steps_left_ = 0;  // of all units
  std::uint32_t unit_ = 0;        // that is being packed
  std::uint64_t slack_ = 0;       // what it leaves of the arena
};

// By item, the different places that a plan gives it, in order.
Rows<std::uint64_t> places_of(const Problem& problem, const Plan& plan) {
  std::vector<Place> all = plan.initial_resident;
  all.insert(all.end(), plan.births.begin(), plan.births.end());
  for (const Op& op : plan.ops) {
    if (op.kind == OpKind::load) all.push_back({op.item, op.offset});
  }
  std::sort(all.begin(), all.end(),
            [](const Place& a, const Place& b) { return a.item != b.item ? a.item < b.item : a.offset < b.offset; });
  Rows<std::uint64_t> rows;
  std::size_t next = 0;
  for (std::uint32_t item = 0; item < problem.items.size(); ++item) {
    for (; next < all.size() && all[next].item == item; ++next) {
      const bool repeated = rows.values.size() > rows.begin.back() && rows.values.back() == all[next].offset;
      if (!repeated) rows.values.push_back(all[next].offset);
    }
    rows.close_row();
  }
  return rows;
}

// Items with one place keep it: where two meet in a unit, the plan has proven them apart.
bool from_plan(const Problem& problem, const Plan& plan, Homes& homes) {
  const Rows<std::uint64_t> places = places_of(problem, plan);
  std::vector<std::uint32_t> open;
  for (std::uint32_t item = 0; item < problem.items.size(); ++item) {
    const std::uint32_t count = places.begin[item + 1] - places.begin[item];
    if (problem.items[item].uses.empty()) {
      homes.set(item, 0);
    } else if (count == 1) {
      homes.set(item, places.values[places.begin[item]]);
    } else {
      open.push_back(item);
    }
  }
  std::stable_sort(open.begin(), open.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return size_of(problem, a) > size_of(problem, b); });
  for (const std::uint32_t item : open) {
    const std::vector<Span> spans = homes.taken(item);
    bool placed = false;
    for (std::uint32_t p = places.begin[item]; p < places.begin[item + 1] && !placed; ++p) {
      placed = homes.take(item, spans, places.values[p]);
    }
    if (!placed && !homes.first_fit(item, spans)) return false;
  }
  return true;
}

}  // namespace

std::optional<std::vector<Place>> find_homes(const Problem& problem, const Rows<UnitUse>& uses, const Plan& plan) {
  Homes homes(problem, uses, arena_of(problem));
  if (!from_plan(problem, plan, homes) && !homes.from_nothing(most_steps)) return std::nullopt;
  std::vector<Place> places(problem.items.size());
  for (std::uint32_t item = 0; item < problem.items.size(); ++item) places[item] = {item, homes.at(item)};
  std::sort(places.begin(), places.end(),
            [&](const Place& a, const Place& b) { return problem.items[a.item].name < problem.items[b.item].name; });
  return places;
}

std::uint64_t workable_budget(const Problem& problem) {
  const Rows<UnitUse> uses = uses_by_unit(problem);
  const std::uint64_t smallest = smallest_budget(problem);
  Homes homes(problem, uses, smallest - largest_workspace(problem));
  return homes.from_nothing(most_steps) ? smallest : budget_with_homes(problem, uses);
}

std::uint64_t budget_with_homes(const Problem& problem, const Rows<UnitUse>& uses) {
  // Between the bytes that one unit needs and the height of a first fit without a limit.
  constexpr std::uint32_t steps = 30'000;
  Homes unlimited(problem, uses, nowhere);
  unlimited.from_nothing(steps);
  std::uint64_t works = unlimited.height();
  std::uint64_t fails = std::max(arena_of(problem), smallest_budget(problem) - largest_workspace(problem));
  const int halvings = problem.items.size() <= 2000 ? 64 : 12;
  for (int i = 0; i < halvings && works > fails + problem.alignment; ++i) {
    const std::uint64_t middle = round_up(fails + (works - fails) / 2, problem.alignment);
    Homes homes(problem, uses, middle);
    (homes.from_nothing(steps) ? works : fails) = middle;
  }
  return largest_workspace(problem) + works;
}

}  // namespace hoist::plan
