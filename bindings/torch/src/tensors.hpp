// SPDX-License-Identifier: Apache-2.0
// torch tensors over memory that hoist owns.
#pragma once

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace hoist_torch {

using torch::stable::Tensor;

// Where tensors are: torch's numbers for a device.
struct Place {
  std::int32_t type;
  std::int32_t index;
};

// How a tensor looks within the bytes of one of its unit's views.
struct Leaf {
  std::uint32_t view;    // which of the unit's views
  std::uint64_t offset;  // of its first element in it, in bytes
  std::int32_t dtype;    // torch's number
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
};

// A tensor over `data`, which is alive as long as `owner` is.
Tensor over(void* data, const Leaf& leaf, Place place, std::shared_ptr<void> owner);

// Another tensor over the memory of one in host memory, which it keeps alive.
Tensor same_memory(const Tensor& tensor);

std::int32_t dtype_of(const Tensor& tensor);

// A tensor of torch's own memory, uninitialized.
Tensor empty(std::vector<std::int64_t> sizes, std::int32_t dtype, Place place);

// The tensors that a leaf has had, by address: they are made once for each place of a plan.
class Kept {
 public:
  const Tensor& get(void* data, const Leaf& leaf, Place place, const std::shared_ptr<void>& owner);
  void clear() { entries_.clear(); }

 private:
  struct Entry {
    void* data;
    Tensor tensor;
  };
  std::vector<Entry> entries_;
};

}  // namespace hoist_torch
