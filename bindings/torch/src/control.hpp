// SPDX-License-Identifier: Apache-2.0
// Calls from Python beside the ops, by ctypes: a failure is -1; its text, and what it was, are kept for the thread.
#pragma once

#include <exception>
#include <string>

#include "failure.hpp"

#define HOIST_TORCH_API extern "C" __attribute__((visibility("default")))

namespace hoist_torch {

std::string& failure() noexcept;

template <typename Call>
int guarded(Call&& call) noexcept {
  try {
    call();
    return 0;
  } catch (const std::exception& error) {
    failure() = error.what();
    note_failure(error);
    return -1;
  }
}

}  // namespace hoist_torch
