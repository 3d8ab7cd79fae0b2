// SPDX-License-Identifier: Apache-2.0
#include "hoist/trace.h"

#include "guard.hpp"
#include "manager_handle.hpp"

using namespace hoist;
using namespace hoist::capi;

hoist_status_t hoist_trace_begin(hoist_manager_t* manager, std::uint64_t event_limit) noexcept {
  return guarded("hoist_trace_begin", [&] { HeldManager(manager).budget().trace_begin(event_limit); });
}

hoist_status_t hoist_trace_end(hoist_manager_t* manager, const char* path) noexcept {
  return guarded("hoist_trace_end", [&] { HeldManager(manager).budget().trace_end(path); });
}
