// SPDX-License-Identifier: Apache-2.0
// The rows that every timeline of a step has, measured or simulated.
#pragma once

#include <cstdint>

#include "trace/chrome_trace.hpp"

namespace hoist {

enum class TraceRow : std::uint8_t { compute, wait, h2d, d2h, peer };

// Names the rows, with the peer link's where it is wanted.
void name_rows(ChromeTrace& trace, bool with_peer);

// Units belong to compute and wait, items to the links.
constexpr bool is_of_units(TraceRow row) { return row == TraceRow::compute || row == TraceRow::wait; }

}  // namespace hoist
