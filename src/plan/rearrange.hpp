// SPDX-License-Identifier: Apache-2.0
// Local search that leaves places alone: a few stays are taken out and put back elsewhere, later, or not at all.
#pragma once

#include "plan/candidates.hpp"

namespace hoist::plan {

// From the best draft; at most `tries` plans; stops at the bound.
void rearrange(Workshop& workshop, double bound_us, std::uint64_t tries);

}  // namespace hoist::plan
