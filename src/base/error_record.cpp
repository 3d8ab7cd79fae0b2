// SPDX-License-Identifier: Apache-2.0
#include "base/error_record.hpp"

#include "base/of_thread.hpp"

namespace hoist {

const ErrorRecord& error_record() noexcept { return of_thread<ErrorRecord>(); }

void record_error(hoist_status_t code, const char* message, const char* where, const char* hint) noexcept {
  ErrorRecord& target = of_thread<ErrorRecord>();
  target.code = code;
  ++target.number;
  try {
    // Copies first: the arguments may point into the record itself.
    std::string new_message = message == nullptr ? "" : message;
    std::string new_where = where == nullptr ? "" : where;
    std::string new_hint = hint == nullptr ? "" : hint;
    target.message.swap(new_message);
    target.where.swap(new_where);
    target.hint.swap(new_hint);
  } catch (...) {
    target.message.clear();
    target.where.clear();
    target.hint.clear();
  }
}

const char* status_name(hoist_status_t status) noexcept {
#define HOIST_NAME(name) \
  case name:             \
    return #name
  switch (status) {
    HOIST_NAME(HOIST_OK);
    HOIST_NAME(HOIST_ERROR_INVALID_ARGUMENT);
    HOIST_NAME(HOIST_ERROR_INVALID_STATE);
    HOIST_NAME(HOIST_ERROR_NOT_FOUND);
    HOIST_NAME(HOIST_ERROR_ALREADY_EXISTS);
    HOIST_NAME(HOIST_ERROR_UNSUPPORTED);
    HOIST_NAME(HOIST_ERROR_OUT_OF_MEMORY);
    HOIST_NAME(HOIST_ERROR_INFEASIBLE);
    HOIST_NAME(HOIST_ERROR_BUSY);
    HOIST_NAME(HOIST_ERROR_ORDER);
    HOIST_NAME(HOIST_ERROR_STALE);
    HOIST_NAME(HOIST_ERROR_FORKED);
    HOIST_NAME(HOIST_ERROR_IO);
    HOIST_NAME(HOIST_ERROR_CORRUPT);
    HOIST_NAME(HOIST_ERROR_INVALID_PLAN);
    HOIST_NAME(HOIST_ERROR_DEVICE);
    HOIST_NAME(HOIST_ERROR_ABORTED);
    HOIST_NAME(HOIST_ERROR_INTERNAL);
    case HOIST_STATUS_FORCE_32:
      break;
  }
#undef HOIST_NAME
  return "HOIST_ERROR_UNKNOWN";
}

}  // namespace hoist
