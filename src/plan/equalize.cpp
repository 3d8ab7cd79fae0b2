// SPDX-License-Identifier: Apache-2.0
#include "plan/equalize.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace hoist::plan {
namespace {

struct Sum {  // one way to stream a part of a unit's items over one link
  double time = 0;
  std::uint64_t bytes = 0;
  std::uint32_t ops = 0;
  std::uint32_t code = 0;  // how many of each group, mixed radix
};

struct Group {  // equal items of a unit: which of them goes decides nothing
  double time = 0;
  std::uint64_t size = 0;
  std::vector<std::uint32_t> gaps;
  bool whole = false;  // all or none
};

struct Menu {  // what a unit can stream over a link, by time
  std::uint32_t unit = 0;
  std::uint32_t link = 0;
  std::vector<Group> groups;
  std::shared_ptr<const std::vector<Sum>> sums;
};

constexpr std::size_t most_sums = 2048;

std::uint32_t choices(const Group& group) {
  return group.whole ? 2 : static_cast<std::uint32_t>(group.gaps.size()) + 1;
}

std::vector<Sum> all_sums(const std::vector<Group>& groups) {
  std::vector<Sum> sums(1);
  std::uint32_t radix = 1;
  for (const Group& group : groups) {
    const std::size_t before = sums.size();
    const std::uint32_t step = group.whole ? static_cast<std::uint32_t>(group.gaps.size()) : 1;
    for (std::uint32_t n = 1; n < choices(group); ++n) {
      for (std::size_t i = 0; i < before; ++i) {
        const std::uint32_t count = n * step;
        sums.push_back({sums[i].time + count * group.time, sums[i].bytes + count * group.size, sums[i].ops + count,
                        sums[i].code + n * radix});
      }
    }
    radix *= choices(group);
  }
  std::sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) {
    return a.time != b.time ? a.time < b.time : a.ops != b.ops ? a.ops < b.ops : a.code < b.code;
  });
  return sums;
}

// The largest groups keep their counts while the sums stay few; the rest goes all or none.
void limit(std::vector<Group>& groups, std::size_t most) {
  std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.size > b.size; });
  std::size_t product = 1;
  std::size_t kept = 0;
  for (; kept < groups.size() && product * choices(groups[kept]) * 2 <= most; ++kept) product *= choices(groups[kept]);
  if (kept + 1 >= groups.size()) {
    if (kept < groups.size()) groups[kept].whole = true;
    return;
  }
  Group rest;
  rest.whole = true;
  for (std::size_t i = kept; i < groups.size(); ++i) {
    const auto count = static_cast<double>(groups[i].gaps.size());
    rest.time += groups[i].time * count;
    rest.size += groups[i].size * groups[i].gaps.size();
    rest.gaps.insert(rest.gaps.end(), groups[i].gaps.begin(), groups[i].gaps.end());
  }
  rest.time /= static_cast<double>(rest.gaps.size());
  rest.size /= rest.gaps.size();
  groups.resize(kept);
  groups.push_back(std::move(rest));
}

}  // namespace

