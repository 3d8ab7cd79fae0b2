// SPDX-License-Identifier: Apache-2.0
// Streams that load their links evenly: what matters most where transfer is the bottleneck.
#pragma once

#include <memory>

#include "plan/model.hpp"

namespace hoist::plan {

struct EqualizeOptions {
  std::uint64_t cap = 0;       // as in ChooseOptions
  std::vector<double> weight;  // by unit: how much link time it should take, 1 on average
  bool carry = false;          // what a unit streams too much or too little, the next one makes up for
  double loose = 0;            // with carry: how far off, in shares, a unit may be for the sake of fewer copies
};

// Items that one unit uses, each with one gap that spans the step, grouped by unit, link and size.
class Equalizer {
 public:
  explicit Equalizer(const Model& model);
  ~Equalizer();

  // Whether every gap that can be evicted is one of these.
  [[nodiscard]] bool covers_all() const;

  // Replaces the draft's evictions of such items. False where there are none, or the cap cannot be reached.
  bool run(const EqualizeOptions& options, Draft& draft) const;

 private:
  class Rooms;
  std::unique_ptr<Rooms> rooms_;
};

}  // namespace hoist::plan
