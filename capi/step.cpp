// SPDX-License-Identifier: Apache-2.0
#include "hoist/step.h"

#include "guard.hpp"
#include "manager_handle.hpp"
#include "options.hpp"

using namespace hoist;
using namespace hoist::capi;

hoist_status_t hoist_step_begin(hoist_manager_t* manager, hoist_stream_t* stream) noexcept {
  return guarded("hoist_step_begin", [&] {
    const HeldManager held(manager);
    held.budget().step_begin(held.stream(stream));
  });
}

hoist_status_t hoist_unit_begin(hoist_manager_t* manager, hoist_unit_t unit, hoist_stream_t* stream,
                                hoist_unit_view_t* out_view) noexcept {
  return guarded("hoist_unit_begin", [&] {
    const HeldManager held(manager);
    check_out(out_view, "out_view");
    held->unit_begin(unit, held.stream(stream));
    const auto& views = held->views(unit);
    hoist_unit_view_t view = HOIST_UNIT_VIEW_INIT;
    view.count = views.size();
    view.stride = sizeof(hoist_tensor_view_t);
    view.tensors = views.empty() ? nullptr : views.data();
    write_struct(*out_view, view);
  });
}

hoist_status_t hoist_unit_end(hoist_manager_t* manager, hoist_unit_t unit, hoist_stream_t* stream) noexcept {
  return guarded("hoist_unit_end", [&] {
    const HeldManager held(manager);
    held->unit_end(unit, held.stream(stream));
  });
}

hoist_status_t hoist_step_end(hoist_manager_t* manager, hoist_stream_t* stream) noexcept {
  return guarded("hoist_step_end", [&] {
    const HeldManager held(manager);
    static_cast<void>(held.stream(stream));
    held.budget().step_end();
  });
}

hoist_status_t hoist_step_abort(hoist_manager_t* manager, hoist_stream_t* stream) noexcept {
  return guarded("hoist_step_abort", [&] {
    const HeldManager held(manager);
    held.budget().step_abort(held.stream(stream));
  });
}
