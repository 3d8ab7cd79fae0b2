// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/header.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "base/error.hpp"
#include "checkpoint/header_reader.hpp"

namespace hoist {
namespace {

constexpr std::uint64_t length_bytes = 8;

std::uint64_t read_length(const std::string& path, std::string_view file) {
  if (file.size() < length_bytes) {
    corrupt({path, {}, 0}, text("the file has ", file.size(), " bytes, fewer than the 8 of a header's length"));
  }
  std::uint64_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = length << 8 | static_cast<unsigned char>(file[i]);
  if (length > header_bytes_max) {
    corrupt({path, {}, 0}, text("its header claims ", length, " bytes; at most ", header_bytes_max, " are allowed"));
  }
  if (length > file.size() - length_bytes) {
    corrupt({path, {}, 0}, text("its header claims ", length, " bytes, but the file has only ", file.size()),
            "the file is truncated or not a safetensors file; fetch or write it again");
  }
  if (length == 0 || file[length_bytes] != '{') corrupt({path, {}, length_bytes}, "its header does not begin with '{'");
  return length;
}

void check_joint(const std::string& path, const HeaderTensor& tensor, std::uint64_t expected,
                 const HeaderTensor* before) {
  if (tensor.offset == expected) return;
  const Spot spot{path, tensor.name, tensor.offset};
  if (tensor.offset < expected) {
    corrupt(spot, text("its bytes overlap those of ", quote_name(before->name), ", which end at byte ", expected));
  }
  corrupt(spot, text("no tensor has the ", tensor.offset - expected, " bytes before it, from byte ", expected));
}

// The format leaves no byte without an owner: a hole may hide data, an overlap may hide a lie.
void check_cover(const std::string& path, const std::vector<HeaderTensor>& tensors, std::uint64_t begin,
                 std::uint64_t end) {
  std::uint64_t expected = begin;
  const HeaderTensor* before = nullptr;
  for (const HeaderTensor& tensor : tensors) {
    check_joint(path, tensor, expected, before);
    expected = tensor.offset + tensor.bytes;
    before = &tensor;
  }
  if (expected != end) {
    corrupt({path, {}, expected}, text("no tensor has the last ", end - expected, " bytes of the file"));
  }
}

}  // namespace

std::vector<HeaderTensor> read_header(const std::string& path, std::string_view file) {
  const std::uint64_t length = read_length(path, file);
  const HeaderExtent extent{length_bytes, length_bytes + length, file.size()};
  std::vector<HeaderTensor> tensors = HeaderReader(path, extent).read(file.substr(length_bytes, length));
  std::sort(tensors.begin(), tensors.end(), [](const HeaderTensor& a, const HeaderTensor& b) {
    return std::tie(a.offset, a.bytes, a.name) < std::tie(b.offset, b.bytes, b.name);
  });
  check_cover(path, tensors, extent.data_begin, extent.file_size);
  return tensors;
}

}  // namespace hoist
