// SPDX-License-Identifier: Apache-2.0
// Times that no plan can beat. Each is a sum that holds for every plan, so none is ever above the optimum.
#include <algorithm>
#include <functional>

#include "plan/planner.hpp"
#include "plan/program.hpp"
#include "plan/sizes.hpp"

namespace hoist::plan {
namespace {

using Wanted = std::function<bool(const Item&)>;

// Bytes that each unit leaves beside what it uses.
std::vector<std::uint64_t> slacks(const Problem& problem) {
  std::vector<std::uint64_t> used(problem.units.size(), 0);
  for (std::uint32_t i = 0; i < problem.items.size(); ++i) {
    for (const Use& use : problem.items[i].uses) used[use.unit] += size_of(problem, i);
  }
  for (std::size_t u = 0; u < used.size(); ++u) {
    const std::uint64_t taken = used[u] + round_up(problem.units[u].workspace_bytes, problem.alignment);
    used[u] = problem.budget_bytes > taken ? problem.budget_bytes - taken : 0;
  }
  return used;
}

// With R resident for ever, each unit u of a set of k gives |R| - |R used by u| <= slack of u. Their sum is one
// knapsack: an item that c of them use weighs k - c a byte. Its fractional optimum is above any R.
double knapsack(const Problem& problem, const Wanted& wanted, const std::vector<char>& in_set, std::uint32_t k,
                double room) {
  std::vector<std::uint64_t> by_weight(k + 1, 0);
  for (std::uint32_t i = 0; i < problem.items.size(); ++i) {
    const Item& item = problem.items[i];
    if (!wanted(item)) continue;
    std::uint32_t uses = 0;
    for (const Use& use : item.uses) uses += in_set[use.unit] != 0 ? 1 : 0;
    by_weight[k - uses] += size_of(problem, i);
  }
  auto total = static_cast<double>(by_weight[0]);
  for (std::uint32_t weight = 1; weight <= k && room > 0; ++weight) {
    const double taken = std::min(static_cast<double>(by_weight[weight]), room / weight);
    total += taken;
    room -= taken * weight;
  }
  return total;
}

// An upper bound on the bytes of wanted items that can stay for ever.
double most_resident(const Problem& problem, const std::vector<std::uint64_t>& slack, const Wanted& wanted) {
  if (!problem.cyclic) return 0;
  const auto units = static_cast<std::uint32_t>(problem.units.size());
  std::vector<std::uint64_t> own(units, 0);
  double most = 0;
  bool single = true;
  for (std::uint32_t i = 0; i < problem.items.size(); ++i) {
    if (!wanted(problem.items[i])) continue;
    most += static_cast<double>(size_of(problem, i));
    single = single && problem.items[i].uses.size() == 1;
    for (const Use& use : problem.items[i].uses) own[use.unit] += size_of(problem, i);
  }
  std::vector<std::uint32_t> order(units);
  for (std::uint32_t u = 0; u < units; ++u) {
    order[u] = u;
    most = std::min(most, static_cast<double>(slack[u] + own[u]));
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return slack[a] < slack[b]; });
  std::vector<char> in_set(units, 0);
  double room = 0;
  for (std::uint32_t k = 1; k <= units; ++k) {
    in_set[order[k - 1]] = 1;
    room += static_cast<double>(slack[order[k - 1]]);
    if (single && k > 1) most = std::min(most, room / (k - 1));
    const bool sampled = k == units || (k & (k - 1)) == 0;
    if (!single && k > 1 && sampled) most = std::min(most, knapsack(problem, wanted, in_set, k, room));
  }
  return most;
}

std::uint64_t must_cross(const Problem& problem, const std::vector<std::uint64_t>& slack, const Wanted& wanted) {
  std::uint64_t bytes = 0;
  for (const Item& item : problem.items) bytes += wanted(item) ? item.bytes : 0;
  const double resident = most_resident(problem, slack, wanted);
  return static_cast<double>(bytes) > resident ? bytes - static_cast<std::uint64_t>(resident) : 0;
}

// The two host links together.
double host_us(const Problem& problem, double down, double up) {
  return std::min(down, up) / problem.duplex_factor + (down > up ? down - up : up - down);
}

double alone_us(const Problem& problem, LinkId link, std::uint64_t bytes) {
  return static_cast<double>(bytes) / problem.links[static_cast<std::size_t>(link)].bytes_per_us;
}

// Windows of units. Of what a window reads before it writes, all that the arena cannot have held at its start is
// loaded inside it; of what it writes and leaves alive, all that the arena cannot hold at its end is stored inside it.
class Windows {
 public:
  Windows(const Problem& problem, double compute)
      : problem_(problem),
        compute_(compute),
        uses_(uses_by_unit(problem)),
        read_(problem.items.size(), none),
        written_(problem.items.size(), none) {}

  // The longest of: one window and the compute outside it; the windows of a step one after the other.
  double longest() {
    const auto units = static_cast<std::uint32_t>(problem_.units.size());
    constexpr std::size_t most_visits = 4'000'000;  // reporting must not take longer than solving
    const std::size_t most_starts = std::max<std::size_t>(most_visits / (uses_.values.size() + units), 1);
    const std::uint32_t starts = static_cast<std::uint32_t>(std::min<std::size_t>(most_starts, units));
    std::vector<double> after(units + 1, 0);  // by unit: the longest chain of windows that ends before it
    double longest = 0;
    for (std::uint32_t i = 0; i < starts; ++i) {
      const auto start = static_cast<std::uint32_t>(std::uint64_t{i} * units / starts);
      longest = std::max(longest, from(start, after));
      if (starts < units)
        chain_compute(after, start, static_cast<std::uint32_t>(std::uint64_t{i + 1} * units / starts));
    }
    return std::max(longest, after[units]);
  }

