// SPDX-License-Identifier: Apache-2.0
// What the subcommands share: how they are added, and what the process's status says.
#pragma once

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>

namespace tool {

enum Exit {
  exit_ok = 0,
  exit_check_failed = 1,  // what ran was not right
  exit_bad_input = 2,     // options, files, devices that are not there
  exit_infeasible = 3     // no plan fits the budget
};

// What a subcommand throws for an argument or file that cannot be; what() is one line that says what would do.
struct BadInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Each adds its subcommand; running it leaves the process's status in `status`.
void add_bench(CLI::App& app, int& status);
void add_checkpoint(CLI::App& app, int& status);
void add_device_check(CLI::App& app, int& status);
void add_info(CLI::App& app, int& status);
void add_plan(CLI::App& app, int& status);
void add_simulate(CLI::App& app, int& status);
void add_stream(CLI::App& app, int& status);

}  // namespace tool
