// SPDX-License-Identifier: Apache-2.0
// A child of fork has the parent's memory but neither its threads nor its device: it must be told apart.
#pragma once

#include <cstdint>

namespace hoist {

// Grows by one in every child. What was made under another generation belongs to an ancestor.
std::uint32_t fork_generation() noexcept;

}  // namespace hoist
