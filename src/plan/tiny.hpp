// SPDX-License-Identifier: Apache-2.0
// Small problems: every draft where there are few, else a descent over single changes.
#pragma once

#include "plan/candidates.hpp"

namespace hoist::plan {

// Tries every set of evicted gaps with every launch and delay where these are at most `most`. False where they are
// more.
bool try_all(Workshop& workshop, double bound_us, std::uint64_t most);

// From the best draft: one gap, launch or delay changed at a time, while that helps; at most `tries` plans.
void refine(Workshop& workshop, double bound_us, std::uint64_t tries);

}  // namespace hoist::plan
