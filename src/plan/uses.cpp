// SPDX-License-Identifier: Apache-2.0
#include "plan/program.hpp"

namespace hoist::plan {

Rows<UnitUse> uses_by_unit(const Problem& problem) {
  Rows<UnitUse> rows;
  std::vector<std::uint32_t> count(problem.units.size() + 1, 0);
  for (const Item& item : problem.items) {
    for (const Use& use : item.uses) ++count[use.unit + 1];
  }
  for (std::size_t i = 1; i < count.size(); ++i) count[i] += count[i - 1];
  rows.begin = count;
  rows.values.resize(count.back());
  for (std::uint32_t i = 0; i < problem.items.size(); ++i) {
    const auto& uses = problem.items[i].uses;
    for (std::uint32_t n = 0; n < uses.size(); ++n) rows.values[count[uses[n].unit]++] = {i, n};
  }
  return rows;
}

}  // namespace hoist::plan
