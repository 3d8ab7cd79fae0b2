// SPDX-License-Identifier: Apache-2.0
// Local search from the best draft: what recipes cannot express, one item or one lead at a time.
#pragma once

#include "plan/candidates.hpp"

namespace hoist::plan {

// At most `tries` plans; stops at the bound.
void search(Workshop& workshop, double bound_us, std::uint64_t tries);

// The same over timetables, by bytes alone; what beats the best plan is placed. At first what is slower by up to
// `threshold`, relative, is accepted, too, and ever less as tries are used up.
void search_in_time(Workshop& workshop, double bound_us, std::uint64_t tries, double threshold);

}  // namespace hoist::plan
