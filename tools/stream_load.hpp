// SPDX-License-Identifier: Apache-2.0
// A checkpoint as units of a manager.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grouping.hpp"
#include "hoist/hoist.hpp"
#include "stream_options.hpp"

namespace tool {

// A fast 64-bit sum of bytes; any changed, moved or missing byte changes it. Not for adversaries.
std::uint64_t checksum(const void* bytes, std::uint64_t count) noexcept;

struct FileTensor {
  hoist_checkpoint_tensor_t facts;
  std::uint64_t sum = 0;  // of the file's bytes
  double sum_us = 0;      // what the sum took
};

struct LoadedUnit {
  std::string name;
  std::vector<FileTensor> tensors;
  std::uint64_t bytes = 0;
  double compute_us = 0;
};

// The tensors of a checkpoint in units, with the sums of their bytes as they are in the file.
class Model {
 public:
  explicit Model(const StreamOptions& options);

  [[nodiscard]] std::vector<LoadedUnit>& units() noexcept { return units_; }
  [[nodiscard]] const std::vector<LoadedUnit>& units() const noexcept { return units_; }
  [[nodiscard]] std::uint64_t tensors() const { return checkpoint_.size(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  // Bytes that are summed in a µs, once the commit has summed all: the fastest tensor's, which nothing disturbed.
  [[nodiscard]] double summed_bytes_per_us() const noexcept;
  // "BF16 and F32", largest first.
  [[nodiscard]] std::string dtypes() const;

  // Adds all units and tensors; their bytes are summed and the mapped pages given back as the commit packs them.
  // The model must stay where it is until the manager has gone.
  void add_to(hoist::Manager& manager);

 private:
  hoist::Checkpoint checkpoint_;
  std::vector<LoadedUnit> units_;
};

// Time of one copy to the device: latency_us + bytes / bytes_per_us.
struct LinkTime {
  double latency_us = 0;
  double bytes_per_us = 1;
  bool timeless = false;  // copies take no time: a virtual clock that was given no speed
};
LinkTime measure_link(const hoist::Device& device);

// Sets each unit's compute time: what was asked for, or break-even, the time that its own copies take. There
// streaming can hide behind compute whatever the budget is; below it the link is what limits a step.
void set_compute(std::vector<LoadedUnit>& units, const StreamOptions& options, const LinkTime& link);

}  // namespace tool
