// SPDX-License-Identifier: Apache-2.0
#include "plan/homes.hpp"

#include <algorithm>
#include <numeric>

#include "plan/sizes.hpp"

namespace hoist::plan {
namespace {

constexpr std::uint64_t nowhere = UINT64_MAX;

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

  bool from_nothing() {
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
    if (from_nothing(order, tries)) return true;
    return home_.size() <= 64 && in_any_order(order);
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
  std::uint64_t steps_ = 0;
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
  if (!from_plan(problem, plan, homes) && !homes.from_nothing()) return std::nullopt;
  std::vector<Place> places(problem.items.size());
  for (std::uint32_t item = 0; item < problem.items.size(); ++item) places[item] = {item, homes.at(item)};
  std::sort(places.begin(), places.end(),
            [&](const Place& a, const Place& b) { return problem.items[a.item].name < problem.items[b.item].name; });
  return places;
}

std::uint64_t budget_with_homes(const Problem& problem, const Rows<UnitUse>& uses) {
  // Between the bytes that one unit needs and the height of a first fit without a limit.
  Homes unlimited(problem, uses, nowhere);
  unlimited.from_nothing();
  std::uint64_t works = unlimited.height();
  std::uint64_t fails = arena_of(problem);
  for (int i = 0; i < 12 && works > fails + problem.alignment; ++i) {
    const std::uint64_t middle = round_up(fails + (works - fails) / 2, problem.alignment);
    Homes homes(problem, uses, middle);
    (homes.from_nothing() ? works : fails) = middle;
  }
  return largest_workspace(problem) + works;
}

}  // namespace hoist::plan
