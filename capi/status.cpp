// SPDX-License-Identifier: Apache-2.0
#include "hoist/status.h"

#include "base/error_record.hpp"
#include "base/log.hpp"
#include "guard.hpp"
#include "options.hpp"

using namespace hoist;
using namespace hoist::capi;

const char* hoist_status_string(hoist_status_t status) noexcept { return status_name(status); }

hoist_status_t hoist_last_error(hoist_error_t* out_error) noexcept {
  return guarded("hoist_last_error", [&] {
    // Its size at level 1: older programs keep their errors when fields are appended.
    check_out(out_error, "out_error", offsetof(hoist_error_t, hint) + sizeof(const char*));
    const ErrorRecord& record = error_record();
    hoist_error_t full{};
    full.code = record.code;
    full.message = record.message.c_str();
    full.where = record.where.c_str();
    full.hint = record.hint.c_str();
    write_struct(*out_error, full);
  });
}

hoist_status_t hoist_log_set(hoist_log_level_t threshold, hoist_log_fn_t callback, void* user_data) noexcept {
  return guarded("hoist_log_set", [&] { log_set(threshold, callback, user_data); });
}
