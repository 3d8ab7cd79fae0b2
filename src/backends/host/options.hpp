// SPDX-License-Identifier: Apache-2.0
// "mode=virtual&h2d_gbps=55": what the host device is opened with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hoist_backend::host {

enum class Mode : std::uint8_t { inline_, threaded, guarded, virtual_ };

struct Options {
  Mode mode = Mode::threaded;
  std::uint64_t memory_bytes = std::uint64_t{8} << 30;
  double h2d_bytes_per_us = 0;  // 0: as fast as memcpy; on the virtual clock: in no time
  double d2h_bytes_per_us = 0;
  double latency_us = 0;
  double duplex_factor = 1;
  std::uint64_t alignment = 512;
  bool move_bytes = true;
  double copy_delay_us = 0;
  std::uint64_t seed = 1;
  std::uint64_t lacks = 0;  // capabilities that it does without
};

// Throws Error(INVALID_ARGUMENT) for an unknown key, with the nearest known one, or a bad value.
Options parse_options(std::string_view given);

const char* mode_name(Mode mode) noexcept;

// For values that come by `set`.
std::uint64_t parse_bytes(std::string_view key, std::string_view value);
double parse_number(std::string_view key, std::string_view value, double least, double most);

}  // namespace hoist_backend::host
