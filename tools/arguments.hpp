// SPDX-License-Identifier: Apache-2.0
// What options accept, and the words for what they do not.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace tool {

// For options that name a file.
CLI::Validator a_path();
CLI::Validator a_budget();
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);
CLI::Validator number(double least, double most);
// "1GiB", "64MiB", "4096"; the option then holds the number.
CLI::Validator bytes(std::uint64_t least, std::uint64_t most);

// Why the command line is refused: the option that it is about, and what would do.
std::string refusal(const CLI::App& app, const CLI::ParseError& error);

}  // namespace tool
