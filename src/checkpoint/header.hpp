// SPDX-License-Identifier: Apache-2.0
// The header of one safetensors file: 8 bytes of length (little-endian), JSON, then the tensors' bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/dtype.hpp"

namespace hoist {

// What a header says of one tensor, checked.
struct HeaderTensor {
  std::string name;
  const Dtype* dtype = nullptr;
  std::vector<std::uint64_t> shape;
  std::uint64_t offset = 0;  // of its bytes in the file
  std::uint64_t bytes = 0;
};

inline constexpr std::uint64_t header_bytes_max = 100'000'000;  // the format's own limit

// Reads and checks the whole header of a file given as its bytes; nothing beyond `file` is touched.
// Tensors come in the order of their offsets. Throws Error(CORRUPT) naming path, tensor and offset.
std::vector<HeaderTensor> read_header(const std::string& path, std::string_view file);

}  // namespace hoist
