// SPDX-License-Identifier: Apache-2.0
// Small random problems: every mode, class, link and oddity, at budgets from the smallest on.
#pragma once

#include <algorithm>
#include <string>

#include "plan/planner.hpp"

namespace hoist::plan::small {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2654435761U + 12345) {}
  std::uint32_t below(std::uint32_t end) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>((state_ >> 33) % end);
  }
  bool chance(std::uint32_t percent) { return below(100) < percent; }

 private:
  std::uint64_t state_;
};

inline Item random_item(Random& random, std::uint32_t index, std::uint32_t units) {
  Item item;
  item.name = "item" + std::to_string(index);
  item.bytes = random.chance(5) ? 0 : 100 * (1 + random.below(20));
  item.transient = random.chance(20);
  item.link = random.chance(15) ? LinkId::peer : LinkId::h2d;
  for (std::uint32_t u = 0; u < units; ++u) {
    if (!random.chance(40)) continue;
    const std::uint32_t mode = random.below(5);
    item.uses.push_back({u, mode < 3 ? Mode::read : mode == 3 ? Mode::read_write : Mode::write});
  }
  if (item.uses.empty()) item.uses.push_back({random.below(units), Mode::read});
  if (item.transient) item.uses.front().mode = Mode::write;
  return item;
}

inline Problem problem(std::uint64_t seed, std::uint32_t most_units, std::uint32_t most_items) {
  Random random(seed);
  Problem problem;
  problem.alignment = random.chance(50) ? 1 : 16;
  const double rate = random.chance(50) ? 10 : 25;
  problem.links = {Link{random.chance(50) ? 0.0 : 5.0, rate}, Link{0, rate}, Link{8, 40}};
  problem.duplex_factor = random.chance(50) ? 1 : 0.87;
  problem.cyclic = random.chance(75);
  const std::uint32_t units = 2 + random.below(most_units - 1);
  for (std::uint32_t u = 0; u < units; ++u) {
    problem.units.push_back({"unit" + std::to_string(u), static_cast<double>(random.below(200)), 16 * random.below(4)});
  }
  const std::uint32_t items = 1 + random.below(most_items);
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < items; ++i) {
    problem.items.push_back(random_item(random, i, units));
    total += problem.items.back().bytes;
  }
  const std::uint64_t least = smallest_budget(problem);
  problem.budget_bytes = least + (total > least ? (total - least) * random.below(100) / 100 : 0);
  return problem;
}

}  // namespace hoist::plan::small
