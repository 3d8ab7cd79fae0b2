// SPDX-License-Identifier: Apache-2.0
#include "hoist/timing.h"

#include "guard.hpp"
#include "manager_handle.hpp"
#include "options.hpp"

using namespace hoist;
using namespace hoist::capi;

namespace {

hoist_unit_timing_t public_timing(const UnitTimes& times) {
  hoist_unit_timing_t out = HOIST_UNIT_TIMING_INIT;
  out.steps = times.steps;
  out.compute_min_us = times.compute.min_us;
  out.compute_median_us = times.compute.median_us;
  out.compute_max_us = times.compute.max_us;
  out.transfer_min_us = times.transfer.min_us;
  out.transfer_median_us = times.transfer.median_us;
  out.transfer_max_us = times.transfer.max_us;
  out.wait_min_us = times.wait.min_us;
  out.wait_median_us = times.wait.median_us;
  out.wait_max_us = times.wait.max_us;
  out.transfer_bytes = times.transfer_bytes;
  return out;
}

}  // namespace

hoist_status_t hoist_timing_begin(hoist_manager_t* manager, uint32_t step_limit) noexcept {
  constexpr std::uint32_t most = 1U << 20;
  return guarded("hoist_timing_begin", [&] {
    const HeldManager held(manager);
    if (step_limit > most) {
      fail(HOIST_ERROR_INVALID_ARGUMENT, text("step_limit is ", step_limit), text("give at most ", most));
    }
    held.budget().timing_begin(step_limit == 0 ? 1024 : step_limit);
  });
}

hoist_status_t hoist_timing_update(hoist_manager_t* manager) noexcept {
  return guarded("hoist_timing_update", [&] { HeldManager(manager).budget().timing_update(); });
}

hoist_status_t hoist_timing_query(hoist_manager_t* manager, hoist_unit_t unit,
                                  hoist_unit_timing_t* out_timing) noexcept {
  return guarded("hoist_timing_query", [&] {
    const HeldManager held(manager);
    check_out(out_timing, "out_timing");
    write_struct(*out_timing, public_timing(held.budget().timing(held->budget_unit(unit))));
  });
}

hoist_status_t hoist_timing_end(hoist_manager_t* manager) noexcept {
  return guarded("hoist_timing_end", [&] { HeldManager(manager).budget().timing_end(); });
}
