// SPDX-License-Identifier: Apache-2.0
// HOIST_* environment variables: one list of known names, and what the process-wide ones say.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hoist {

// Every name that hoist reads, "HOIST_" included.
const std::vector<std::string_view>& environment_names();

// The value of HOIST_<KEY> for a key such as "budget_bytes"; an empty value counts as not set.
std::optional<std::string> environment(std::string_view key);

// "HOIST_BUDGET_BYTES" for "budget_bytes".
std::string environment_name(std::string_view key);

// Throws Error(INVALID_ARGUMENT) for an unknown HOIST_* name, with the nearest known one, and for a
// process-wide value that cannot be.
void check_environment();

// HOIST_TRUST, read once. A value that cannot be counts as on; check_environment() refuses it.
bool trust_mode() noexcept;

// HOIST_LOG as a hoist_log_level_t; warnings where it is not set or cannot be.
int log_threshold() noexcept;

}  // namespace hoist
