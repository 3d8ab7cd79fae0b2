// SPDX-License-Identifier: Apache-2.0
// An open checkpoint: one safetensors file, or the shards that an index names, mapped and checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "checkpoint/header.hpp"
#include "checkpoint/mapped_file.hpp"

namespace hoist {

// Immutable after construction, so any number of threads may read it.
class Checkpoint {
 public:
  struct Tensor : HeaderTensor {
    std::uint32_t file = 0;  // index into files()
  };

  // Throws Error: NOT_FOUND, IO, CORRUPT naming file, tensor and offset.
  explicit Checkpoint(const std::string& path);
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  // In the order of file and offset.
  [[nodiscard]] const std::vector<Tensor>& tensors() const noexcept { return tensors_; }
  [[nodiscard]] const std::vector<MappedFile>& files() const noexcept { return files_; }
  // NULL for no bytes.
  [[nodiscard]] const std::byte* data(const Tensor& tensor) const noexcept;
  // Throws Error(NOT_FOUND) with the nearest name.
  [[nodiscard]] std::uint64_t find(std::string_view name) const;

 private:
  void open_shards(const std::string& index_path);
  void add_file(const std::string& path);
  void index_names();

  std::vector<MappedFile> files_;
  std::vector<Tensor> tensors_;
  std::unordered_map<std::string_view, std::uint64_t> names_;  // views into tensors_, complete before
};

}  // namespace hoist
