// SPDX-License-Identifier: Apache-2.0
// Problems to plan, of the kinds that people have; sizes, budgets and compute follow from a few numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "plan/planner.hpp"

namespace hoist::plan::problems {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t below(std::uint64_t end) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return (state_ >> 33) % end;
  }
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(below(1 << 20)) / (1 << 20);
  }

 private:
  std::uint64_t state_;
};

inline Problem empty(bool cyclic = true) {
  Problem problem;
  problem.alignment = 512;
  problem.links = {Link{5, 55400}, Link{5, 55300}, Link{8, 390000}};
  problem.duplex_factor = 0.87;
  problem.cyclic = cyclic;
  return problem;
}

inline std::uint64_t total_bytes(const Problem& problem) {
  std::uint64_t sum = 0;
  for (const Item& item : problem.items) sum += (item.bytes + 511) / 512 * 512;
  return sum;
}

// The budget as a share of all bytes; compute as a ratio of the time that the rest takes on a link.
inline Problem finished(Problem problem, double share, double ratio, LinkId link = LinkId::h2d) {
  const auto total = static_cast<double>(total_bytes(problem));
  problem.budget_bytes = std::max(smallest_budget(problem), static_cast<std::uint64_t>(total * share));
  double compute = 0;
  for (const Unit& unit : problem.units) compute += unit.compute_us;
  const double left_out = problem.cyclic ? total * (1 - share) : total;
  const double want = ratio * left_out / problem.links[static_cast<std::size_t>(link)].bytes_per_us;
  for (Unit& unit : problem.units) unit.compute_us *= want / compute;
  return problem;
}

// The nine tensors of a decoder layer.
inline std::vector<std::pair<std::string, std::uint64_t>> layer(std::uint64_t width) {
  const std::uint64_t square = 2 * width * width;
  return {{"norm1", 2 * width},     {"q", square},          {"k", square / 4},
          {"v", square / 4},        {"o", square},          {"norm2", 2 * width},
          {"gate", square * 7 / 2}, {"up", square * 7 / 2}, {"down", square * 7 / 2}};
}

inline Problem stack(std::uint32_t layers, double share, double ratio, bool mixed = false, bool cyclic = true) {
  Problem problem = empty(cyclic);
  Random random(layers);
  for (std::uint32_t l = 0; l < layers; ++l) {
    const std::uint64_t width = mixed ? 2048 * (2 + random.below(3)) : 4096;
    double bytes = 0;
    for (const auto& [name, size] : layer(width)) {
      problem.items.push_back(
          {"layers." + std::to_string(l) + "." + name, size, ItemClass::weight, LinkId::h2d, false, {{l, Mode::read}}});
      bytes += static_cast<double>(size);
    }
    problem.units.push_back({"layers." + std::to_string(l), bytes * (mixed ? random.between(0.8, 1.25) : 1), 0});
  }
  return finished(std::move(problem), share, ratio);
}

inline Problem experts(std::uint32_t layers, double share, double ratio) {
  Problem problem = empty();
  for (std::uint32_t l = 0; l < layers; ++l) {
    const std::string name = "layers." + std::to_string(l);
    problem.units.push_back({name, 1, 0});
    const auto add = [&](const std::string& item, std::uint64_t size) {
      problem.items.push_back({name + item, size, ItemClass::weight, LinkId::h2d, false, {{l, Mode::read}}});
    };
    add(".q", 2 * 4096 * 4096);
    add(".o", 2 * 4096 * 4096);
    for (int e = 0; e < 8; ++e) add(".experts." + std::to_string(e), 3 * 2 * 4096 * 14336ULL);
  }
  return finished(std::move(problem), share, ratio);
}

inline Problem gathers(std::uint32_t layers, double share, double ratio) {
  Problem problem = empty();
  for (std::uint32_t l = 0; l < layers; ++l) {
    const std::string unit = "layers." + std::to_string(l);
    problem.units.push_back({unit, 1, 0});
    for (const auto& [name, size] : layer(8192)) {
      problem.items.push_back({unit + "." + name, size, ItemClass::shard, LinkId::peer, false, {{l, Mode::read}}});
    }
  }
  return finished(std::move(problem), share, ratio, LinkId::peer);
}

// Forward, backward, optimizer: weights, activations, gradients, two states of four bytes a parameter.
inline Problem training(std::uint32_t layers, double share, double ratio) {
  Problem problem = empty();
  const auto unit = [&](const char* phase, std::uint32_t l, double compute) {
    problem.units.push_back({phase + std::to_string(l), compute, 0});
  };
  for (std::uint32_t l = 0; l < layers; ++l) unit("forward.", l, 1);
  for (std::uint32_t l = layers; l-- > 0;) unit("backward.", l, 2);
  for (std::uint32_t l = 0; l < layers; ++l) unit("optimizer.", l, 0.3);
  for (std::uint32_t l = 0; l < layers; ++l) {
    const std::uint32_t back = 2 * layers - 1 - l;
    const std::uint32_t step = 2 * layers + l;
    const std::string at = "layers." + std::to_string(l) + ".";
    std::uint64_t bytes = 0;
    for (const auto& [name, size] : layer(2048)) {
      const Use read{back, Mode::read};
      const Use update{step, Mode::read_write};
      problem.items.push_back(
          {at + name, size, ItemClass::weight, LinkId::h2d, false, {{l, Mode::read}, read, update}});
      problem.items.push_back({at + name + ".grad",
                               size,
                               ItemClass::activation,
                               LinkId::h2d,
                               true,
                               {{back, Mode::write}, {step, Mode::read}}});
      problem.items.push_back({at + name + ".m", 2 * size, ItemClass::state, LinkId::h2d, false, {update}});
      problem.items.push_back({at + name + ".v", 2 * size, ItemClass::state, LinkId::h2d, false, {update}});
      bytes += size;
    }
    problem.items.push_back(
        {at + "act", bytes / 2, ItemClass::activation, LinkId::h2d, true, {{l, Mode::write}, {back, Mode::read}}});
  }
  return finished(std::move(problem), share, ratio);
}

inline Problem states(std::uint32_t layers, double share, double ratio) {
  Problem problem = empty();
  for (std::uint32_t l = 0; l < layers; ++l) {
    const std::string at = "optimizer." + std::to_string(l);
    problem.units.push_back({at, 1, 0});
    for (const auto& [name, size] : layer(2048)) {
      for (const char* state : {".m", ".v"}) {
        problem.items.push_back(
            {at + "." + name + state, 2 * size, ItemClass::state, LinkId::h2d, false, {{l, Mode::read_write}}});
      }
    }
  }
  return finished(std::move(problem), share, ratio);
}

// Many units of ten items each, sizes from a quarter of a MiB to eight.
inline Problem large(std::uint32_t units, double share, double ratio) {
  Problem problem = empty();
  Random random(units);
  for (std::uint32_t u = 0; u < units; ++u) {
    const std::string at = "units." + std::to_string(u);
    problem.units.push_back({at, random.between(0.5, 1.5), 0});
    for (int k = 0; k < 10; ++k) {
      const std::uint64_t size = (1 + random.below(32)) << 18;
      problem.items.push_back(
          {at + "." + std::to_string(k), size, ItemClass::weight, LinkId::h2d, false, {{u, Mode::read}}});
    }
  }
  return finished(std::move(problem), share, ratio);
}

}  // namespace hoist::plan::problems
