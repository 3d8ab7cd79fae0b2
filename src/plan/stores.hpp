// SPDX-License-Identifier: Apache-2.0
// When stores are due.
#pragma once

#include <vector>

#include "plan/model.hpp"

namespace hoist::plan {

// While units stall, a store slows the loads that they wait for. Each one that would run there waits until after it:
// on the way to its item's last use, which takes no bytes, or longer, where the bytes that it keeps fit below `cap`.
// `stalls`: microseconds by unit.
void quiet_stores(const Model& model, Draft& draft, std::uint64_t cap, const std::vector<double>& stalls);

// By gap that a stay ends with: how many units begin between its end and that of its store, were stores one after the
// other on their link and units as long as the step's copies make them.
std::vector<std::uint32_t> store_tails(const Model& model, const Draft& draft, const std::vector<Stay>& stays);

}  // namespace hoist::plan
