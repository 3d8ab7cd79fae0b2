// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.hpp"

#include <algorithm>
#include <cctype>

namespace hoist {
namespace {

std::string lower(std::string_view name) {
  std::string result(name);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows: swaps look back two.
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    before.swap(previous);
    previous.swap(current);
  }
  return previous[b.size()];
}

std::string nearest(std::string_view name, const std::vector<std::string_view>& candidates) {
  const std::string wanted = lower(name);
  std::string_view best;
  std::size_t best_distance = static_cast<std::size_t>(-1);
  for (std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(wanted, lower(candidate));
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return std::string(best);
}

std::string nearest_hint(std::string_view name, const std::vector<std::string_view>& candidates) {
  const std::string best = nearest(name, candidates);
  return best.empty() ? best : "the nearest known one is '" + best + "'";
}

}  // namespace hoist
