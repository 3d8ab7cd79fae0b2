// SPDX-License-Identifier: Apache-2.0
#include "backends/common/error.hpp"

#include <algorithm>

namespace hoist_backend {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_hint(std::string_view name, const std::vector<std::string_view>& known) {
  const auto best = std::min_element(known.begin(), known.end(), [name](std::string_view a, std::string_view b) {
    return edit_distance(name, a) < edit_distance(name, b);
  });
  return best == known.end() ? std::string() : text("the nearest known one is '", *best, "'");
}

}  // namespace hoist_backend
