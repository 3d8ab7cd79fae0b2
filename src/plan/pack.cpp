// SPDX-License-Identifier: Apache-2.0
#include "plan/pack.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plan/field.hpp"

namespace hoist::plan {
namespace {

// Places for spans: each stay in turn where none that it meets lies, the first that finds none goes to the front.
class Packer {
 public:
  Packer(const Model& model, const Timetable& table, Draft& draft, std::uint64_t& work)
      : model_(model),
        table_(table),
        draft_(draft),
        work_(work),
        count_(static_cast<std::uint32_t>(table.stays.size())),
        meets_(std::size_t{count_} * count_, 0) {
    for (const Stay& stay : stays_of(model, draft)) {
      if (stay.in != none) continue;
      draft.offset[model.gaps_begin[stay.item]] = bottom_;
      bottom_ += stay.size;
    }
  }

  bool run() {
    if (table_.step_us <= 0 || several_births() || !spend(2 * std::uint64_t{count_} * count_)) return false;
    for (std::uint32_t a = 0; a < count_; ++a) {
      for (std::uint32_t b = 0; b < a; ++b) meets_[at(a, b)] = meets_[at(b, a)] = meet(a, b) ? 1 : 0;
    }
    for (const Key key : {Key::size, Key::time, Key::length, Key::area}) {
      for (const bool split : {false, true}) {
        if (try_order(key, split)) return true;
      }
    }
    return false;
  }

 private:
  enum class Key : std::uint8_t { size, area, length, time };
  struct Placed {
    Taken place;
    std::uint32_t stay = 0;
  };

  [[nodiscard]] std::size_t at(std::uint32_t a, std::uint32_t b) const { return std::size_t{a} * count_ + b; }

  bool spend(std::uint64_t work) {
    if (work_ < work) return false;
    work_ -= work;
    return true;
  }

  // In time or in the order of the list, on the cycle: one begins while the other lasts.
  [[nodiscard]] bool meet(std::uint32_t a, std::uint32_t b) const {
    const Stay& x = table_.stays[a];
    const Stay& y = table_.stays[b];
    if (x.size == 0 || y.size == 0) return false;
    const std::uint32_t later = model_.wrap(std::int64_t{y.start} - x.start);
    if (later < x.length || (later == 0 ? 0 : model_.units - later) < y.length) return true;
    const Span& p = table_.spans[a];
    const Span& q = table_.spans[b];
    const double least = 1e-6 * table_.step_us;
    return behind(q.begin - p.begin) < p.end - p.begin - least || behind(p.begin - q.begin) < q.end - q.begin - least;
  }

  // A time on the cycle. The first step of a run can be any times as long as the last.
  [[nodiscard]] double behind(double time) const { return time - std::floor(time / table_.step_us) * table_.step_us; }

  // All births of an item have one place, which is not sought here.
  [[nodiscard]] bool several_births() const {
    std::vector<char> born(model_.problem.items.size(), 0);
    return std::any_of(table_.stays.begin(), table_.stays.end(),
                       [&](const Stay& stay) { return !model_.gaps[stay.in].loads && born[stay.item]++ != 0; });
  }

  [[nodiscard]] double key_of(std::uint32_t s, Key key) const {
    const auto size = static_cast<double>(table_.stays[s].size);
    const double time = table_.spans[s].end - table_.spans[s].begin;
    if (key == Key::time) return -behind(table_.spans[s].begin);
    return key == Key::size ? size : key == Key::area ? size * time : time;
  }

  bool try_order(Key key, bool split) {
    std::vector<std::uint32_t> order(count_);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const double x = key_of(a, key);
      const double y = key_of(b, key);
      return x != y ? x > y : table_.stays[a].size > table_.stays[b].size;
    });
    constexpr int retries = 12;
    for (int retry = 0; retry <= retries && spend(std::uint64_t{count_} * count_ / 4); ++retry) {
      const std::size_t failed = put_all(order, split);
      if (failed == count_) return true;
      std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(failed),
                  order.begin() + static_cast<std::ptrdiff_t>(failed) + 1);
    }
    return false;
  }

  // How many found a place, in order.
  std::size_t put_all(const std::vector<std::uint32_t>& order, bool split) {
    placed_.clear();
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Stay& stay = table_.stays[order[i]];
      met_.clear();
      for (const Placed& other : placed_) {
        if (meets_[at(order[i], other.stay)] != 0) met_.push_back(other.place);
      }
      const bool high = split && model_.problem.items[stay.item].transient;
      const std::uint64_t found = high ? highest_hole(met_, stay.size, bottom_, model_.arena)
                                       : hole(met_, stay.size, bottom_, model_.arena, false);
      if (found == nowhere) return i;
      draft_.offset[stay.in] = found;
      const Placed here{{found, found + stay.size}, order[i]};
      placed_.insert(std::upper_bound(placed_.begin(), placed_.end(), here,
                                      [](const Placed& a, const Placed& b) { return lower(a.place, b.place); }),
                     here);
    }
    return order.size();
  }

  const Model& model_;
  const Timetable& table_;
  Draft& draft_;
  std::uint64_t& work_;
  const std::uint32_t count_;
  std::vector<char> meets_;     // by pair of stays
  std::vector<Placed> placed_;  // by offset
  Row met_;
  std::uint64_t bottom_ = 0;
};

}  // namespace

bool pack(const Model& model, const Timetable& table, Draft& draft, std::uint64_t& work) {
  return Packer(model, table, draft, work).run();
}

}  // namespace hoist::plan