 private:
  struct Bytes {
    std::array<double, link_count> read{};
    double dirty = 0;
  };

  double from(std::uint32_t start, std::vector<double>& after) {
    const auto units = static_cast<std::uint32_t>(problem_.units.size());
    const std::uint32_t length = problem_.cyclic ? units : units - start;
    double inside = 0;
    double longest = 0;
    Bytes bytes;
    for (std::uint32_t k = 0; k < length; ++k) {
      const std::uint32_t unit = (start + k) % units;
      inside += problem_.units[unit].compute_us;
      add(unit, start, bytes);
      const double time = std::max(inside, copies(bytes, start, unit));
      longest = std::max(longest, compute_ - inside + time);
      if (start + k < units) after[unit + 1] = std::max(after[unit + 1], after[start] + time);
    }
    return longest;
  }

  // Where not every unit starts a window, the units up to the next start count with their compute.
  void chain_compute(std::vector<double>& after, std::uint32_t begin, std::uint32_t end) const {
    for (std::uint32_t u = begin; u < end; ++u) {
      after[u + 1] = std::max(after[u + 1], after[u] + problem_.units[u].compute_us);
    }
  }

  [[nodiscard]] double copies(const Bytes& bytes, std::uint32_t start, std::uint32_t unit) const {
    const auto arena = static_cast<double>(arena_of(problem_));
    const bool first = !problem_.cyclic && start == 0;  // a single shot begins with nothing on the device
    const bool last = !problem_.cyclic && unit + 1 == problem_.units.size();  // and ends with all on the host
    const double held = first ? 0 : arena;
    const auto over = [](double time) { return std::max(0.0, time); };
    const double down = over(bytes.read[0] - held) / problem_.links[0].bytes_per_us;
    const double up = over(bytes.dirty - (last ? 0 : arena)) / problem_.links[1].bytes_per_us;
    const double peer = over(bytes.read[2] - held) / problem_.links[2].bytes_per_us;
    const double both =
        over(bytes.read[0] + bytes.read[2] - held) / (problem_.links[0].bytes_per_us + problem_.links[2].bytes_per_us);
    return std::max({host_us(problem_, down, up), peer, both});
  }

  void add(std::uint32_t unit, std::uint32_t start, Bytes& bytes) {
    for (std::uint32_t i = uses_.begin[unit]; i < uses_.begin[unit + 1]; ++i) {
      const UnitUse& use = uses_.values[i];
      const Item& item = problem_.items[use.item];
      const Mode mode = item.uses[use.nth].mode;
      const auto size = static_cast<double>(item.bytes);
      if (read_[use.item] != start && reads(mode)) bytes.read[static_cast<std::size_t>(item.link)] += size;
      read_[use.item] = start;  // what comes later in the window may still be there
      if (written_[use.item] != start && writes(mode)) {
        bytes.dirty += size;
        written_[use.item] = start;
      }
      const bool dies = item.transient && use.nth + 1 == item.uses.size();
      if (dies && written_[use.item] == start) bytes.dirty -= size;
    }
  }

  const Problem& problem_;
  const double compute_;
  const Rows<UnitUse> uses_;
  std::vector<std::uint32_t> read_, written_;  // by item: the window's start
};

}  // namespace

Bound page_bound(const Problem& problem) {
  Bound bound;
  for (const Unit& unit : problem.units) bound.compute_us += unit.compute_us;
  const std::vector<std::uint64_t> slack = slacks(problem);
  const auto loaded_over = [](LinkId link) {
    return [link](const Item& item) { return item.link == link && !item.uses.empty() && !starts_with_write(item); };
  };
  bound.h2d_bytes = must_cross(problem, slack, loaded_over(LinkId::h2d));
  bound.peer_bytes = must_cross(problem, slack, loaded_over(LinkId::peer));
  bound.d2h_bytes = must_cross(problem, slack, [](const Item& item) { return !item.transient && is_written(item); });
  const double host = host_us(problem, alone_us(problem, LinkId::h2d, bound.h2d_bytes),
                              alone_us(problem, LinkId::d2h, bound.d2h_bytes));
  bound.step_us = std::max({bound.compute_us, host, alone_us(problem, LinkId::peer, bound.peer_bytes)});
  bound.windowed_us = bound.step_us;
  return bound;
}

Bound bound(const Problem& problem) {
  validate(problem);
  Bound result = page_bound(problem);
  result.windowed_us = std::max(result.step_us, Windows(problem, result.compute_us).longest());
  return result;
}

std::uint64_t smallest_budget(const Problem& problem) {
  std::vector<std::uint64_t> used(problem.units.size(), 0);
  std::uint64_t most = 0;
  for (std::uint32_t i = 0; i < problem.items.size(); ++i) {
    for (const Use& use : problem.items[i].uses) most = std::max(most, used[use.unit] += size_of(problem, i));
  }
  return largest_workspace(problem) + most;
}

}  // namespace hoist::plan
