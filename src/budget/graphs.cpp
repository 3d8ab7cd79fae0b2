// SPDX-License-Identifier: Apache-2.0
// Steps that are captured into graphs, and everything else while such graphs may be replayed: replays are held, their
// steps end, what is to be done is done, and they go on. doc/design/graphs.md.
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "budget/budget.hpp"
#include "exec/graph_session.hpp"

namespace hoist {

Budget::ReplaysPaused::ReplaysPaused(Budget& budget) : budget_(budget) {
  if (budget_.graphs_) budget_.pause_replays();
}

Budget::ReplaysPaused::~ReplaysPaused() {
  if (budget_.graphs_) budget_.go_on_with_replays();
}

bool Budget::is_capturing() const noexcept { return graphs_ && graphs_->capturing; }

void Budget::require_no_capture(const char* what) const {
  if (!graphs_ || !graphs_->capturing) return;
  fail(HOIST_ERROR_INVALID_STATE, text(what, " within a step that is being captured"), "end the step first");
}

// Where a graph that may be replayed holds addresses of the present plan, that plan stays.
void Budget::require_replaceable(const std::vector<std::uint32_t>& order) const {
  if (!graphs_) return;
  if (!in_slots()) {
    fail(HOIST_ERROR_INVALID_STATE,
         text("a captured graph holds addresses of the present plan, which tensors in an arena lose with it",
              options_.placement == Placement::slots ? text(" (", device_->name(), " maps no addresses)") : ""),
         "place tensors in slots (placement=slots), or release the replays when no such graph is launched any more");
  }
  if (order == graphs_->program->order) return;
  fail(HOIST_ERROR_INVALID_STATE, "a captured graph runs units in another order than the new plan",
       "release the replays when no such graph is launched any more");
}

void Budget::require_capturable() const {
  if (!device_->has(HOIST_CAPABILITY_WORDS) || !device_->has(HOIST_CAPABILITY_ASYNC) ||
      device_->has(HOIST_CAPABILITY_VIRTUAL_CLOCK)) {
    fail(HOIST_ERROR_UNSUPPORTED,
         text("a step is captured on ", device_->name(),
              device_->has(HOIST_CAPABILITY_WORDS) ? ", which has no time of its own to feed replays in"
                                                   : ", whose streams cannot wait for words"),
         "run steps outside of the capture");
  }
  if (swapped_ && (phase_ == Phase::profiling || phase_ == Phase::serving)) return;
  if (swapped_ && pending_ && phase_ == Phase::discovery) return;
  fail(HOIST_ERROR_INVALID_STATE, "a step is captured before a plan for its order has been made",
       "run a whole step first, better so many that the phase is serving");
}

void Budget::capture_step_begin(void* stream) {
  require_capturable();
  if (graphs_ && graphs_->capturing) fail(HOIST_ERROR_INVALID_STATE, "a step begins within a step", "end the open one");
  if (!graphs_) begin_session();
  graphs_->capturing = true;
  graphs_->capture_stream = stream;
  graphs_->position = 0;
  graphs_->unit_open = false;
  try {
    graphs_->runner->capture_head(stream);
  } catch (...) {
    graphs_->capturing = false;
    throw;
  }
}

// The first capture: a plan that waits is swapped in, and what is on the device is just what it has at a step's begin.
void Budget::begin_session() {
  if (!idle_stream_) {
    idle_stream_ = {device_->stream_create(), [device = device_](void* it) { device->stream_destroy(it); }};
  }
  if (pending_) swap(idle_stream_.get());
  executor_->residency().switch_stream(idle_stream_.get());
  auto program = compile_graph(executor_->program(), catalog_.unit_uses(), executor_->residency(), options_.trust);
  graphs_ = std::make_unique<GraphSession>(device_, std::move(program));
}

void Budget::capture_unit_begin(std::uint32_t unit) {
  GraphSession& graphs = *graphs_;
  const auto& order = graphs.program->order;
  if (graphs.unit_open) fail(HOIST_ERROR_ORDER, "a unit begins while another is open", "end that one first");
  if (graphs.position >= order.size() || order[graphs.position] != unit) {
    const std::string next = graphs.position < order.size() ? catalog_.units()[order[graphs.position]].name : "none";
    fail(
        HOIST_ERROR_ORDER,
        text("unit \"", catalog_.units()[unit].name, "\" begins in a captured step, where the plan has \"", next, "\""),
        "capture the step in the order of the steps before it");
  }
  graphs.runner->capture_begin(graphs.capture_stream, graphs.position);
  graphs.unit_open = true;
}

void Budget::capture_unit_end(std::uint32_t unit) {
  GraphSession& graphs = *graphs_;
  if (!graphs.unit_open || graphs.program->order[graphs.position] != unit) {
    fail(HOIST_ERROR_ORDER, text("unit \"", catalog_.units()[unit].name, "\" ends, but is not open"));
  }
  graphs.runner->capture_end(graphs.capture_stream, graphs.position);
  graphs.unit_open = false;
  ++graphs.position;
}

void Budget::capture_step_end() {
  GraphSession& graphs = *graphs_;
  if (graphs.unit_open) fail(HOIST_ERROR_ORDER, "a captured step ends while a unit is open", "end the unit first");
  if (graphs.position != graphs.program->order.size()) {
    fail(HOIST_ERROR_ORDER,
         text("a captured step ends after ", graphs.position, " of ", graphs.program->order.size(), " units"),
         "a replay runs all units of the plan: begin and end each of them, or abort the step");
  }
  graphs.capturing = false;
  ++graphs.captures;
  if (graphs.paused) go_on_with_replays();
}

// The capture is worth nothing; graphs of earlier ones stay.
void Budget::capture_abort() {
  graphs_->capturing = false;
  if (graphs_->captures == 0) graphs_.reset();
}

void* Budget::captured_address(std::uint32_t item) const {
  const GraphProgram& program = *graphs_->program;
  const auto& uses = catalog_.unit_uses()[program.order[graphs_->position]];
  const Range& views = program.views[graphs_->position];
  for (std::size_t use = 0; use < uses.size(); ++use) {
    if (uses[use].item == item) return program.addresses[views.first + use];
  }
  return nullptr;
}

void Budget::pause_replays() {
  if (graphs_->paused) return;
  graphs_->runner->pause();
  graphs_->paused = true;
  count_replays(true);
}

// Bytes and steps that replays have moved since they were counted last; what they wrote is newer than the host's copy.
void Budget::count_replays(bool written) {
  if (!graphs_ || !executor_) return;
  const std::uint64_t begun = graphs_->runner->begun();
  const std::uint64_t steps = begun - graphs_->counted;
  graphs_->counted = begun;
  uncounted_writes_ = uncounted_writes_ || steps != 0;
  Ledger& ledger = executor_->residency().ledger();
  ledger.add(ledger.h2d, Reason::plan, steps * graphs_->program->bytes);
  const std::vector<std::uint32_t> none;
  const bool marks = written && uncounted_writes_;
  executor_->count_replays(steps, none);
  if (!marks) return;
  for (std::uint32_t item : graphs_->program->written) executor_->residency().written(item);
  uncounted_writes_ = false;
}

void Budget::go_on_with_replays() noexcept {
  if (!graphs_ || !graphs_->paused || phase_ == Phase::suspended || executor_->in_step()) return;
  std::string why;
  try {
    if (pending_) swap(idle_stream_.get());
    executor_->residency().switch_stream(idle_stream_.get());
    if (!executor_->settle_down()) why = "the device refused bytes that a step begins with";
    graphs_->program =
        compile_graph(executor_->program(), catalog_.unit_uses(), executor_->residency(), options_.trust);
  } catch (const std::exception& error) {
    why = error.what();
  }
  graphs_->paused = false;
  if (why.empty()) return graphs_->runner->go_on(graphs_->program);
  log(HOIST_LOG_WARNING, "replays go on without all of their bytes in place: ", why);
  graphs_->runner->go_on_broken(graphs_->program, why);
}

// A step outside of a graph: on its stream, replays that were launched come before it. The wait is by an event, since
// bytes that the device refuses for long end it.
void Budget::step_begins_beside(void* stream) {
  if (!graphs_ || graphs_->paused) return;
  const std::unique_ptr<void, std::function<void(void*)>> before(
      device_->event_create(), [device = device_](void* event) { device->event_destroy(event); });
  device_->event_record(before.get(), stream);
  while (!device_->event_poll(before.get())) {
    graphs_->runner->require_fed();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  pause_replays();
}

// While graphs may be replayed there is no next step to wait for.
void Budget::apply_to_replays() {
  if (!graphs_ || !pending_ || executor_->in_step()) return;
  const bool requested = pending_->requested;
  {
    const ReplaysPaused paused(*this);
    swap(idle_stream_.get());
  }
  if (requested && replan_state_ == ReplanState::failed) {
    fail(HOIST_ERROR_OUT_OF_MEMORY, text("the plan could not be swapped in, the old one goes on: ", replan_reason_));
  }
}

ReplayStatus Budget::replay_status() {
  ReplayStatus status;
  status.placement = placement_;
  if (!graphs_) return status;
  count_replays(false);
  status.runner = graphs_->runner->status();
  status.captures = graphs_->captures;
  return status;
}

void Budget::abort_replays() {
  if (graphs_) graphs_->runner->abort();
}

void Budget::forget_replays() {
  require_no_capture("captured graphs are forgotten");
  if (!graphs_) return;
  pause_replays();
  if (executor_ && !executor_->in_step()) executor_->residency().wait_all();
  graphs_.reset();
}

// Their graphs name units and places that go.
void Budget::end_replays() noexcept {
  if (!graphs_) return;
  if (graphs_->captures != 0 && !members_.empty()) {
    log(HOIST_LOG_WARNING, "a manager left its budget: graphs that were captured must not be launched any more");
  }
  graphs_->capturing = false;
  try {
    if (!graphs_->paused) {
      graphs_->runner->pause_for_good();
      graphs_->paused = true;
      count_replays(true);
    }
    if (executor_ && !executor_->in_step()) executor_->residency().wait_all();
  } catch (const std::exception& error) {
    log(HOIST_LOG_ERROR, "graphs failed as they were given up: ", error.what());
  }
  graphs_.reset();
}

}  // namespace hoist
