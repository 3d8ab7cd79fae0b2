// SPDX-License-Identifier: Apache-2.0
// Runs the checks in a process of their own: a device that crashes or hangs fails that check, and the others go on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "device_check/check.hpp"

namespace device_check {

struct RunOptions {
  std::string only;                 // a check's id, or what it begins with; what it needs runs, too
  std::vector<std::string> except;  // ids of checks that are left out
  double timeout_s = 30;            // for one check
};

struct Report {
  std::string name;  // "npu:0"
  std::string description;
  std::string plugin;
  std::uint32_t level = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t alignment = 0;
  std::uint64_t capabilities = 0;
  std::vector<Result> results;
  double seconds = 0;
  [[nodiscard]] int count(Outcome outcome) const;
};

// Says why the device is not there, "" where it is. In a process of its own, too.
std::string absent(const Target& target);

Report run_checks(const Target& target, const RunOptions& options, const std::function<void(int, int)>& progress);

}  // namespace device_check
