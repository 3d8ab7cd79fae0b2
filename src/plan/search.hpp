// SPDX-License-Identifier: Apache-2.0
// Local search from the best draft: what recipes cannot express, one item or one lead at a time.
#pragma once

#include "plan/candidates.hpp"

namespace hoist::plan {

// At most `tries` plans; stops at the bound.
void search(Workshop& workshop, double bound_us, std::uint64_t tries);

}  // namespace hoist::plan
