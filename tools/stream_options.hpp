// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tool {

// What hoist stream is asked.
struct StreamOptions {
  std::string model;
  std::string budget;
  std::string device = "host:0";
  unsigned steps = 10;
  std::optional<unsigned> check_steps;  // beyond the timed ones, where those cannot be checked; nothing: as many
  std::vector<std::string> units;       // globs; the natural grouping for the rest
  std::optional<double> compute_us;     // of every unit; nothing: as long as its own bytes take on the link
  std::string trace;
  bool timing = false;
  bool json = false;
  bool explain = false;
};

}  // namespace tool
