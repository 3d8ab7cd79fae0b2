// SPDX-License-Identifier: Apache-2.0
// How long copies take on a device's links: what plans are made from before anything has been observed.
#pragma once

#include <array>
#include <cstdint>

#include "device/device.hpp"

namespace hoist {

struct LinkMeasure {
  double latency_us = 0;
  double bytes_per_us = 0;
};

// Both positive and finite where a plan needs them so; duplex_factor above 0, at most 1.
struct LinkCurve {
  LinkMeasure h2d;
  LinkMeasure d2h;
  double duplex_factor = 1;
};

// Copies of several sizes through pinned host memory, at most that many bytes a direction. Takes some 20 ms
// on fast links, at most about 50 on slow ones or a busy machine: a first guess, since steps show the links as they
// are under load (loaded_links.hpp). Where it fails: values of an old machine, and a warning in the log. On a virtual
// clock it is exact.
LinkCurve measure_links(Device& device, std::uint64_t staging_bytes = std::uint64_t{8} << 20);

struct CurvePoint {
  std::uint64_t bytes = 0;
  double us = 0;
};
using Curve = std::array<CurvePoint, 12>;

// 4 KiB, 8 KiB, ... 8 MiB: the median time of one copy each; times never fall with size. Throws Error.
Curve measure_curve(Device& device, hoist_copy_kind_t kind);

}  // namespace hoist
