// SPDX-License-Identifier: Apache-2.0
// Links as steps find them: copies timed beside compute say what an idle link's curve cannot.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "transfer/measure.hpp"

namespace hoist {

class LoadedLinks {
 public:
  // A copy of a step. Times are of one clock for both ways.
  void add(bool up, std::uint64_t bytes, double begin_us, double end_us) {
    copies_[up ? 0 : 1].push_back({bytes, begin_us, end_us});
  }
  // The idle curve at the scale that was seen: by the medians of sizes, weighted by time. Copies beside one the
  // other way are left out, since plans count these apart. A way that was hardly seen stays as it is.
  [[nodiscard]] LinkCurve refine(const LinkCurve& idle) const;

 private:
  struct Copy {
    std::uint64_t bytes;
    double begin_us;
    double end_us;
  };
  [[nodiscard]] LinkMeasure refine(const LinkMeasure& idle, std::size_t way) const;
  [[nodiscard]] std::vector<Copy> alone(std::size_t way) const;

  std::array<std::vector<Copy>, 2> copies_;
};

}  // namespace hoist
