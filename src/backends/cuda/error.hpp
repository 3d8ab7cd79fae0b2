// SPDX-License-Identifier: Apache-2.0
// Failures inside the cuda device. plugin.cpp turns them into statuses and services->error_set.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "backends/cuda/driver_api.hpp"
#include "hoist/device_ops.h"

namespace hoist_cuda {

class CudaError : public std::runtime_error {
 public:
  CudaError(hoist_status_t code, const std::string& message, std::string hint = {})
      : std::runtime_error(message), code_(code), hint_(std::move(hint)) {}
  [[nodiscard]] hoist_status_t code() const noexcept { return code_; }
  [[nodiscard]] const std::string& hint() const noexcept { return hint_; }

 private:
  hoist_status_t code_;
  std::string hint_;
};

template <typename... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

[[noreturn]] inline void fail(hoist_status_t code, const std::string& message, std::string hint = {}) {
  throw CudaError(code, message, std::move(hint));
}

// The context is lost with it: every later call fails the same way.
bool is_sticky(CUresult result) noexcept;

// Throws for a failed driver call: the call, what it was about, the error's name and words, what would do.
[[noreturn]] void fail_call(CUresult result, const char* call, const std::string& about);

inline void check(CUresult result, const char* call, const char* about) {
  if (result != CUDA_SUCCESS) [[unlikely]] {
    fail_call(result, call, about);
  }
}

}  // namespace hoist_cuda
