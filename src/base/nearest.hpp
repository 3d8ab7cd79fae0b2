// SPDX-License-Identifier: Apache-2.0
// "Did you mean": the known name that is fewest edits away.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hoist {

// Insertions, deletions, replacements and swaps of neighbours that turn one into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The first of the nearest candidates; "" for none. Upper and lower case count as equal.
std::string nearest(std::string_view name, const std::vector<std::string_view>& candidates);

// A hint for an unknown name: "the nearest known one is 'mode'"; "" where nothing is known.
std::string nearest_hint(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace hoist
