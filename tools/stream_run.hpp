// SPDX-License-Identifier: Apache-2.0
// Steps over a model's units, and the checks of what arrives on the device.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hoist/hoist.hpp"
#include "stream_load.hpp"
#include "stream_options.hpp"

namespace tool {

struct StreamResult {
  hoist_budget_status_t status{};
  double step_us = 0;                       // mean of the timed steps, back to back
  unsigned checked_steps = 0;               // serving steps whose every byte was compared; 0 where no bytes move
  double checked_step_us = 0;               // mean of these
  bool timeless = false;                    // copies took no time, so that no time says anything
  bool timed_are_checked = false;           // else they came after the timed ones
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

  // Discovery and profiling, then the timed steps, then, where checks would have changed their times, checked ones.
  StreamResult run();

  [[nodiscard]] const hoist::Manager& manager() const noexcept { return manager_; }

 private:
  enum class Work { compute, compute_and_check, check_by_copy };

  // What one host function works on: a unit in one of the steps that may be in flight.
  struct Call {
    StreamRun* run = nullptr;
    std::uint32_t unit = 0;
    Work work = Work::compute;
    std::vector<const void*> pointers;
  };
  static void compute(void* call) noexcept;
  // What one host function compares: a tensor's copy in pinned memory.
  struct Copied {
    StreamRun* run = nullptr;
    const LoadedUnit* unit = nullptr;
    std::size_t tensor = 0;
    const void* bytes = nullptr;
  };
  static void compare(void* copied) noexcept;

  [[nodiscard]] bool checks_hide_in_compute() const;
  void reach_serving();
  double run_steps(unsigned count, Work work);
  void check_more_steps(StreamResult& result);
  void step(Work work);
  void unit(std::uint32_t number, Work work);
  void check_by_copy(std::uint32_t number, const hoist::UnitView& view);
  void check(const LoadedUnit& unit, std::size_t tensor, const void* bytes) noexcept;
  void serve(StreamResult& result);
  [[nodiscard]] std::string verdict() const;
  [[nodiscard]] bool is(hoist_capability_t capability) const noexcept {
    return (facts_.capabilities & static_cast<std::uint64_t>(capability)) != 0;
  }

  const hoist::Device& device_;
  Model& model_;
  const StreamOptions& options_;
  hoist_device_properties_t facts_;
  hoist::Stream stream_;
  hoist::Manager manager_;
  hoist::Event begin_, end_;
  std::vector<std::vector<Call>> calls_;  // by step in flight, then unit
  Work served_ = Work::compute;           // in the timed steps, and in those that they were planned from
  std::uint64_t steps_ = 0;
  std::uint64_t checked_steps_ = 0;
  std::unique_ptr<hoist::HostMemory> staging_;  // of the largest unit
  std::vector<Copied> copied_;                  // of the unit that is being checked by copy
  std::atomic<const FileTensor*> differs_{nullptr};
  std::atomic<std::uint64_t> checked_{0};
};

}  // namespace tool
