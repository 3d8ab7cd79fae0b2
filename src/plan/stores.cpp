// SPDX-License-Identifier: Apache-2.0
#include "plan/stores.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "plan/launch.hpp"

namespace hoist::plan {
namespace {

class Quiet {
 public:
  Quiet(const Model& model, Draft& draft, std::uint64_t cap, const std::vector<double>& stalls)
      : model_(model), draft_(draft), cap_(cap), used_(model.units, 0), bytes_(occupancy(model, draft)) {
    find_busy(stalls);
  }

  void run() {
    std::vector<Wait> waits;
    for (const Stay& stay : stays_of(model_, draft_)) {
      if (!is_stored(model_, stay) || model_.gaps[stay.out].outside) continue;
      const auto written = static_cast<std::uint32_t>(stay.written);
      if (busy_[after(written)] == 0) {
        used_[after(written)] += model_.store_us[stay.item];
        continue;
      }
      waits.push_back({stay.out, written, distance(written, model_.gaps[stay.out].from), next_quiet(written)});
    }
    std::stable_sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) {
      const bool a_free = a.least <= a.kept;
      const bool b_free = b.least <= b.kept;
      return a_free != b_free ? a_free : a.least < b.least;
    });
    for (const Wait& wait : waits) place(wait);
  }

 private:
  struct Wait {
    std::uint32_t out = 0;      // gap
    std::uint32_t written = 0;  // unit
    std::uint32_t kept = 0;     // units from there to the last use
    std::uint32_t least = 0;    // units from there to the first one after which nothing stalls
  };

  [[nodiscard]] std::uint32_t after(std::uint32_t unit) const { return unit + 1 == model_.units ? 0 : unit + 1; }
  [[nodiscard]] std::uint32_t distance(std::uint32_t from, std::uint32_t to) const {
    return to >= from ? to - from : to + model_.units - from;
  }

  // Units that stall, and short rests between them.
  void find_busy(const std::vector<double>& stalls) {
    constexpr std::uint32_t rest = 3;
    busy_.assign(model_.units, 0);
    const double sum = std::accumulate(stalls.begin(), stalls.end(), 0.0);
    const double least = sum / model_.units * 0.1;
    std::uint32_t since = 2 * rest;  // units since the last that stalled
    for (std::uint32_t k = 0; k < 2 * model_.units; ++k) {
      const std::uint32_t unit = k % model_.units;
      if (stalls[unit] <= least) {
        ++since;
        continue;
      }
      for (std::uint32_t back = 0; back <= (since <= rest ? since : 0); ++back) {
        busy_[model_.wrap(std::int64_t{unit} - back)] = 1;
      }
      since = 0;
    }
  }

  // Units to wait until the one that follows neither stalls nor has stores for all its time; 0 if none is quiet.
  [[nodiscard]] std::uint32_t next_quiet(std::uint32_t written) const {
    for (std::uint32_t k = 1; k < model_.units; ++k) {
      const std::uint32_t next = (written + k + 1) % model_.units;
      if (busy_[next] == 0 && used_[next] < model_.problem.units[next].compute_us) return k;
    }
    return 0;
  }

  void place(const Wait& wait) {
    const std::uint32_t k = next_quiet(wait.written);
    if (k == 0) return;
    const std::uint32_t begin = (wait.written + k + 1) % model_.units;
    const double time = used_[begin] + model_.store_us[model_.gaps[wait.out].item];
    const std::uint32_t end = k + units_for(begin, time);
    if (k > wait.kept && !keep(wait, end - wait.kept)) return;
    if (k <= wait.kept && end > wait.kept) (void)keep(wait, end - wait.kept);
    draft_.pause[wait.out] = k;
    used_[begin] = time;
  }

  // How many units from this one on compute for so long.
  [[nodiscard]] std::uint32_t units_for(std::uint32_t unit, double time) const {
    std::uint32_t count = 0;
    for (; count + 1 < model_.units && time > 0; ++count, unit = after(unit))
      time -= model_.problem.units[unit].compute_us;
    return count;
  }

  // Stays that much longer, where bytes allow.
  bool keep(const Wait& wait, std::uint32_t late) {
    const Gap& gap = model_.gaps[wait.out];
    if (late + 1 > gap.between) return false;
    const std::uint64_t size = model_.size[gap.item];
    for (std::uint32_t k = 1, u = after(gap.from); k <= late; ++k, u = after(u)) {
      if (bytes_[u] + size > cap_) return false;
    }
    for (std::uint32_t k = 1, u = after(gap.from); k <= late; ++k, u = after(u)) bytes_[u] += size;
    draft_.late[wait.out] = late;
    return true;
  }

  const Model& model_;
  Draft& draft_;
  const std::uint64_t cap_;
  std::vector<char> busy_;    // by unit: it stalls
  std::vector<double> used_;  // by unit: time of stores that are due as it begins
  std::vector<std::uint64_t> bytes_;
};

}  // namespace

void quiet_stores(const Model& model, Draft& draft, std::uint64_t cap, const std::vector<double>& stalls) {
  Quiet(model, draft, cap, stalls).run();
}

std::vector<std::uint32_t> store_tails(const Model& model, const Draft& draft, const std::vector<Stay>& stays) {
  std::vector<std::uint32_t> tails(model.gaps.size(), 0);
  const double step_us = std::max(model.compute_us, copies_us(model, draft));
  const double stretch = model.compute_us > 0 ? step_us / model.compute_us : 1;
  std::vector<double> start(model.units + 1, 0);
  for (std::uint32_t u = 0; u < model.units; ++u) start[u + 1] = start[u] + model.problem.units[u].compute_us * stretch;
  std::vector<std::pair<std::uint32_t, const Stay*>> due;  // after which unit
  for (const Stay& stay : stays) {
    if (is_stored(model, stay) && stay.size > 0) due.emplace_back(store_after(model, draft, stay), &stay);
  }
  std::stable_sort(due.begin(), due.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  double free_at = 0;
  for (int round = 0; round < (model.problem.cyclic ? 2 : 1); ++round) {  // the second knows the first's backlog
    for (const auto& [after, stay] : due) {
      const double begin = round * start[model.units];
      free_at = std::max(free_at, begin + start[after + 1]) + model.store_us[stay->item];
      std::uint32_t unit = model.wrap(std::int64_t{stay->start} + stay->length);  // the first without it
      double at = begin + start[unit] + (unit <= after ? start[model.units] : 0);
      std::uint32_t& tail = tails[stay->out] = 0;
      for (; tail + stay->length < model.units && at < free_at; ++tail) {
        at += start[unit + 1] - start[unit];
        unit = unit + 1 == model.units ? 0 : unit + 1;
      }
    }
  }
  return tails;
}

}  // namespace hoist::plan
