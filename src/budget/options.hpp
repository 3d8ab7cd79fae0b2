// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "transfer/measure.hpp"

namespace hoist {

// Where tensors lie: at the planner's offsets of one arena, or at addresses of their own that outlive a plan.
enum class Placement : std::uint8_t { arena, slots };

struct BudgetOptions {
  std::uint64_t bytes = 0;               // 0: by share
  double share = 1.0;                    // of the unique bytes, rounded up; the largest workspace comes on top
  std::uint64_t pinned_limit_bytes = 0;  // 0: none
  std::uint32_t profile_steps = 7;       // 0: none; one slow step of so many does not decide the plan
  std::uint32_t run_ahead_steps = 2;
  std::uint32_t plan_effort = 0;
  bool trust = false;
  Placement placement = Placement::arena;
  std::optional<LinkCurve> links;  // measured at the commit where not given
};

// Throw Error(INVALID_ARGUMENT) for what no budget can be.
void require_share(double share);
void require_valid(const BudgetOptions& options);

}  // namespace hoist
