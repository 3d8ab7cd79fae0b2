// SPDX-License-Identifier: Apache-2.0
// Plans for arenas that a unit nearly fills: there places decide, not bytes.
#pragma once

#include "plan/candidates.hpp"

namespace hoist::plan {

// Each unit is packed for itself, the fullest first, and everything leaves after each use; what finds its bytes free
// until its next use stays, loads start as early as their places are free. At most `tries` plans.
void repack(Workshop& workshop, std::uint64_t tries);

}  // namespace hoist::plan