class Equalizer::Rooms {
 public:
  explicit Rooms(const Model& model) : model_(model) {
    std::vector<Streamable> found = streamables();
    std::size_t rows = 0;
    for (std::size_t i = 0; i < found.size(); ++i) rows += i == 0 || found[i].menu != found[i - 1].menu ? 1 : 0;
    const std::size_t most = std::clamp<std::size_t>(400'000 / (rows + 1), 32, most_sums);
    for (std::size_t i = 0; i < found.size();) {
      Menu menu{static_cast<std::uint32_t>(found[i].menu / link_count),
                static_cast<std::uint32_t>(found[i].menu % link_count),
                {},
                nullptr};
      const std::uint64_t key = found[i].menu;
      for (; i < found.size() && found[i].menu == key; ++i) {
        const Gap& gap = model.gaps[found[i].gap];
        if (menu.groups.empty() || found[i].bytes != found[i - 1].bytes) {
          menu.groups.push_back({gap.load_us, model.size[gap.item], {}, false});
        }
        menu.groups.back().gaps.push_back(found[i].gap);
      }
      limit(menu.groups, most);
      menu.sums = sums_of(menu);
      menus_.push_back(std::move(menu));
    }
    known_.clear();
  }

  [[nodiscard]] bool covers_all() const { return covers_all_; }

  bool run(const EqualizeOptions& options, Draft& draft) const {
    if (menus_.empty()) return false;
    for (const Menu& menu : menus_) {
      for (const Group& group : menu.groups) {
        for (const std::uint32_t g : group.gaps) draft.evicted[g] = 0;
      }
    }
    const std::vector<std::uint64_t> bytes = occupancy(model_, draft);
    double high = 0;
    for (const Menu& menu : menus_) high = std::max(high, menu.sums->back().time / options.weight[menu.unit]);
    double low = 0;
    std::vector<std::uint32_t> best = pick(high * 1.001, options);
    if (!fits(best, bytes, options.cap)) return false;
    for (int i = 0; i < 24; ++i) {
      const double middle = (low + high) / 2;
      std::vector<std::uint32_t> picked = pick(middle, options);
      if (fits(picked, bytes, options.cap)) {
        high = middle;
        best = std::move(picked);
      } else {
        low = middle;
      }
    }
    trim(best, bytes, options.cap);
    apply(best, draft);
    return true;
  }

 private:
  // By menu, the sum that comes next to the target time of its unit.
  [[nodiscard]] std::vector<std::uint32_t> pick(double target, const EqualizeOptions& options) const {
    std::vector<std::uint32_t> picked(menus_.size());
    std::array<double, link_count> carry{};
    for (std::size_t m = 0; m < menus_.size(); ++m) {
      const Menu& menu = menus_[m];
      const auto& sums = *menu.sums;
      const double want = target * options.weight[menu.unit] + (options.carry ? carry[menu.link] : 0);
      auto it = std::lower_bound(sums.begin(), sums.end(), want, earlier);
      if (it == sums.end()) --it;
      if (options.carry) {
        if (it != sums.begin() && want - std::prev(it)->time < it->time - want) --it;
        const double loose = options.loose * target * options.weight[menu.unit];
        // Where a unit may be off by more than its share, it streams nothing until enough has come together.
        it = options.loose >= 1 && want < loose / 2 ? sums.begin() : leanest(sums, it, loose);
        carry[menu.link] = std::min(want - it->time, sums.back().time);
      }
      picked[m] = static_cast<std::uint32_t>(it - sums.begin());
    }
    return picked;
  }

  static bool earlier(const Sum& sum, double time) { return sum.time < time; }

  // Of the sums about as long as this one, the one with the most bytes for its time: latency is lost.
  static std::vector<Sum>::const_iterator leanest(const std::vector<Sum>& sums, std::vector<Sum>::const_iterator at,
                                                  double loose) {
    if (loose <= 0) return at;
    auto best = at;
    const auto lean = [](const Sum& sum) { return sum.time > 0 ? static_cast<double>(sum.bytes) / sum.time : 0; };
    const double end = at->time + loose;
    for (auto it = std::lower_bound(sums.begin(), sums.end(), at->time - loose, earlier);
         it != sums.end() && it->time <= end; ++it) {
      if (lean(*it) > lean(*best)) best = it;
    }
    return best;
  }

  // Everything streamed is away during every unit but its own.
  [[nodiscard]] bool fits(const std::vector<std::uint32_t>& picked, const std::vector<std::uint64_t>& bytes,
                          std::uint64_t cap) const {
    std::uint64_t away = 0;
    std::vector<std::uint64_t> own(model_.units, 0);
    for (std::size_t m = 0; m < menus_.size(); ++m) {
      const Sum& sum = (*menus_[m].sums)[picked[m]];
      away += sum.bytes;
      own[menus_[m].unit] += sum.bytes;
    }
    for (std::uint32_t u = 0; u < model_.units; ++u) {
      if (bytes[u] + own[u] > cap + away) return false;
    }
    return true;
  }

  // Equal shares overshoot: units far from each other stream less, one after the other, while all fit.
  void trim(std::vector<std::uint32_t>& picked, const std::vector<std::uint64_t>& bytes, std::uint64_t cap) const {
    std::uint64_t away = 0;
    std::vector<std::uint64_t> held = bytes;
    for (std::size_t m = 0; m < menus_.size(); ++m) {
      away += (*menus_[m].sums)[picked[m]].bytes;
      held[menus_[m].unit] += (*menus_[m].sums)[picked[m]].bytes;
    }
    const std::size_t stride = coprime(menus_.size());
    Fullest fullest(held);
    for (std::size_t k = 0, m = 0; k < menus_.size(); ++k, m = (m + stride) % menus_.size()) {
      const std::uint32_t unit = menus_[m].unit;
      const std::uint64_t most = fullest.beside(unit);
      if (most >= cap + away) break;  // no other unit has room for anything more
      const std::uint64_t room = cap + away - most;
      const auto& sums = *menus_[m].sums;
      const std::uint64_t now = sums[picked[m]].bytes;
      for (std::uint32_t i = 0; i < picked[m]; ++i) {
        if (sums[i].bytes > now || now - sums[i].bytes > room) continue;
        away -= now - sums[i].bytes;
        held[unit] -= now - sums[i].bytes;
        picked[m] = i;
        fullest.fell(unit);
        break;
      }
    }
  }

  // The most that any unit but one holds, without looking at all of them again for each.
  class Fullest {
   public:
    explicit Fullest(const std::vector<std::uint64_t>& held) : held_(held) { find(); }
    [[nodiscard]] std::uint64_t beside(std::uint32_t unit) const {
      if (unit != first_) return held_[first_];
      return second_ == none ? 0 : held_[second_];
    }
    void fell(std::uint32_t unit) {
      if (unit == first_ || unit == second_) find();
    }

   private:
    void find() {
      first_ = 0;
      second_ = none;
      for (std::uint32_t u = 1; u < held_.size(); ++u) {
        if (held_[u] > held_[first_]) {
          second_ = std::exchange(first_, u);
        } else if (second_ == none || held_[u] > held_[second_]) {
          second_ = u;
        }
      }
    }

    const std::vector<std::uint64_t>& held_;
    std::uint32_t first_ = 0;
    std::uint32_t second_ = none;
  };

  // About 0.618 of the count and without a common divisor: neighbours in this order are far apart.
  static std::size_t coprime(std::size_t count) {
    std::size_t stride = std::max<std::size_t>(count * 618 / 1000, 1);
    while (std::gcd(stride, count) != 1) ++stride;
    return stride;
  }

  void apply(const std::vector<std::uint32_t>& picked, Draft& draft) const {
    for (std::size_t m = 0; m < menus_.size(); ++m) {
      std::uint32_t code = (*menus_[m].sums)[picked[m]].code;
      for (const Group& group : menus_[m].groups) {
        std::size_t count = code % choices(group);
        code /= choices(group);
        if (group.whole) count *= group.gaps.size();
        for (std::size_t i = 0; i < count; ++i) draft.evicted[group.gaps[i]] = 1;
      }
    }
  }

  struct Streamable {
    std::uint64_t menu = 0;  // unit and link
    std::uint64_t bytes = 0;
    std::uint32_t gap = 0;
  };

  std::vector<Streamable> streamables() {
    std::vector<Streamable> found;
    for (std::uint32_t g = 0; g < model_.gaps.size(); ++g) {
      const Gap& gap = model_.gaps[g];
      if (!model_.can_evict(gap)) continue;
      if (gap.between + 1 != model_.units || !gap.loads) {
        covers_all_ = false;
        continue;
      }
      const auto link = static_cast<std::uint64_t>(model_.link(gap));
      found.push_back({gap.to * std::uint64_t{link_count} + link, model_.problem.items[gap.item].bytes, g});
    }
    std::sort(found.begin(), found.end(), [](const Streamable& a, const Streamable& b) {
      return a.menu != b.menu ? a.menu < b.menu : a.bytes != b.bytes ? a.bytes < b.bytes : a.gap < b.gap;
    });
    return found;
  }

  // Units of one shape share their sums.
  std::shared_ptr<const std::vector<Sum>> sums_of(const Menu& menu) {
    std::vector<std::uint64_t> shape{menu.link};
    for (const Group& group : menu.groups) {
      shape.push_back(model_.problem.items[model_.gaps[group.gaps.front()].item].bytes);
      shape.push_back(group.gaps.size() * 2 + (group.whole ? 1 : 0));
      if (group.whole) shape.push_back(group.size);
    }
    auto& sums = known_[shape];
    if (!sums) sums = std::make_shared<const std::vector<Sum>>(all_sums(menu.groups));
    return sums;
  }

  const Model& model_;
  std::vector<Menu> menus_;  // by unit, then link
  bool covers_all_ = true;
  std::map<std::vector<std::uint64_t>, std::shared_ptr<const std::vector<Sum>>> known_;
};

Equalizer::Equalizer(const Model& model) : rooms_(std::make_unique<Rooms>(model)) {}
Equalizer::~Equalizer() = default;

bool Equalizer::covers_all() const { return rooms_->covers_all(); }

bool Equalizer::run(const EqualizeOptions& options, Draft& draft) const { return rooms_->run(options, draft); }

}  // namespace hoist::plan
