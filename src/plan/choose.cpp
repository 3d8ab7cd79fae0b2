// SPDX-License-Identifier: Apache-2.0
#include "plan/choose.hpp"

#include <algorithm>
#include <queue>

namespace hoist::plan {
namespace {

// Bytes by unit, with the maximum of any range: additions stay at the nodes they cover.
class Bytes {
 public:
  explicit Bytes(const std::vector<std::uint64_t>& by_unit) : units_(static_cast<std::uint32_t>(by_unit.size())) {
    while (width_ < units_) width_ *= 2;
    most_.assign(2 * width_, 0);
    added_.assign(2 * width_, 0);
    for (std::uint32_t u = 0; u < units_; ++u) most_[width_ + u] = static_cast<std::int64_t>(by_unit[u]);
    for (std::uint32_t node = width_; node-- > 1;) most_[node] = std::max(most_[2 * node], most_[2 * node + 1]);
  }

  [[nodiscard]] std::int64_t most() const { return most_[1]; }

  // The units strictly between, on the cycle.
  void add(const Gap& gap, std::int64_t bytes) {
    const std::uint32_t begin = gap.from + 1;
    const std::uint32_t end = begin + gap.between;
    if (begin < units_) add(1, 0, width_, begin, std::min(end, units_), bytes);
    if (end > units_) add(1, 0, width_, begin > units_ ? begin - units_ : 0, end - units_, bytes);
  }

  [[nodiscard]] std::int64_t most(const Gap& gap) const {
    const std::uint32_t begin = gap.from + 1;
    const std::uint32_t end = begin + gap.between;
    std::int64_t most = INT64_MIN;
    if (begin < units_) most = std::max(most, range(1, 0, width_, begin, std::min(end, units_)));
    if (end > units_) most = std::max(most, range(1, 0, width_, begin > units_ ? begin - units_ : 0, end - units_));
    return most;
  }

 private:
  void add(std::uint32_t node, std::uint32_t low, std::uint32_t high, std::uint32_t begin, std::uint32_t end,
           std::int64_t bytes) {
    if (end <= low || high <= begin) return;
    if (begin <= low && high <= end) {
      most_[node] += bytes;
      added_[node] += bytes;
      return;
    }
    const std::uint32_t middle = (low + high) / 2;
    add(2 * node, low, middle, begin, end, bytes);
    add(2 * node + 1, middle, high, begin, end, bytes);
    most_[node] = std::max(most_[2 * node], most_[2 * node + 1]) + added_[node];
  }

  [[nodiscard]] std::int64_t range(std::uint32_t node, std::uint32_t low, std::uint32_t high, std::uint32_t begin,
                                   std::uint32_t end) const {
    if (end <= low || high <= begin) return INT64_MIN;
    if (begin <= low && high <= end) return most_[node];
    const std::uint32_t middle = (low + high) / 2;
    const std::int64_t most =
        std::max(range(2 * node, low, middle, begin, end), range(2 * node + 1, middle, high, begin, end));
    return most == INT64_MIN ? most : most + added_[node];
  }

  std::uint32_t units_;
  std::uint32_t width_ = 1;
  std::vector<std::int64_t> most_, added_;
};

class Chooser {
 public:
  Chooser(const Model& model, const ChooseOptions& options, Draft& draft)
      : model_(model),
        options_(options),
        draft_(draft),
        bytes_(occupancy(model, draft)),
        stored_(draft.evicted.size(), 0) {
    for (auto& link : charged_) link.assign(model.units, 0);
    if (options.narrow) {
      over_.assign(model.units, 0);
      const std::vector<std::uint64_t> bytes = occupancy(model, draft);
      for (std::uint32_t u = 0; u < model.units; ++u)
        over_[u] = static_cast<std::int64_t>(bytes[u]) - static_cast<std::int64_t>(options.cap);
    }
  }

  bool run() {
    const auto cap = static_cast<std::int64_t>(options_.cap);
    fill();
    while (bytes_.most() > cap && !heap_.empty()) {
      const Entry top = heap_.top();
      heap_.pop();
      const Gap& gap = model_.gaps[top.gap];
      if (bytes_.most(gap) <= cap) continue;  // bytes only fall: it will never be wanted
      const double now = price(top.gap);
      if (now > top.price * 1.0001 && !heap_.empty() && now > heap_.top().price) {
        heap_.push({now, top.gap});
        continue;
      }
      evict(top.gap);
    }
    if (bytes_.most() > cap) return false;
    keep_again(cap);
    return true;
  }

 private:
  struct Entry {
    double price = 0;
    std::uint32_t gap = 0;
    bool operator<(const Entry& other) const {  // the cheapest is on top; ties by gap
      return price != other.price ? price > other.price : gap > other.gap;
    }
  };

