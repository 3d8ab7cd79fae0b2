// SPDX-License-Identifier: Apache-2.0
// Places for a timetable: stays share bytes where they do not meet, in time or in the order of the list.
#pragma once

#include "plan/timeline.hpp"

namespace hoist::plan {

// Sets the draft's offsets. Tries a few orders; false where none of them fits the arena, or where `work` is used up,
// which is counted in pairs of stays that are compared.
bool pack(const Model& model, const Timetable& table, Draft& draft, std::uint64_t& work);

}  // namespace hoist::plan
