// SPDX-License-Identifier: Apache-2.0
// The main loop: weights of eight layers stream through a budget of half their bytes, step after step.
#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "hoist/hoist.hpp"

namespace {

constexpr std::size_t layer_count = 8, weight_count = 65536;
constexpr int step_count = 10;

void report(const hoist_budget_status_t& status, bool exact) {
  std::printf("weights %llu bytes, budget %llu bytes, peak within it: %s\n",
              static_cast<unsigned long long>(status.tensor_bytes),
              static_cast<unsigned long long>(status.budget_bytes),
              status.peak_bytes <= status.budget_bytes ? "yes" : "no");
  std::printf("steps %llu, bytes moved in the last one: %s\n", static_cast<unsigned long long>(status.steps),
              status.last_step_h2d_bytes > 0 ? "some" : "none");
  std::printf("parity: %s\n", exact ? "exact" : "LOST");
}

hoist::Manager make_manager(const hoist::Device& device, std::vector<std::vector<float>>& weights) {
  const hoist::Budget budget(device, hoist::BudgetOptions().set("budget", "50%"));
  hoist::Manager manager(device, budget);  // keeps the budget alive
  for (std::size_t layer = 0; layer < layer_count; ++layer) {
    const std::string name = "layers." + std::to_string(layer);
    hoist::TensorDesc weight;
    weight.name = name.c_str();
    weight.bytes = weights[layer].size() * sizeof(float);
    weight.host = weights[layer].data();
    weight.flags = HOIST_TENSOR_COPY;  // packed into pinned memory at commit
    manager.add_tensor(manager.add_unit(name), weight);
  }
  manager.commit();
  return manager;
}

bool run() {
  std::vector<std::vector<float>> weights;
  double resident = 0;
  for (std::size_t layer = 0; layer < layer_count; ++layer) {
    weights.emplace_back(weight_count, static_cast<float>(layer + 1));
    resident = std::accumulate(weights.back().begin(), weights.back().end(), resident);
  }
  const hoist::Device device("host:0");
  hoist::Manager manager = make_manager(device, weights);
  hoist::Stream stream(device);
  std::array<double, step_count> outputs{};
  // [loop]
  for (double& output : outputs) {
    hoist::Step step(manager, stream);
    for (hoist_unit_t layer = 0; layer < layer_count; ++layer) {
      const hoist::Unit unit = step.unit(layer);  // the stream waits on the device for the layer's bytes
      const auto compute = [weight = hoist::elements<const float>(unit.view()[0]), &output] {
        output = std::accumulate(weight.begin(), weight.end(), output);
      };
      stream.submit_host(compute, 100.0);
    }  // here the unit ends: once the stream gets there, the layer's places may be refilled
  }
  stream.wait();
  // [end]
  const bool exact = std::all_of(outputs.begin(), outputs.end(), [&](double output) { return output == resident; });
  report(manager.query(), exact);
  return exact;
}

}  // namespace

int main() {
  try {
    return run() ? 0 : 1;
  } catch (const hoist::Exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
