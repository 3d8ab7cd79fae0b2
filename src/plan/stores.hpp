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

}  // namespace hoist::plan
