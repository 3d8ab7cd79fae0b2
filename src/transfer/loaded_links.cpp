// SPDX-License-Identifier: Apache-2.0
#include "transfer/loaded_links.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace hoist {
namespace {

constexpr std::size_t least_copies = 4;
constexpr double most_overlap = 0.05;  // of a copy's time
constexpr double least_difference = 0.01;

}  // namespace

std::vector<LoadedLinks::Copy> LoadedLinks::alone(std::size_t way) const {
  const std::vector<Copy>& others = copies_[1 - way];  // in the order of their lane: neither begin nor end goes back
  std::vector<Copy> found;
  for (const Copy& copy : copies_[way]) {
    double beside = 0;
    auto other =
        std::partition_point(others.begin(), others.end(), [&](const Copy& it) { return it.end_us <= copy.begin_us; });
    for (; other != others.end() && other->begin_us < copy.end_us; ++other) {
      beside += std::min(other->end_us, copy.end_us) - std::max(other->begin_us, copy.begin_us);
    }
    if (beside <= most_overlap * (copy.end_us - copy.begin_us)) found.push_back(copy);
  }
  return found;
}

LinkMeasure LoadedLinks::refine(const LinkMeasure& idle, std::size_t way) const {
  const std::vector<Copy> copies = alone(way);
  if (copies.size() < least_copies) return idle;
  std::map<std::uint64_t, std::vector<double>> by_size;
  for (const Copy& copy : copies) by_size[copy.bytes].push_back(copy.end_us - copy.begin_us);
  double seen = 0;
  double expected = 0;
  for (auto& [bytes, times] : by_size) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
    std::nth_element(times.begin(), middle, times.end());
    seen += *middle * static_cast<double>(times.size());
    expected += (idle.latency_us + static_cast<double>(bytes) / idle.bytes_per_us) * static_cast<double>(times.size());
  }
  if (!(seen > 0) || !(expected > 0) || std::abs(seen / expected - 1) < least_difference) return idle;
  return {idle.latency_us * seen / expected, idle.bytes_per_us * expected / seen};
}

LinkCurve LoadedLinks::refine(const LinkCurve& idle) const {
  return {refine(idle.h2d, 0), refine(idle.d2h, 1), idle.duplex_factor};
}

}  // namespace hoist
