// SPDX-License-Identifier: Apache-2.0
// What the links of a device give, as its user meets them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hoist/hoist.hpp"

namespace tool {

// A size and the median time of one copy of it, begin to end on the device; 0 µs: not measured.
struct CurvePoint {
  std::uint64_t bytes = 0;
  double h2d_us = 0;
  double d2h_us = 0;
};

struct LinkReport {
  hoist_device_properties_t facts{};
  std::vector<CurvePoint> curve;  // doubling, from 4 KiB
  std::uint64_t large = 0;        // bytes of all that follows, each way
  double both_us = 0;             // a copy each way at once
  double h2d_under_load_us = 0;   // while the device's own memory is being filled
  double d2h_under_load_us = 0;
  double d2d_us = 0;       // within the device; 0: no room
  double pageable_us = 0;  // from host memory that is not pinned
  double pinning_us = 0;   // to take, touch and pin as much
  bool pinned = false;     // else the device refused, and all that is above is pageable
};

// From one device's memory into another's, by the one that receives.
struct PeerReport {
  std::string from;
  std::string to;
  std::uint64_t bytes = 0;
  double us = 0;
  std::string refusal;  // "" where it was measured
};

// Sizes end at `largest`, or where a quarter of the device's free memory does.
LinkReport measure_links_of(const hoist::Device& device, std::uint64_t largest);
PeerReport measure_peer(const hoist::Device& from, const hoist::Device& to, std::uint64_t largest);

inline double gb_per_s(std::uint64_t bytes, double us) { return us > 0 ? static_cast<double>(bytes) / us / 1e3 : 0; }

}  // namespace tool
