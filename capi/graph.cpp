// SPDX-License-Identifier: Apache-2.0
#include "hoist/graph.h"

#include <memory>

#include "guard.hpp"
#include "manager_handle.hpp"
#include "options.hpp"

using namespace hoist;
using namespace hoist::capi;

namespace {

struct Graph {
  std::shared_ptr<Device> device;
  std::shared_ptr<void> handle;
};

hoist_replay_state_t state_of(const ReplayStatus& status) {
  if (status.captures == 0) return HOIST_REPLAY_NONE;
  if (!status.runner.failure.empty()) return HOIST_REPLAY_STARVED;
  return status.runner.held ? HOIST_REPLAY_HELD : HOIST_REPLAY_OPEN;
}

}  // namespace

struct hoist_graph_t : hoist::capi::Handle<Graph> {
  static constexpr const char* type = "hoist_graph_t";
};

hoist_status_t hoist_capture_begin(hoist_stream_t* stream) noexcept {
  return guarded("hoist_capture_begin", [&] {
    const Held target(stream, "stream");
    target->device->capture_begin(target->handle.get());
  });
}

hoist_status_t hoist_capture_end(hoist_stream_t* stream, hoist_graph_t** out_graph) noexcept {
  return guarded("hoist_capture_end", [&] {
    const Held target(stream, "stream");
    required(out_graph, "out_graph");
    const std::shared_ptr<Device> device = target->device;
    auto* handle = create_handle<hoist_graph_t>(Graph{device, nullptr});
    const Abandon abandon(handle);
    handle->value->handle = {device->capture_end(target->handle.get()),
                             [device](void* graph) { device->graph_destroy(graph); }};
    *out_graph = abandon.keep();
  });
}

hoist_status_t hoist_graph_launch(hoist_graph_t* graph, hoist_stream_t* stream) noexcept {
  return guarded("hoist_graph_launch", [&] {
    const Held launched(graph, "graph");
    const Held target(stream, "stream");
    if (launched->device != target->device) {
      fail(HOIST_ERROR_INVALID_ARGUMENT, "graph and stream are of different devices",
           "launch it on a stream of the device that it was captured on");
    }
    launched->device->graph_launch(launched->handle.get(), target->handle.get());
  });
}

void hoist_graph_destroy(hoist_graph_t* graph) noexcept { destroy_handle(graph, "hoist_graph_destroy"); }

hoist_status_t hoist_replay_query(hoist_manager_t* manager, hoist_replay_status_t* out_status) noexcept {
  return guarded("hoist_replay_query", [&] {
    const HeldManager held(manager);
    check_out(out_status, "out_status");
    const ReplayStatus core = held.budget().replay_status();
    hoist_replay_status_t status = HOIST_REPLAY_STATUS_INIT;
    status.state = state_of(core);
    status.placement = core.placement == Placement::slots ? HOIST_PLACEMENT_SLOTS : HOIST_PLACEMENT_ARENA;
    status.captures = core.captures;
    status.begun = core.runner.begun;
    status.ended = core.runner.ended;
    status.aborted = core.runner.aborted;
    status.last_us = core.runner.last_us;
    held.budget().keep_reason(core.runner.failure);
    status.reason = held.budget().kept_reason().c_str();
    write_struct(*out_status, status);
  });
}

hoist_status_t hoist_replay_abort(hoist_manager_t* manager) noexcept {
  return guarded("hoist_replay_abort", [&] { value_of(manager, "manager")->budget().abort_replays(); });
}

hoist_status_t hoist_replay_release(hoist_manager_t* manager) noexcept {
  return guarded("hoist_replay_release", [&] { HeldManager(manager).budget().forget_replays(); });
}
