// SPDX-License-Identifier: Apache-2.0
// The structs of DLPack 1.0 (https://dmlc.github.io/dlpack, Apache License 2.0) as their layout is published, in a
// namespace of their own: a program that includes dlpack/dlpack.h too has both, with the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hoist::dlpack {

struct Version {
  std::uint32_t major;
  std::uint32_t minor;
};
struct Device {
  std::int32_t type;
  std::int32_t index;
};
struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: row-major
  std::uint64_t byte_offset;
};
// DLManagedTensor, before version 1.
struct ManagedTensor {
  Tensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(ManagedTensor* self);
};
// DLManagedTensorVersioned.
struct ManagedTensorVersioned {
  Version version;
  void* manager_ctx;
  void (*deleter)(ManagedTensorVersioned* self);
  std::uint64_t flags;
  Tensor dl_tensor;
};

inline constexpr Version version = {1, 0};
inline constexpr std::uint64_t flag_read_only = 1;
inline constexpr std::int32_t type_cpu = 1;

static_assert(sizeof(Tensor) == 48 && sizeof(ManagedTensor) == 64 && sizeof(ManagedTensorVersioned) == 80);
static_assert(offsetof(Tensor, shape) == 24 && offsetof(ManagedTensorVersioned, dl_tensor) == 32);

}  // namespace hoist::dlpack
