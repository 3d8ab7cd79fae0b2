// SPDX-License-Identifier: Apache-2.0
// The rows that every timeline of a step has, measured or simulated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/planner.hpp"
#include "trace/chrome_trace.hpp"

namespace hoist {

enum class TraceRow : std::uint8_t { compute, wait, h2d, d2h, peer };

// Names the rows, with the peer link's where it is wanted.
void name_rows(ChromeTrace& trace, bool with_peer);

// Units belong to compute and wait, items to the links.
constexpr bool is_of_units(TraceRow row) { return row == TraceRow::compute || row == TraceRow::wait; }

// Writes a simulated step as Chrome trace JSON. Throws Error(IO) that names the path and the reason.
void write_simulated(const plan::Problem& problem, const std::vector<plan::Interval>& step, const std::string& path);

}  // namespace hoist
