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

hoist::Budget make_budget(const hoist::Device& device, const std::string& size) {
  const bool bare = size.size() <= 3 && size.find_first_not_of("0123456789") == std::string::npos;
  if (bare && !size.empty() && std::stoi(size) >= 1 && std::stoi(size) <= 100) {
    throw BadInput("--budget " + size + " is " + size + " bytes; for a share write --budget " + size + "%");
  }
  hoist::BudgetOptions options;
  options.set("budget", size);
  if (options.budget_bytes == 0 && options.budget_share == 0) {  // to the library that is "no limit"
    throw BadInput("--budget is '" + size + "'; give a share above 0, such as 40%, or bytes, such as 8GiB");
  }
  options.run_ahead_steps = run_ahead_steps;
  return {device, options};
}

using Clock = std::chrono::steady_clock;

// Sleeps, then watches the clock: a sleep alone overshoots, watching alone takes a core from the copies.
void wait_until(Clock::time_point end) noexcept {
  const auto margin = std::chrono::microseconds(150);
  if (end - Clock::now() > margin) std::this_thread::sleep_until(end - margin);
  while (Clock::now() < end) {
  }
}

}  // namespace

StreamRun::StreamRun(const hoist::Device& device, Model& model, const StreamOptions& options)
    : device_(device),
      model_(model),
      options_(options),
      facts_(device.query()),
      stream_(device),
      manager_(device, make_budget(device, options.budget)),
      begin_(device),
      end_(device),
      calls_(steps_in_flight, std::vector<Call>(model.units().size())) {
  model_.add_to(manager_);
  manager_.commit();
  if (checks_hide_in_compute()) served_ = Work::compute_and_check;
}

StreamRun::~StreamRun() {
  // Host functions that an exception left behind use this object. A failure here has been told before.
  static_cast<void>(hoist_stream_wait(stream_.get()) == HOIST_OK);
}

// Of a virtual clock checks take no time. On a real one the sums are the unit's compute, where the host reads the
// device's memory and that is long enough for them: three times as long, since copies run beside them.
bool StreamRun::checks_hide_in_compute() const {
  if (is(HOIST_CAPABILITY_NO_BYTES) || !is(HOIST_CAPABILITY_HOST_ADDRESSABLE)) return false;
  const double bytes_per_us = model_.summed_bytes_per_us();
  const auto fits = [&](const LoadedUnit& unit) {
    return 3 * static_cast<double>(unit.bytes) <= unit.compute_us * bytes_per_us;
  };
  return is(HOIST_CAPABILITY_VIRTUAL_CLOCK) || std::all_of(model_.units().begin(), model_.units().end(), fits);
}

StreamResult StreamRun::run() {
  reach_serving();
  StreamResult result;
  serve(result);
  if (is(HOIST_CAPABILITY_NO_BYTES)) {
    result.checksum = "unchecked";
    return result;
  }
  check_more_steps(result);
  result.checksum = verdict();
  return result;
}

void StreamRun::reach_serving() {
  for (unsigned steps = 0; manager_.query().phase != HOIST_PHASE_SERVING; ++steps) {
    if (steps == most_steps_to_serving)
      throw std::runtime_error("the manager does not come to serving; please report it");
    step(served_);
    stream_.wait();
  }
  step(served_);  // from its end on, loads that run ahead belong to the served plan
}

// The mean time of a step, in µs.
double StreamRun::run_steps(unsigned count, Work work) {
  ProgressBar bar(options_.json);
  begin_.record(stream_);
  for (unsigned done = 0; done < count; ++done) {
    step(work);
    bar.show(done + 1, count);
  }
  end_.record(stream_);
  stream_.wait();
  return hoist::elapsed_us(begin_, end_) / count;
}

void StreamRun::check_more_steps(StreamResult& result) {
  result.checked_steps = options_.steps;
  result.checked_step_us = result.step_us;
  result.timed_are_checked = served_ == Work::compute_and_check;
  if (result.timed_are_checked) return;
  const Work work = is(HOIST_CAPABILITY_HOST_ADDRESSABLE) ? Work::compute_and_check : Work::check_by_copy;
  result.checked_steps = options_.check_steps.value_or(options_.steps);
  result.checked_step_us = run_steps(result.checked_steps, work);
}

void StreamRun::serve(StreamResult& result) {
  if (!options_.trace.empty()) manager_.trace_begin(0);
  if (options_.timing) manager_.timing_begin(0);
  const hoist_budget_status_t before = manager_.query();
  result.step_us = run_steps(options_.steps, served_);
  result.status = manager_.query();
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
  if (work != Work::compute) ++checked_steps_;
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
  const auto begin = Clock::now();
  const Call& call = *static_cast<const Call*>(user_data);
  StreamRun& run = *call.run;
  const LoadedUnit& unit = run.model_.units()[call.unit];
  if (call.work == Work::compute_and_check) {
    for (std::size_t i = 0; i < call.pointers.size(); ++i) run.check(unit, i, call.pointers[i]);
  }
  if (run.is(HOIST_CAPABILITY_VIRTUAL_CLOCK)) return;
  wait_until(begin +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::micro>(unit.compute_us)));
}

// For devices whose memory the host cannot read: a unit's bytes come back in stream order, then are compared.
void StreamRun::check_by_copy(std::uint32_t number, const hoist::UnitView& view) {
  const LoadedUnit& unit = model_.units()[number];
  stream_.wait();  // the unit before has been compared
  if (staging_ == nullptr) {
    std::uint64_t most = 1;
    for (const LoadedUnit& each : model_.units()) most = std::max(most, each.bytes);
    staging_ = std::make_unique<hoist::HostMemory>(device_, most);
  }
  copied_.resize(view.size());
  auto* to = static_cast<char*>(staging_->data());
  for (std::size_t i = 0; i < view.size(); ++i) {
    copied_[i] = {this, &unit, i, to};
    if (view[i].bytes != 0) stream_.submit_copy(HOIST_COPY_D2H, to, view[i].data, view[i].bytes);
    stream_.submit_host(&StreamRun::compare, &copied_[i], 0);
    to += view[i].bytes;
  }
}

void StreamRun::compare(void* user_data) noexcept {
  const Copied& it = *static_cast<const Copied*>(user_data);
  it.run->check(*it.unit, it.tensor, it.bytes);
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
  if (checked_.load() != checked_steps_ * model_.tensors())
    throw std::runtime_error("not every tensor was checked; please report it");
  return "ok";
}

}  // namespace tool
