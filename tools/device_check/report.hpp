// SPDX-License-Identifier: Apache-2.0
// What was found, for people and for programs.
#pragma once

#include "device_check/runner.hpp"

namespace device_check {

void print(const Report& report, bool verbose);
void print_json(const Report& report);
void print_list();

}  // namespace device_check
