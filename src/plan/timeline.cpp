// SPDX-License-Identifier: Apache-2.0
#include "plan/timeline.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>

namespace hoist::plan {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

class Timeline {
 public:
  Timeline(const Model& model, Draft& draft, const std::vector<std::uint32_t>& most, std::uint64_t cap)
      : model_(model), draft_(draft), most_(most), cap_(cap), extra_(model.units, 0) {
    bytes_ = occupancy(model, draft);
    ready_.assign(model.problem.items.size(), 0);
    there_.assign(model.problem.items.size(), 0);
    stores_of_.assign(model.problem.items.size(), 0);
    at_first_.resize(model.units);
    at_last_.resize(model.units);
    at_store_.resize(model.units);
    for (const Stay& stay : stays_of(model, draft)) enlist(stay);
    live_.assign(stays_.size(), {});
    for (auto& queue : loads_) {
      std::stable_sort(queue.begin(), queue.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return stays_[a].first < stays_[b].first; });
    }
  }

  std::optional<Timetable> run() {
    if (*std::max_element(bytes_.begin(), bytes_.end()) > cap_ || !begin()) return std::nullopt;
    constexpr std::uint32_t passes = 3;  // the last of them is told
    double before = 0;
    while (unit_ < passes * model_.units) {
      const std::uint64_t unit = unit_;
      if (!advance()) return std::nullopt;
      const bool ended = unit_ > unit && unit_ % model_.units == 0;
      if (ended && unit_ / model_.units == passes - 1) before = now_;
    }
    return table(now_ - before);
  }

 private:
  struct Live {  // a stay's residency
    bool there = false;
    bool leaving = false;
    bool storing = false;  // a store of it is due or under way
    double begin = 0;
    std::uint64_t early = 0;  // units by which its load was ahead
    Span last{0, -1};         // of the one before
    std::uint64_t last_early = 0;
  };
  struct Copy {
    std::uint32_t stay = none;
    double left = 0;
  };

  void enlist(const Stay& stay) {
    if (stay.in == none) {
      used_ += stay.size;
      ready_[stay.item] = 1;
      return;
    }
    const auto s = static_cast<std::uint32_t>(stays_.size());
    stays_.push_back(stay);
    at_last_[model_.gaps[stay.out].from].push_back(s);
    if (is_stored(model_, stay)) at_store_[static_cast<std::uint32_t>(stay.written)].push_back(s);
    if (model_.gaps[stay.in].loads) {
      loads_[static_cast<std::size_t>(model_.link(model_.gaps[stay.in]))].push_back(s);
    } else {
      at_first_[stay.first].push_back(s);
    }
  }

  // What lasts from one step into the next is there as the first begins.
  bool begin() {
    for (std::uint32_t s = 0; s < stays_.size(); ++s) {
      if (stays_[s].first + stays_[s].length <= model_.units) continue;
      if (!fits(s)) return false;
      enter(s, stays_[s].first);
      ready_[stays_[s].item] = 1;
    }
    return true;
  }

  [[nodiscard]] bool fits(std::uint32_t s) const { return used_ + stays_[s].size <= cap_; }

  void enter(std::uint32_t s, std::uint64_t first) {
    Live& live = live_[s];
    live.there = true;
    live.leaving = live.storing = false;
    live.begin = now_;
    live.early = first > unit_ ? first - unit_ : 0;
    used_ += stays_[s].size;
    ++there_[stays_[s].item];
  }

  void free(std::uint32_t s) {
    Live& live = live_[s];
    live.there = false;
    live.last = {live.begin, now_};
    live.last_early = live.early;
    used_ -= stays_[s].size;
    ++changes_;
    --there_[stays_[s].item];
  }

  // Starts what can start, then goes to the next end. False where nothing is under way.
  bool advance() {
    start_unit();
    for (const LinkId link : {LinkId::h2d, LinkId::d2h, LinkId::peer}) start_copy(link);
    const bool both = copies_[0].stay != none && copies_[1].stay != none;
    const auto speed = [&](std::size_t link) { return both && link < 2 ? model_.problem.duplex_factor : 1.0; };
    double next = running_ ? unit_left_ : never;
    for (std::size_t link = 0; link < link_count; ++link) {
      if (copies_[link].stay != none) next = std::min(next, copies_[link].left / speed(link));
    }
    if (next == never) return false;
    now_ += next;
    if (running_) unit_left_ -= next;
    for (std::size_t link = 0; link < link_count; ++link) copies_[link].left -= next * speed(link);
    const double least = 1e-9 * (1 + model_.compute_us);
    for (std::size_t link = 0; link < link_count; ++link) {
      if (copies_[link].stay != none && copies_[link].left <= least) end_copy(link);
    }
    if (running_ && unit_left_ <= least) end_unit();
    return true;
  }

  void start_unit() {
    if (running_) return;
    const auto u = static_cast<std::uint32_t>(unit_ % model_.units);
    for (std::uint32_t i = model_.uses.begin[u]; i < model_.uses.begin[u + 1]; ++i) {
      const std::uint32_t item = model_.uses.values[i].item;
      const Mode mode = model_.problem.items[item].uses[model_.uses.values[i].nth].mode;
      if (reads(mode) && ready_[item] == 0) return;
      if (writes(mode) && stores_of_[item] != 0) return;
    }
    std::uint64_t born = 0;
    for (const std::uint32_t s : at_first_[u]) {
      if (there_[stays_[s].item] != 0) return;
      born += stays_[s].size;
    }
    if (used_ + born > cap_) return;
    for (const std::uint32_t s : at_first_[u]) {
      enter(s, unit_);
      ready_[stays_[s].item] = 1;
    }
    running_ = true;
    unit_left_ = model_.problem.units[u].compute_us;
  }

