// SPDX-License-Identifier: Apache-2.0
#include "transfer/measure.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "transfer/probe.hpp"

namespace hoist {
namespace {

constexpr double most_bytes_per_us = 1e9;  // a link that takes no time at all
constexpr double least_bytes_per_us = 1;   // 1 MB/s
constexpr double least_duplex_factor = 0.1;
constexpr LinkMeasure old_machine = {10, 10000};  // PCIe 3, roughly

// Larger copies took less time, so a machine that was busy was measured: the link is as fast as it was seen to be.
LinkMeasure fastest_seen(const std::vector<CurvePoint>& points) {
  double rate = least_bytes_per_us;
  for (const CurvePoint& point : points) rate = std::max(rate, static_cast<double>(point.bytes) / point.us);
  return {0, std::min(rate, most_bytes_per_us)};
}

// Least squares of time over size. Weighted by 1/time^2: errors of copies are relative, and without weights
// the largest size alone would decide the latency. Around the mean, so that exact times give exact results.
LinkMeasure fit(const std::vector<CurvePoint>& points) {
  double weight = 0, mean_bytes = 0, mean_us = 0;
  for (const CurvePoint& point : points) {
    const double w = 1 / std::max(point.us * point.us, 1e-6);
    weight += w;
    mean_bytes += w * static_cast<double>(point.bytes);
    mean_us += w * point.us;
  }
  mean_bytes /= weight;
  mean_us /= weight;
  double square = 0, product = 0;
  for (const CurvePoint& point : points) {
    const double w = 1 / std::max(point.us * point.us, 1e-6);
    const double off = static_cast<double>(point.bytes) - mean_bytes;
    square += w * off * off;
    product += w * off * (point.us - mean_us);
  }
  const double us_per_byte = square > 0 ? product / square : 0;
  if (us_per_byte < -1 / most_bytes_per_us) return fastest_seen(points);
  if (!(us_per_byte > 1 / most_bytes_per_us)) return {std::max(mean_us, 0.0), most_bytes_per_us};
  return {std::max(mean_us - us_per_byte * mean_bytes, 0.0), std::max(1 / us_per_byte, least_bytes_per_us)};
}

LinkMeasure measure_link(Probe& probe, hoist_copy_kind_t kind) {
  std::vector<CurvePoint> points;
  for (std::uint64_t bytes = std::uint64_t{64} << 10; bytes <= probe.bytes(); bytes *= 4) {
    if (!points.empty() && !probe.has_time_for(4 * 3 * points.back().us)) break;
    points.push_back({bytes, probe.median_us(kind, bytes)});
  }
  if (points.size() < 2) {
    const std::uint64_t half = std::min(probe.bytes(), std::uint64_t{64} << 10) / 2;
    points.insert(points.begin(), {half, probe.median_us(kind, half)});
    if (points.size() < 2) points.push_back({2 * half, probe.median_us(kind, 2 * half)});
  }
  return fit(points);
}

// From the bound's rule: alone they take a and b; together min(a, b) / factor + |a - b|.
double measure_duplex(Probe& probe, const LinkCurve& curve) {
  std::uint64_t bytes = probe.bytes();
  const auto alone = [&](const LinkMeasure& link) {
    return link.latency_us + static_cast<double>(bytes) / link.bytes_per_us;
  };
  while (bytes > (std::uint64_t{64} << 10) && !probe.has_time_for(4 * (alone(curve.h2d) + alone(curve.d2h))))
    bytes /= 2;
  const double up = probe.median_us(HOIST_COPY_H2D, bytes);
  const double down = probe.median_us(HOIST_COPY_D2H, bytes);
  std::array<double, 3> together{};
  together.fill(probe.both_us(bytes));
  for (std::size_t i = 1; i < together.size() && !probe.exact(); ++i) together[i] = probe.both_us(bytes);
  std::sort(together.begin(), together.end());
  const double overlapped = together[1] - std::abs(up - down);
  if (!(overlapped > 0)) return 1;
  return std::clamp(std::min(up, down) / overlapped, least_duplex_factor, 1.0);
}

LinkCurve measured(Device& device, std::uint64_t staging_bytes) {
  // Modelled times need no large copies, which would only move bytes.
  const bool modelled = device.has(HOIST_CAPABILITY_VIRTUAL_CLOCK);
  Probe probe(device, modelled ? std::min(staging_bytes, std::uint64_t{1} << 20) : staging_bytes);
  LinkCurve curve;
  curve.h2d = measure_link(probe, HOIST_COPY_H2D);
  curve.d2h = measure_link(probe, HOIST_COPY_D2H);
  curve.duplex_factor = measure_duplex(probe, curve);
  return curve;
}

}  // namespace

LinkCurve measure_links(Device& device, std::uint64_t staging_bytes) {
  try {
    return measured(device, staging_bytes);
  } catch (const Error& error) {
    log(HOIST_LOG_WARNING, device.name(), ": links could not be measured, plans start from guesses: ", error.what());
    return {old_machine, old_machine, 1};
  }
}

Curve measure_curve(Device& device, hoist_copy_kind_t kind) {
  Curve curve;
  const std::uint64_t smallest = 4096;
  Probe probe(device, smallest << (curve.size() - 1));
  for (std::size_t i = 0; i < curve.size(); ++i) {
    curve[i].bytes = smallest << i;
    const double before = i == 0 ? 0 : curve[i - 1].us;
    const bool measures = curve[i].bytes <= probe.bytes() && (i < 2 || probe.has_time_for(6 * before));
    const double us = measures ? probe.median_us(kind, curve[i].bytes) : 2 * before;
    curve[i].us = std::max(us, before);
  }
  return curve;
}

}  // namespace hoist
