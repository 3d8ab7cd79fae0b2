// SPDX-License-Identifier: Apache-2.0
#include "budget/options.hpp"

#include <array>
#include <charconv>
#include <string_view>

#include "base/error.hpp"

namespace hoist {

void require_share(double share) {
  if (share >= 0 && share <= 1) return;  // and no NaN
  std::array<char, 32> digits{};         // all that tell it from 1
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), share).ptr;
  fail(HOIST_ERROR_INVALID_ARGUMENT,
       text("budget_share is ", std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data()))),
       "give a share above 0 and up to 1, which keeps everything; 0 is the default; or bytes, by budget_bytes");
}

void require_valid(const BudgetOptions& options) {
  require_share(options.share);
  constexpr std::uint32_t most_run_ahead = 64;  // events are kept for every unit of each of these steps
  if (options.run_ahead_steps <= most_run_ahead) return;
  fail(HOIST_ERROR_INVALID_ARGUMENT, text("run_ahead_steps is ", options.run_ahead_steps),
       text("give at most ", most_run_ahead));
}

}  // namespace hoist
