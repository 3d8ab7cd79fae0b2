// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include <stdexcept>
#include <utility>

namespace encoder {
namespace {

constexpr unsigned most_steps_to_serving = 64;

hoist::Budget make_budget(const hoist::Device& device, const std::string& budget) {
  hoist::BudgetOptions options;
  options.set("budget", budget);
  return {device, options};
}

}  // namespace

Run::Run(const hoist::Device& device, const Model& model, std::unique_ptr<Arithmetic> arithmetic,
         const std::string& budget)
    : model_(model),
      arithmetic_(std::move(arithmetic)),
      stream_(arithmetic_->make_stream()),
      manager_(device, make_budget(device, budget)),
      begin_(device),
      end_(device) {
  add_units();
  manager_.commit();
}

void Run::add_units() {
  for (const Unit& unit : model_.units()) {
    units_.push_back(manager_.add_unit(unit.name));
    for (const Weight& weight : unit.weights) {
      hoist::TensorDesc tensor;
      tensor.name = weight.name.c_str();
      tensor.bytes = weight.size;
      tensor.host = const_cast<void*>(weight.bytes);  // COPY only reads
      tensor.flags = HOIST_TENSOR_COPY;
      manager_.add_tensor(units_.back(), tensor);
    }
  }
}

void Run::submit_unit(hoist::Step& step, std::size_t number) {
  const hoist::Unit scope = step.unit(units_[number], stream_);
  std::vector<const float*> weights;
  for (const hoist_tensor_view_t& view : scope.view()) weights.push_back(static_cast<const float*>(view.data));
  arithmetic_->submit(model_.units()[number], std::move(weights), stream_);
}

void Run::step() {
  results_.emplace_back();
  const std::size_t place = results_.size() - 1;
  hoist::Step scope(manager_, stream_);
  for (std::size_t number = 0; number < units_.size(); ++number) submit_unit(scope, number);
  arithmetic_->submit_embeddings(results_[place], stream_);
  scope.end();
}

void Run::reach_serving() {
  for (unsigned steps = 0; manager_.query().phase != HOIST_PHASE_SERVING; ++steps) {
    if (steps == most_steps_to_serving) throw std::runtime_error("the manager does not come to serving");
    step();
    stream_.wait();
  }
  step();  // loads that run ahead from now on belong to the served plan
  stream_.wait();
}

Measured Run::serve(unsigned steps, const std::string& trace, const Progress& progress) {
  results_.reserve(results_.size() + steps);  // host functions write into it while steps are added
  if (!trace.empty()) manager_.trace_begin(0);
  const hoist_budget_status_t before = manager_.query();
  begin_.record(stream_);
  for (unsigned done = 0; done < steps; ++done) {
    progress(done, steps);
    step();
  }
  end_.record(stream_);
  stream_.wait();
  progress(steps, steps);
  Measured measured;
  measured.status = manager_.query();
  measured.step_us = hoist::elapsed_us(begin_, end_) / steps;
  measured.h2d_bytes = measured.status.h2d_bytes - before.h2d_bytes;
  measured.d2h_bytes = measured.status.d2h_bytes - before.d2h_bytes;
  if (!trace.empty()) manager_.trace_end(trace);
  return measured;
}

}  // namespace encoder