  void fill() {
    std::vector<Entry> entries;
    for (std::uint32_t g = 0; g < model_.gaps.size(); ++g) {
      const Gap& gap = model_.gaps[g];
      if (model_.can_evict(gap) && draft_.evicted[g] == 0) entries.push_back({price(g), g});
    }
    heap_ = std::priority_queue<Entry>(std::less<Entry>(), std::move(entries));
  }

  // Whether evicting the gap costs a store: something has written the item since its last evicted gap.
  [[nodiscard]] bool is_dirty(std::uint32_t g) const {
    const Gap& gap = model_.gaps[g];
    const auto& uses = model_.problem.items[gap.item].uses;
    const std::uint32_t begin = model_.gaps_begin[gap.item];
    const auto count = static_cast<std::uint32_t>(uses.size());
    std::uint32_t n = g - begin;
    for (std::uint32_t k = 0; k < count; ++k) {
      if (writes(uses[n].mode)) return true;
      n = n == 0 ? count - 1 : n - 1;
      if (draft_.evicted[begin + n] != 0) return false;
    }
    return false;
  }

  [[nodiscard]] double price(std::uint32_t g) const {
    const Gap& gap = model_.gaps[g];
    double cost = 0;
    if (gap.loads) {
      const auto link = static_cast<std::size_t>(model_.link(gap));
      const double pressure = options_.pressure.empty() ? 1 : options_.pressure[gap.to];
      const double price = model_.link(gap) == LinkId::peer ? options_.peer : 1;
      cost += (charged_[link][gap.to] / options_.weight[gap.to] + gap.load_us) * gap.load_us * pressure * price;
    }
    if (is_dirty(g)) {
      const double store = model_.store_us[gap.item];
      cost += (charged_[1][gap.from] / options_.weight[gap.from] + store) * store * options_.store;
    }
    if (options_.narrow) return cost / (useful(gap) + 1e-9);
    return cost / static_cast<double>(model_.size[gap.item]) / gap.between;
  }

  [[nodiscard]] double useful(const Gap& gap) const {
    const auto size = static_cast<std::int64_t>(model_.size[gap.item]);
    double sum = 0;
    std::uint32_t u = gap.from;
    for (std::uint32_t k = 0; k < gap.between; ++k) {
      u = u + 1 == model_.units ? 0 : u + 1;
      if (over_[u] > 0) sum += static_cast<double>(std::min(size, over_[u]));
    }
    return sum;
  }

  void shift(const Gap& gap, std::int64_t bytes) {
    if (!options_.narrow) return;
    std::uint32_t u = gap.from;
    for (std::uint32_t k = 0; k < gap.between; ++k) {
      u = u + 1 == model_.units ? 0 : u + 1;
      over_[u] += bytes;
    }
  }

  void charge(std::uint32_t g, double sign) {
    const Gap& gap = model_.gaps[g];
    if (gap.loads) charged_[static_cast<std::size_t>(model_.link(gap))][gap.to] += sign * gap.load_us;
    if (stored_[g] != 0) charged_[1][gap.from] += sign * model_.store_us[gap.item];
  }

  void evict(std::uint32_t g) {
    stored_[g] = is_dirty(g) ? 1 : 0;
    draft_.evicted[g] = 1;
    charge(g, 1);
    bytes_.add(model_.gaps[g], -static_cast<std::int64_t>(model_.size[model_.gaps[g].item]));
    shift(model_.gaps[g], -static_cast<std::int64_t>(model_.size[model_.gaps[g].item]));
    order_.push_back(g);
  }

  // Greedy overshoots: what was evicted last and still fits comes back.
  void keep_again(std::int64_t cap) {
    for (std::size_t i = order_.size(); i-- > 0;) {
      const std::uint32_t g = order_[i];
      const Gap& gap = model_.gaps[g];
      const auto size = static_cast<std::int64_t>(model_.size[gap.item]);
      if (bytes_.most(gap) + size > cap) continue;
      bytes_.add(gap, size);
      draft_.evicted[g] = 0;
      charge(g, -1);
    }
  }

  const Model& model_;
  const ChooseOptions& options_;
  Draft& draft_;
  Bytes bytes_;
  std::array<std::vector<double>, link_count> charged_;
  std::vector<char> stored_;
  std::vector<std::int64_t> over_;  // by unit: bytes above the cap
  std::priority_queue<Entry> heap_;
  std::vector<std::uint32_t> order_;
};

}  // namespace

bool choose(const Model& model, const ChooseOptions& options, Draft& draft) {
  return Chooser(model, options, draft).run();
}

}  // namespace hoist::plan
