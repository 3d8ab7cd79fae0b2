// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/error.hpp"

namespace hoist_backend::cuda {
namespace {

hoist_status_t status_of(CUresult result) noexcept {
  switch (result) {
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_HANDLE:
      return HOIST_ERROR_INVALID_ARGUMENT;
    case CUDA_ERROR_OUT_OF_MEMORY:
      return HOIST_ERROR_OUT_OF_MEMORY;
    case CUDA_ERROR_NOT_READY:
      return HOIST_ERROR_INVALID_STATE;
    case CUDA_ERROR_NOT_SUPPORTED:
      return HOIST_ERROR_UNSUPPORTED;
    default:
      return HOIST_ERROR_DEVICE;
  }
}

std::string hint_for(CUresult result) {
  if (is_sticky(result)) {
    return "work that ran on this device earlier, a kernel most likely, broke the process's CUDA context: find it with "
           "compute-sanitizer; a new process is needed";
  }
  if (result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_ERROR_CAPTURED_EVENT) {
    return "a stream is being captured into a CUDA graph, where this call is not allowed";
  }
  if (result == CUDA_ERROR_NOT_INITIALIZED) {
    return "a child of fork cannot use CUDA that its parent has initialised: start it by exec or spawn";
  }
  return "";
}

}  // namespace

bool is_sticky(CUresult result) noexcept {
  return result == CUDA_ERROR_ECC_UNCORRECTABLE || result == CUDA_ERROR_NVLINK_UNCORRECTABLE ||
         result == CUDA_ERROR_CONTAINED || result == CUDA_ERROR_ILLEGAL_ADDRESS ||
         result == CUDA_ERROR_LAUNCH_TIMEOUT || result == CUDA_ERROR_ASSERT ||
         (result >= CUDA_ERROR_HARDWARE_STACK_ERROR && result <= CUDA_ERROR_LAUNCH_FAILED);
}

void fail_call(CUresult result, const char* call, const std::string& about) {
  const char* name = nullptr;
  const char* words = nullptr;
  driver().cuGetErrorName(result, &name);
  driver().cuGetErrorString(result, &words);
  const std::string of = about.empty() ? about : text(" of ", about);
  fail(status_of(result),
       text(call, of, ": ", name == nullptr ? "an error" : name, " (", static_cast<int>(result), "), ",
            words == nullptr ? "unknown to the driver" : words),
       hint_for(result));
}

}  // namespace hoist_backend::cuda
