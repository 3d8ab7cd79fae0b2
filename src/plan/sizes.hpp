// SPDX-License-Identifier: Apache-2.0
// Bytes as memory counts them: rounded up to the alignment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/problem.hpp"

namespace hoist::plan {

inline std::uint64_t round_up(std::uint64_t bytes, std::uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

inline std::uint64_t size_of(const Problem& problem, std::uint32_t item) {
  return round_up(problem.items[item].bytes, problem.alignment);
}

inline std::uint64_t largest_workspace(const Problem& problem) {
  std::uint64_t largest = 0;
  for (const Unit& unit : problem.units) largest = std::max(largest, unit.workspace_bytes);
  return round_up(largest, problem.alignment);
}

// The arena: what the budget leaves for items, in whole alignments; 0 where the workspace takes it all.
inline std::uint64_t arena_of(const Problem& problem) {
  const std::uint64_t workspace = largest_workspace(problem);
  const std::uint64_t left = problem.budget_bytes > workspace ? problem.budget_bytes - workspace : 0;
  return left / problem.alignment * problem.alignment;
}

inline double copy_us(const Link& link, std::uint64_t bytes) {
  return link.latency_us + static_cast<double>(bytes) / link.bytes_per_us;
}

inline double load_us(const Problem& problem, const Item& item) {
  return copy_us(problem.links[static_cast<std::size_t>(item.link)], item.bytes);
}

inline double store_us(const Problem& problem, const Item& item) {
  return copy_us(problem.links[static_cast<std::size_t>(LinkId::d2h)], item.bytes);
}

// Whether the item's first use brings it into being rather than needing its bytes.
inline bool starts_with_write(const Item& item) { return !item.uses.empty() && !reads(item.uses.front().mode); }

inline bool is_written(const Item& item) {
  return std::any_of(item.uses.begin(), item.uses.end(), [](const Use& use) { return writes(use.mode); });
}

}  // namespace hoist::plan
