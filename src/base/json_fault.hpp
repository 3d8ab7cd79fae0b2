// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace hoist {

// Where a text stops being JSON, what stands there and what is expected instead, for people:
// "line 5, column 41: nan stands where a value is expected". Parses it once more; "" for JSON.
std::string json_fault(std::string_view document);

}  // namespace hoist
