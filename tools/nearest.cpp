// SPDX-License-Identifier: Apache-2.0
#include "nearest.hpp"

#include <algorithm>
#include <numeric>

namespace tool {
namespace {

std::size_t edits(const std::string& from, const std::string& to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(const std::string& name, const std::vector<std::string>& candidates) {
  const auto best = std::min_element(candidates.begin(), candidates.end(),
                                     [&](const auto& a, const auto& b) { return edits(name, a) < edits(name, b); });
  return best == candidates.end() ? std::string() : *best;
}

}  // namespace tool
