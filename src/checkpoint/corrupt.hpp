// SPDX-License-Identifier: Apache-2.0
// One wording for all that is wrong with a checkpoint: file, tensor, byte, what, and what would do.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

namespace hoist {

// A name in quotes; long ones are cut, so that a hostile file cannot fill a log.
std::string quote_name(std::string_view name);

// Why a parser gave up, without its number and without raw bytes of the input: messages are UTF-8.
std::string json_reason(const std::exception& error);

struct Spot {
  const std::string& path;
  std::string_view tensor;  // "" where it concerns the whole file
  std::uint64_t offset;     // in the file
};

// Throws Error(CORRUPT).
[[noreturn]] void corrupt(const Spot& spot, const std::string& what, const std::string& hint = {});

}  // namespace hoist
