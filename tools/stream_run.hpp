// SPDX-License-Identifier: Apache-2.0
// Steps over a model's units, and the checks of what arrives on the device.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "hoist/hoist.hpp"
#include "stream_load.hpp"
#include "stream_options.hpp"

namespace tool {

struct StreamResult {
  hoist_budget_status_t status{};
  double step_us = 0;                       // mean of the serving steps, back to back
  double h2d_bytes = 0, d2h_bytes = 0;      // a serving step
  std::vector<hoist_unit_timing_t> timing;  // by unit, where asked for
  std::string checksum;                     // "ok", the first tensor that differs, or "unchecked" where no bytes move
};

class StreamRun {
 public:
  // Commits: from here on the bytes are in pinned memory.
  StreamRun(const hoist::Device& device, Model& model, const StreamOptions& options);
  ~StreamRun();
  StreamRun(const StreamRun&) = delete;
  StreamRun& operator=(const StreamRun&) = delete;

  // Discovery and profiling, then the wanted steps, then on a real clock one more to check the bytes.
  StreamResult run();

  [[nodiscard]] const hoist::Manager& manager() const noexcept { return manager_; }

 private:
  enum class Work { compute, compute_and_check, check, check_by_copy };

  // What one host function works on: a unit in one of the steps that may be in flight.
  struct Call {
    StreamRun* run = nullptr;
    std::uint32_t unit = 0;
    Work work = Work::compute;
    std::vector<const void*> pointers;
  };
  static void compute(void* call) noexcept;

  void reach_serving();
  void step(Work work);
  void unit(std::uint32_t number, Work work);
  void check_by_copy(std::uint32_t number, const hoist::UnitView& view);
  void check(const LoadedUnit& unit, std::size_t tensor, const void* bytes) noexcept;
  void serve(StreamResult& result);
  [[nodiscard]] std::string verdict() const;

  Model& model_;
  const StreamOptions& options_;
  hoist_device_properties_t facts_;
  hoist::Stream stream_;
  hoist::Manager manager_;
  hoist::Event begin_, end_;
  std::vector<std::vector<Call>> calls_;  // by step in flight, then unit
  std::uint64_t steps_ = 0;
  std::vector<char> staging_;
  std::atomic<const FileTensor*> differs_{nullptr};
  std::atomic<std::uint64_t> checked_{0};
};

}  // namespace tool
