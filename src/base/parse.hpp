// SPDX-License-Identifier: Apache-2.0
// Numbers in text, as options and the environment give them. Errors name `what` and the text.
#pragma once

#include <cstdint>
#include <string_view>

namespace hoist {

// "1000", "512MiB", "1.5GiB", "24 GB": a whole number of bytes after rounding down. Throws Error(INVALID_ARGUMENT).
std::uint64_t parse_bytes(std::string_view what, std::string_view text);

// Whether the text is meant as a share: it ends in '%'.
bool is_share(std::string_view text);
// "60%" or "0.6" to 0.6; above 0, at most 1. Throws Error(INVALID_ARGUMENT).
double parse_share(std::string_view what, std::string_view text);

// Decimal, up to `most`. Throws Error(INVALID_ARGUMENT).
std::uint64_t parse_count(std::string_view what, std::string_view text, std::uint64_t most);

// A finite number. Throws Error(INVALID_ARGUMENT).
double parse_number(std::string_view what, std::string_view text);

// 1, on, true, yes or 0, off, false, no. Throws Error(INVALID_ARGUMENT).
bool parse_switch(std::string_view what, std::string_view text);

}  // namespace hoist
