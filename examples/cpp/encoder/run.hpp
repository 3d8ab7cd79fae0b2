// SPDX-License-Identifier: Apache-2.0
// The encoder's forward as steps of a hoist manager, under one budget.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "arithmetic.hpp"
#include "hoist/hoist.hpp"
#include "model.hpp"

namespace encoder {

using Progress = std::function<void(unsigned done, unsigned of)>;

// What the serving steps came to.
struct Measured {
  double step_us = 0;  // mean, back to back
  std::uint64_t h2d_bytes = 0, d2h_bytes = 0;
  hoist_budget_status_t status{};
};

class Run {
 public:
  // Weights are copied to pinned memory here. Device and model must outlive the run.
  Run(const hoist::Device& device, const Model& model, std::unique_ptr<Arithmetic> arithmetic,
      const std::string& budget);

  // Discovery and profiling: steps until the plan made from measured times is served.
  void reach_serving();
  // Serves some steps without waiting between them; a timeline of them goes to `trace` unless that is empty.
  Measured serve(unsigned steps, const std::string& trace, const Progress& progress);

  // Of every step so far, the first ones included. Complete after reach_serving and serve.
  [[nodiscard]] const std::vector<Matrix>& results() const noexcept { return results_; }
  [[nodiscard]] hoist::Manager& manager() noexcept { return manager_; }

 private:
  void add_units();
  void step();
  void submit_unit(hoist::Step& step, std::size_t number);

  const Model& model_;
  std::unique_ptr<Arithmetic> arithmetic_;
  hoist::Stream stream_;
  hoist::Manager manager_;
  std::vector<hoist_unit_t> units_;
  std::vector<Matrix> results_;
  hoist::Event begin_, end_;
};

}  // namespace encoder
