// SPDX-License-Identifier: Apache-2.0
// What a failed call of the driver becomes.
#pragma once

#include <string>

#include "backends/common/error.hpp"
#include "backends/cuda/driver_api.hpp"

namespace hoist_backend::cuda {

// The context is lost with it: every later call fails the same way.
bool is_sticky(CUresult result) noexcept;

// Throws for a failed driver call: the call, what it was about, the error's name and words, what would do.
[[noreturn]] void fail_call(CUresult result, const char* call, const std::string& about);

inline void check(CUresult result, const char* call, const char* about) {
  if (result != CUDA_SUCCESS) [[unlikely]] {
    fail_call(result, call, about);
  }
}

}  // namespace hoist_backend::cuda
