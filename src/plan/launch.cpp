// SPDX-License-Identifier: Apache-2.0
#include "plan/launch.hpp"

#include <algorithm>

namespace hoist::plan {
namespace {

// Loads on the cycle by deadline, last first.
std::vector<std::uint32_t> loads_backward(const Model& model, const Draft& draft, LinkId link) {
  std::vector<std::uint32_t> loads;
  for (std::uint32_t g = 0; g < model.gaps.size(); ++g) {
    const Gap& gap = model.gaps[g];
    if (draft.evicted[g] != 0 && gap.loads && model.link(gap) == link) loads.push_back(g);
  }
  std::stable_sort(loads.begin(), loads.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return model.gaps[a].to > model.gaps[b].to; });
  return loads;
}

// Keeps each link's loads in the order of their deadlines: none is due before one that is needed earlier.
class Order {
 public:
  Order(const Model& model, const Draft& draft, const std::vector<std::uint32_t>& loads)
      : model_(model), draft_(draft) {
    for (auto& link : by_unit_) link.assign(model.units, {});
    for (const std::uint32_t g : loads) row(g, model.gaps[g].to).push_back(g);
    for (auto& link : before_) link.assign(model.units, none);
    for (std::size_t link = 0; link < link_count; ++link) find_before(link);
  }

  [[nodiscard]] bool allows(std::uint32_t g, std::uint32_t ahead) const {
    const auto link = static_cast<std::size_t>(model_.link(model_.gaps[g]));
    const std::uint32_t to = model_.gaps[g].to;
    const std::uint32_t before = before_[link][to];
    if (before == none) return true;
    // Distances backward from `to`: the earlier unit's last launch must not lie behind this one.
    const std::uint32_t distance = before < to ? to - before : to + model_.units - before;
    std::uint32_t least = none;
    for (const std::uint32_t other : by_unit_[link][before]) least = std::min(least, draft_.ahead[other]);
    return ahead <= distance + least;
  }

 private:
  std::vector<std::uint32_t>& row(std::uint32_t g, std::uint32_t unit) {
    return by_unit_[static_cast<std::size_t>(model_.link(model_.gaps[g]))][unit];
  }

  // By unit, the nearest unit before it that waits for loads of the link.
  void find_before(std::size_t link) {
    std::uint32_t last = none;
    for (std::uint32_t round = 0; round < (model_.problem.cyclic ? 2U : 1U); ++round) {
      for (std::uint32_t u = 0; u < model_.units; ++u) {
        before_[link][u] = last == u ? none : last;
        if (!by_unit_[link][u].empty()) last = u;
      }
    }
  }

  const Model& model_;
  const Draft& draft_;
  std::array<std::vector<std::vector<std::uint32_t>>, link_count> by_unit_;
  std::array<std::vector<std::uint32_t>, link_count> before_;
};

}  // namespace

std::vector<std::uint32_t> needed_leads(const Model& model, const Draft& draft, double step_us) {
  // Units start as if the stalls of a step were spread over it.
  std::vector<double> start(model.units + 1, 0);
  const double stretch = model.compute_us > 0 ? std::max(step_us, model.compute_us) / model.compute_us : 1;
  for (std::uint32_t u = 0; u < model.units; ++u) start[u + 1] = start[u] + model.problem.units[u].compute_us * stretch;
  const double step = start[model.units];
  std::vector<std::uint32_t> leads(model.gaps.size(), 1);
  for (const LinkId link : {LinkId::h2d, LinkId::peer}) {
    const std::vector<std::uint32_t> loads = loads_backward(model, draft, link);
    double free_at = 2 * step;  // the second round knows what wraps from the first
    for (int round = model.problem.cyclic ? 1 : 0; round >= 0; --round) {
      for (const std::uint32_t g : loads) {
        const Gap& gap = model.gaps[g];
        free_at = std::min(free_at, start[gap.to] + round * step) - gap.load_us;
        std::uint32_t lead = 1;
        double at = start[gap.to] + round * step;
        for (std::uint32_t u = gap.to; lead < gap.between; ++lead) {
          u = model.wrap(std::int64_t{u} - 1);
          at -= start[u + 1] - start[u];
          if (at <= free_at) break;
        }
        leads[g] = std::max<std::uint32_t>(1, std::min(lead, gap.between));
      }
    }
  }
  return leads;
}

void grow(const Model& model, Draft& draft, std::uint64_t limit, const std::vector<std::uint32_t>& most) {
  for (std::size_t g = 0; g < draft.ahead.size(); ++g) draft.ahead[g] = 1;
  std::vector<std::uint64_t> bytes = occupancy(model, draft);
  std::vector<std::uint32_t> loads;
  for (std::uint32_t g = 0; g < model.gaps.size(); ++g) {
    if (draft.evicted[g] != 0 && model.gaps[g].loads && most[g] > 1) loads.push_back(g);
  }
  std::stable_sort(loads.begin(), loads.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return model.gaps[a].to < model.gaps[b].to; });
  Order order(model, draft, loads);
  for (std::uint32_t lead = 1; !loads.empty(); ++lead) {
    const auto stuck = [&](std::uint32_t g) {
      const Gap& gap = model.gaps[g];
      if (lead >= most[g] || lead + draft.late[g] >= gap.between) return true;
      const std::uint32_t unit = model.wrap(std::int64_t{gap.to} - lead);
      if (bytes[unit] + model.size[gap.item] > limit || !order.allows(g, lead + 1)) return true;
      bytes[unit] += model.size[gap.item];
      ++draft.ahead[g];
      return false;
    };
    std::vector<std::uint32_t> rest;
    rest.reserve(loads.size());
    for (const std::uint32_t g : loads) {
      if (!stuck(g)) rest.push_back(g);
    }
    loads.swap(rest);
  }
}

double copies_us(const Model& model, const Draft& draft) {
  std::array<double, link_count> time{};
  for (std::uint32_t g = 0; g < model.gaps.size(); ++g) {
    if (draft.evicted[g] == 0 || !model.gaps[g].loads) continue;
    time[static_cast<std::size_t>(model.link(model.gaps[g]))] += model.gaps[g].load_us;
  }
  for (const Stay& stay : stays_of(model, draft)) {
    if (is_stored(model, stay)) time[1] += model.store_us[stay.item];
  }
  const double both = std::min(time[0], time[1]) / model.problem.duplex_factor;
  const double alone = time[0] > time[1] ? time[0] - time[1] : time[1] - time[0];
  return std::max(both + alone, time[2]);
}

}  // namespace hoist::plan
