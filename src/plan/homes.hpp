// SPDX-License-Identifier: Apache-2.0
// Homes: for every item the place of a demand load; those of one unit's items never overlap.
#pragma once

#include <optional>
#include <vector>

#include "plan/plan.hpp"
#include "plan/program.hpp"

namespace hoist::plan {

// The plan's own places where they agree. Nothing where none was found: fragmentation.
std::optional<std::vector<Place>> find_homes(const Problem& problem, const Rows<UnitUse>& uses, const Plan& plan);

// The smallest budget under which homes were found, above the problem's own and what fits by bytes.
std::uint64_t budget_with_homes(const Problem& problem, const Rows<UnitUse>& uses);

}  // namespace hoist::plan
