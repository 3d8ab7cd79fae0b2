// SPDX-License-Identifier: Apache-2.0
// Which gaps to evict so that every unit fits under a cap.
#pragma once

#include "plan/model.hpp"

namespace hoist::plan {

struct ChooseOptions {
  std::uint64_t cap = 0;         // bytes of items during any unit, loads one unit ahead not counted
  std::vector<double> weight;    // by unit: how much link time it should take, 1 on average
  std::vector<double> pressure;  // by unit: its loads cost more; empty: none
  double peer = 1;               // what time of the peer link costs, that of the host's links being 1
  double store = 1;              // what time of stores costs
  bool narrow = false;           // what counts is only what a gap frees of units above the cap
};

// Greedy, cheapest first by link time that its unit already waits for. False where the cap cannot be reached.
bool choose(const Model& model, const ChooseOptions& options, Draft& draft);

}  // namespace hoist::plan
