// SPDX-License-Identifier: Apache-2.0
#include "stream_run.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "command.hpp"
#include "output.hpp"

namespace tool {
namespace {

constexpr unsigned run_ahead_steps = 2;
constexpr std::size_t steps_in_flight = run_ahead_steps + 2;  // a step's calls are free once it cannot be in flight
constexpr unsigned most_steps_to_serving = 64;

bool has(const hoist_device_properties_t& facts, hoist_capability_t capability) {
  return (facts.capabilities & static_cast<std::uint64_t>(capability)) != 0;
}

hoist::Budget make_budget(const hoist::Device& device, const std::string& size) {
  hoist::BudgetOptions options;
  options.set("budget", size);
  if (options.budget_bytes == 0 && options.budget_share == 0) {  // to the library that is "no limit"
    throw BadInput("--budget is '" + size + "'; give a share above 0, such as 40%, or bytes, such as 8GiB");
  }
  options.run_ahead_steps = run_ahead_steps;
  return {device, options};
}

// Sleeps, then watches the clock: a sleep alone overshoots, watching alone takes a core from the copies.
void wait_us(double us) noexcept {
  using Clock = std::chrono::steady_clock;
  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::micro>(us));
  const auto margin = std::chrono::microseconds(150);
  if (end - Clock::now() > margin) std::this_thread::sleep_until(end - margin);
  while (Clock::now() < end) {
  }
}

}  // namespace

StreamRun::StreamRun(const hoist::Device& device, Model& model, const StreamOptions& options)
    : model_(model),
      options_(options),
      facts_(device.query()),
      stream_(device),
      manager_(device, make_budget(device, options.budget)),
      begin_(device),
      end_(device),
      calls_(steps_in_flight, std::vector<Call>(model.units().size())) {
  model_.add_to(manager_);
  manager_.commit();
}

StreamRun::~StreamRun() {
  // Host functions that an exception left behind use this object. A failure here has been told before.
  static_cast<void>(hoist_stream_wait(stream_.get()) == HOIST_OK);
}

StreamResult StreamRun::run() {
  reach_serving();
  StreamResult result;
  serve(result);
  const bool moves_bytes = !has(facts_, HOIST_CAPABILITY_NO_BYTES);
  if (moves_bytes && !has(facts_, HOIST_CAPABILITY_VIRTUAL_CLOCK)) {
    step(has(facts_, HOIST_CAPABILITY_HOST_ADDRESSABLE) ? Work::check : Work::check_by_copy);
    stream_.wait();
  }
  result.checksum = moves_bytes ? verdict() : "unchecked";
  return result;
}

void StreamRun::reach_serving() {
  for (unsigned steps = 0; manager_.query().phase != HOIST_PHASE_SERVING; ++steps) {
    if (steps == most_steps_to_serving)
      throw std::runtime_error("the manager does not come to serving; please report it");
    step(Work::compute);
    stream_.wait();
  }
  step(Work::compute);  // from its end on, loads that run ahead belong to the served plan
}

void StreamRun::serve(StreamResult& result) {
  // Host functions take no modelled time beyond what they are given, so checks there disturb nothing.
  const bool checks = has(facts_, HOIST_CAPABILITY_VIRTUAL_CLOCK) && !has(facts_, HOIST_CAPABILITY_NO_BYTES);
  if (!options_.trace.empty()) manager_.trace_begin(0);
  if (options_.timing) manager_.timing_begin(0);
  const hoist_budget_status_t before = manager_.query();
  {
    ProgressBar bar(options_.json);
    begin_.record(stream_);
    for (unsigned done = 0; done < options_.steps; ++done) {
      step(checks ? Work::compute_and_check : Work::compute);
      bar.show(done + 1, options_.steps);
    }
    end_.record(stream_);
    stream_.wait();
  }
  result.status = manager_.query();
  result.step_us = hoist::elapsed_us(begin_, end_) / options_.steps;
  result.h2d_bytes = static_cast<double>(result.status.h2d_bytes - before.h2d_bytes) / options_.steps;
  result.d2h_bytes = static_cast<double>(result.status.d2h_bytes - before.d2h_bytes) / options_.steps;
  if (!options_.trace.empty()) manager_.trace_end(options_.trace);
  if (!options_.timing) return;
  manager_.drain();  // copies for the next step count for the step that submitted them
  manager_.timing_update();
  for (hoist_unit_t number = 0; number < model_.units().size(); ++number) {
    result.timing.push_back(manager_.timing(number));
  }
  manager_.timing_end();
}

void StreamRun::step(Work work) {
  hoist::Step scope(manager_, stream_);
  for (std::uint32_t number = 0; number < model_.units().size(); ++number) unit(number, work);
  scope.end();
  ++steps_;
}

void StreamRun::unit(std::uint32_t number, Work work) {
  hoist::Unit scope(manager_, number, stream_);
  const hoist::UnitView& view = scope.view();
  const LoadedUnit& loaded = model_.units()[number];
  if (view.size() != loaded.tensors.size())
    throw std::runtime_error("unit " + loaded.name + " came without its tensors");
  if (work == Work::check_by_copy) {
    check_by_copy(number, view);
  } else {
    Call& call = calls_[steps_ % steps_in_flight][number];
    call.run = this;
    call.unit = number;
    call.work = work;
    call.pointers.clear();
    for (const hoist_tensor_view_t& tensor : view) call.pointers.push_back(tensor.data);
    stream_.submit_host(&StreamRun::compute, &call, loaded.compute_us);
  }
  scope.end();
}

void StreamRun::compute(void* user_data) noexcept {
  const Call& call = *static_cast<const Call*>(user_data);
  StreamRun& run = *call.run;
  const LoadedUnit& unit = run.model_.units()[call.unit];
  if (call.work != Work::compute) {
    for (std::size_t i = 0; i < call.pointers.size(); ++i) run.check(unit, i, call.pointers[i]);
  }
  if (call.work == Work::compute && !has(run.facts_, HOIST_CAPABILITY_VIRTUAL_CLOCK)) wait_us(unit.compute_us);
}

// For devices whose memory the host cannot read.
void StreamRun::check_by_copy(std::uint32_t number, const hoist::UnitView& view) {
  const LoadedUnit& unit = model_.units()[number];
  for (std::size_t i = 0; i < view.size(); ++i) {
    staging_.resize(std::max<std::size_t>(staging_.size(), view[i].bytes));
    stream_.submit_copy(HOIST_COPY_D2H, staging_.data(), view[i].data, view[i].bytes);
    stream_.wait();
    check(unit, i, staging_.data());
  }
}

void StreamRun::check(const LoadedUnit& unit, std::size_t number, const void* bytes) noexcept {
  const FileTensor& tensor = unit.tensors[number];
  checked_.fetch_add(1, std::memory_order_relaxed);
  if (checksum(bytes, tensor.facts.bytes) == tensor.sum) return;
  const FileTensor* none = nullptr;
  differs_.compare_exchange_strong(none, &tensor);
}

std::string StreamRun::verdict() const {
  const FileTensor* tensor = differs_.load();
  if (tensor != nullptr) return tensor->facts.name;
  const std::uint64_t checks = has(facts_, HOIST_CAPABILITY_VIRTUAL_CLOCK) ? options_.steps : 1;
  if (checked_.load() != checks * model_.tensors())
    throw std::runtime_error("not every tensor was checked; please report it");
  return "ok";
}

}  // namespace tool
