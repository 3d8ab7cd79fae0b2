// SPDX-License-Identifier: Apache-2.0
// What went wrong last on a thread. torch makes a RuntimeError of whatever an op throws; the Python side makes hoist's
// own exception of it again.
#pragma once

#include <exception>
#include <utility>

#include "hoist/hoist.hpp"

namespace hoist_torch {

struct FailureView {
  int code;  // a hoist_status_t; HOIST_OK for a text of the adapter's own
  const char* name;
  const char* message;
  const char* where;
  const char* hint;
};

void note_failure(const std::exception& error) noexcept;
// 1 where something has been noted since the last call; it is good until the thread's next failure.
int take_failure(FailureView* out) noexcept;

template <typename Call>
decltype(auto) noting(Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (const std::exception& error) {
    note_failure(error);
    throw;
  }
}

}  // namespace hoist_torch