  void start_copy(LinkId link) {
    Copy& copy = copies_[static_cast<std::size_t>(link)];
    if (copy.stay != none) return;
    if (link == LinkId::d2h) {
      if (stores_.empty()) return;
      copy = {stores_.front(), model_.store_us[stays_[stores_.front()].item]};
      stores_.pop_front();
      return;
    }
    const auto& queue = loads_[static_cast<std::size_t>(link)];
    if (queue.empty()) return;
    std::uint64_t& head = heads_[static_cast<std::size_t>(link)];
    const std::uint32_t s = queue[head % queue.size()];
    const std::uint64_t first = head / queue.size() * model_.units + stays_[s].first;
    std::uint64_t& refused = refused_[static_cast<std::size_t>(link)];
    if (refused == changes_) return;
    if (!may_load(s, first)) {
      refused = changes_;
      return;
    }
    ++head;
    for (std::uint64_t u = unit_; u < first; ++u) extra_[u % model_.units] += stays_[s].size;
    enter(s, first);
    copy = {s, model_.gaps[stays_[s].in].load_us};
  }

  // Not while it is there, nor so early that bytes would be missing in a unit before its own.
  [[nodiscard]] bool may_load(std::uint32_t s, std::uint64_t first) const {
    const Stay& stay = stays_[s];
    const std::uint32_t most = std::min(model_.gaps[stay.in].between, most_[stay.in]);
    if (first < unit_ || first - unit_ + 1 > most || there_[stay.item] != 0 || !fits(s)) return false;
    for (std::uint64_t u = unit_; u < first; ++u) {
      const auto unit = static_cast<std::uint32_t>(u % model_.units);
      if (bytes_[unit] + extra_[unit] + stay.size > cap_) return false;
    }
    return true;
  }

  void end_copy(std::size_t link) {
    const std::uint32_t s = copies_[link].stay;
    copies_[link] = {};
    if (link != 1) {
      ready_[stays_[s].item] = 1;
      return;
    }
    --stores_of_[stays_[s].item];
    live_[s].storing = false;
    if (live_[s].leaving) free(s);
  }

  void end_unit() {
    running_ = false;
    const auto u = static_cast<std::uint32_t>(unit_ % model_.units);
    extra_[u] = 0;
    ++unit_;
    ++changes_;
    for (const std::uint32_t s : at_store_[u]) {
      live_[s].storing = true;
      ++stores_of_[stays_[s].item];
      stores_.push_back(s);
    }
    for (const std::uint32_t s : at_last_[u]) {
      live_[s].leaving = true;
      ready_[stays_[s].item] = 0;
      if (!live_[s].storing) free(s);
    }
  }

  std::optional<Timetable> table(double step_us) {
    Timetable out;
    out.step_us = step_us;
    for (std::uint32_t s = 0; s < stays_.size(); ++s) {
      const Live& live = live_[s];
      if (live.last.end < live.last.begin) return std::nullopt;
      Stay stay = stays_[s];
      if (model_.gaps[stay.in].loads) {
        const auto early = static_cast<std::uint32_t>(live.last_early);
        draft_.ahead[stay.in] = early + 1;
        stay.length += early;
        stay.start = model_.wrap(std::int64_t{stay.first} - early);
      }
      out.stays.push_back(stay);
      out.spans.push_back(live.last);
    }
    return out;
  }

  const Model& model_;
  Draft& draft_;
  const std::vector<std::uint32_t>& most_;
  const std::uint64_t cap_;
  std::vector<Stay> stays_;                       // all that come and go, their loads one unit ahead
  std::vector<Live> live_;                        // by stay
  std::vector<char> ready_;                       // by item
  std::vector<std::uint32_t> there_, stores_of_;  // by item: stays that have bytes, stores that have not ended
  std::uint64_t used_ = 0;
  std::vector<std::uint64_t> bytes_, extra_;  // by unit: with loads one unit ahead, and what loads further ahead add
  std::vector<std::vector<std::uint32_t>> at_first_, at_last_, at_store_;  // by unit: births, ends, stores
  std::array<std::vector<std::uint32_t>, link_count> loads_;               // by deadline
  std::array<std::uint64_t, link_count> heads_{};                          // loads begun
  std::array<Copy, link_count> copies_;                                    // under way
  std::deque<std::uint32_t> stores_;
  std::uint64_t changes_ = 1;                        // ends of units and stays: what was refused may be allowed then
  std::array<std::uint64_t, link_count> refused_{};  // by link: when its next load was
  std::uint64_t unit_ = 0;                           // that runs or waits, counted from the first step on
  bool running_ = false;
  double unit_left_ = 0;
  double now_ = 0;
};

}  // namespace

std::optional<Timetable> run_in_time(const Model& model, Draft& draft, const std::vector<std::uint32_t>& most,
                                     std::uint64_t cap) {
  std::fill(draft.ahead.begin(), draft.ahead.end(), 1);
  std::fill(draft.late.begin(), draft.late.end(), 0);
  std::fill(draft.pause.begin(), draft.pause.end(), 0);
  return Timeline(model, draft, most, cap).run();
}

}  // namespace hoist::plan
