// SPDX-License-Identifier: Apache-2.0
#include "budget/options.hpp"

#include "base/error.hpp"

namespace hoist {

void require_share(double share) {
  if (share >= 0 && share <= 1e6) return;  // neither negative nor NaN
  fail(HOIST_ERROR_INVALID_ARGUMENT, text("budget_share is ", share),
       "give a share from 0 (default) up, 1 being all bytes");
}

void require_valid(const BudgetOptions& options) {
  require_share(options.share);
  constexpr std::uint32_t most_run_ahead = 64;  // events are kept for every unit of each of these steps
  if (options.run_ahead_steps <= most_run_ahead) return;
  fail(HOIST_ERROR_INVALID_ARGUMENT, text("run_ahead_steps is ", options.run_ahead_steps),
       text("give at most ", most_run_ahead));
}

}  // namespace hoist
