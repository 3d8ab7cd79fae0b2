// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tool {

// The candidate with the fewest single-character edits; "" for none.
std::string nearest(const std::string& name, const std::vector<std::string>& candidates);

}  // namespace tool
