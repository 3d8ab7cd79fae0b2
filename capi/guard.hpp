// SPDX-License-Identifier: Apache-2.0
// The exception boundary: no exception crosses the ABI, and nothing else in capi/ catches any.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include "base/error.hpp"
#include "base/error_record.hpp"
#include "base/log.hpp"
#include "hoist/status.h"

namespace hoist::capi {

// Turns the exception in flight into a status and the thread's error record.
inline hoist_status_t record_current_exception(const char* where) noexcept {
  try {
    throw;
  } catch (const Error& error) {
    record_error(error.code(), error.what(), where, error.hint().c_str());
  } catch (const std::bad_alloc&) {
    record_error(HOIST_ERROR_OUT_OF_MEMORY, "the host is out of memory", where, "");
  } catch (const std::exception& error) {
    record_error(HOIST_ERROR_INTERNAL, error.what(), where, "please report this");
  } catch (...) {
    record_error(HOIST_ERROR_INTERNAL, "an exception of unknown type", where, "please report this");
  }
  return error_record().code;
}

// The whole body of a public call: guarded("hoist_device_open", [&] { ... }).
template <typename Body>
[[nodiscard]] hoist_status_t guarded(const char* where, Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
    return HOIST_OK;
  } catch (...) {
    return record_current_exception(where);
  }
}

// The same for calls that return void: a failure can only be logged.
template <typename Body>
void guarded_void(const char* where, Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
  } catch (const std::exception& error) {
    log(HOIST_LOG_ERROR, where, ": ", error.what());
  } catch (...) {
    log(HOIST_LOG_ERROR, where, ": an exception of unknown type");
  }
}

}  // namespace hoist::capi
