// SPDX-License-Identifier: Apache-2.0
#include "failure.hpp"

#include <string>

namespace hoist_torch {
namespace {

struct Failure {
  bool noted = false;
  int code = HOIST_OK;
  std::string message, where, hint;
};

thread_local Failure last;

}  // namespace

void note_failure(const std::exception& error) noexcept {
  try {
    const auto* ours = dynamic_cast<const hoist::Exception*>(&error);
    last.code = ours != nullptr ? ours->code() : HOIST_OK;
    last.message = ours != nullptr ? ours->message() : error.what();
    last.where = ours != nullptr ? ours->where() : "";
    last.hint = ours != nullptr ? ours->hint() : "";
    last.noted = true;
  } catch (...) {
    last.noted = false;  // no memory for a text: torch's own exception has to do
  }
}

int take_failure(FailureView* out) noexcept {
  if (!std::exchange(last.noted, false)) return 0;
  *out = {last.code, hoist_status_string(static_cast<hoist_status_t>(last.code)), last.message.c_str(),
          last.where.c_str(), last.hint.c_str()};
  return 1;
}

}  // namespace hoist_torch
