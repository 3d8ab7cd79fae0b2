// SPDX-License-Identifier: Apache-2.0
// When loads become due: as early as the bytes of the units before allow, or as early as they must.
#pragma once

#include "plan/model.hpp"

namespace hoist::plan {

// By gap: the lead that a backward earliest-deadline-first schedule asks for, if a step took `step_us`.
std::vector<std::uint32_t> needed_leads(const Model& model, const Draft& draft, double step_us);

// Grows leads from one unit, nearest deadlines first, while no unit holds more than `limit`; at most `most`.
void grow(const Model& model, Draft& draft, std::uint64_t limit, const std::vector<std::uint32_t>& most);

// Link time of a draft's copies: each link alone, the host links together.
double copies_us(const Model& model, const Draft& draft);

}  // namespace hoist::plan
