// SPDX-License-Identifier: Apache-2.0
// Device memory as DLPack tensors, which torch, CuPy and JAX compute on where it is: nothing is copied.
//
// hoist's tensors are bytes: dtype and shape are the caller's, or the checkpoint's. A tensor of a unit's view holds
// what it says from the unit's begin to its end, for work on the unit's stream; whoever computes on another stream
// orders that one after the unit's begin, and the unit's end after it. `keep` lives until the consumer has deleted the
// tensor: give what owns the memory, so that it stays mapped. What a later reader would find in it is nobody's promise.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hoist/device.hpp"
#include "hoist/dlpack_abi.hpp"
#include "hoist/step.h"

namespace hoist::dlpack {

namespace detail {

[[noreturn]] inline void refuse(hoist_status_t code, const std::string& message, const char* hint) {
  hoist_error_t error = HOIST_ERROR_INIT;
  error.code = code;
  error.message = message.c_str();
  error.where = "hoist::dlpack";
  error.hint = hint;
  throw Exception(error);
}

struct NamedType {
  std::string_view name;
  DataType type;
};
// Codes of DLPack 1.1. Names as NumPy, torch and ml_dtypes have them, then as in safetensors files.
inline constexpr std::array<NamedType, 40> types = {{
    {"bool", {6, 8, 1}},
    {"int8", {0, 8, 1}},
    {"int16", {0, 16, 1}},
    {"int32", {0, 32, 1}},
    {"int64", {0, 64, 1}},
    {"uint8", {1, 8, 1}},
    {"uint16", {1, 16, 1}},
    {"uint32", {1, 32, 1}},
    {"uint64", {1, 64, 1}},
    {"float16", {2, 16, 1}},
    {"float32", {2, 32, 1}},
    {"float64", {2, 64, 1}},
    {"bfloat16", {4, 16, 1}},
    {"complex64", {5, 64, 1}},
    {"complex128", {5, 128, 1}},
    {"float8_e3m4", {7, 8, 1}},
    {"float8_e4m3", {8, 8, 1}},
    {"float8_e4m3b11fnuz", {9, 8, 1}},
    {"float8_e4m3fn", {10, 8, 1}},
    {"float8_e4m3fnuz", {11, 8, 1}},
    {"float8_e5m2", {12, 8, 1}},
    {"float8_e5m2fnuz", {13, 8, 1}},
    {"float8_e8m0fnu", {14, 8, 1}},
    {"BOOL", {6, 8, 1}},
    {"I8", {0, 8, 1}},
    {"I16", {0, 16, 1}},
    {"I32", {0, 32, 1}},
    {"I64", {0, 64, 1}},
    {"U8", {1, 8, 1}},
    {"U16", {1, 16, 1}},
    {"U32", {1, 32, 1}},
    {"U64", {1, 64, 1}},
    {"F16", {2, 16, 1}},
    {"F32", {2, 32, 1}},
    {"F64", {2, 64, 1}},
    {"BF16", {4, 16, 1}},
    {"C64", {5, 64, 1}},
    {"F8_E4M3", {10, 8, 1}},
    {"F8_E5M2", {12, 8, 1}},
    {"F8_E8M0", {14, 8, 1}},
}};

// What a consumer deletes: the tensor, its shape, and what keeps the memory.
template <typename Managed>
struct Holder {
  Managed managed{};
  std::vector<std::int64_t> shape;
  std::shared_ptr<void> keep;

  static void destroy(Managed* self) { delete static_cast<Holder*>(self->manager_ctx); }
};

inline std::int64_t elements_of(std::uint64_t bytes, DataType type) {
  const std::uint64_t size = std::uint64_t{type.bits} * type.lanes / 8;
  if (bytes % size == 0) return static_cast<std::int64_t>(bytes / size);
  refuse(HOIST_ERROR_INVALID_ARGUMENT,
         "a tensor of " + std::to_string(bytes) + " bytes is no whole number of elements of " + std::to_string(size),
         "give its own dtype");
}

inline void check_shape(std::uint64_t bytes, DataType type, const std::vector<std::int64_t>& shape) {
  std::uint64_t need = std::uint64_t{type.bits} * type.lanes / 8;
  std::string text;
  for (const std::int64_t extent : shape) {
    text += (text.empty() ? "" : ", ") + std::to_string(extent);
    if (extent < 0 || __builtin_mul_overflow(need, static_cast<std::uint64_t>(extent), &need)) need = ~std::uint64_t{0};
  }
  const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  if (need == bytes || (empty && bytes == 0)) return;
  refuse(HOIST_ERROR_INVALID_ARGUMENT,
         "shape (" + text + ") of " + std::to_string(type.bits) + "-bit elements is not the tensor's " +
             std::to_string(bytes) + " bytes",
         "give its own shape");
}

template <typename Managed>
Holder<Managed>* fill(Holder<Managed>* holder, const Tensor& tensor) {
  holder->managed.dl_tensor = tensor;
  holder->managed.dl_tensor.shape = holder->shape.data();
  holder->managed.dl_tensor.ndim = static_cast<std::int32_t>(holder->shape.size());
  holder->managed.manager_ctx = holder;
  holder->managed.deleter = Holder<Managed>::destroy;
  return holder;
}

}  // namespace detail

// "float32", "bfloat16", "float8_e4m3fn", or as in a checkpoint: "F32", "BF16", "F8_E4M3". Throws for another one.
inline DataType data_type(std::string_view name) {
  for (const detail::NamedType& known : detail::types) {
    if (known.name == name) return known.type;
  }
  detail::refuse(HOIST_ERROR_INVALID_ARGUMENT, "dtype '" + std::string(name) + "' is unknown",
                 "names are those of NumPy (float32, bfloat16, float8_e4m3fn) or of safetensors (F32, BF16, F8_E4M3)");
}

// A range of device memory with a dtype and a shape.
struct View {
  void* data = nullptr;
  std::uint64_t bytes = 0;
  Device device{};  // of Device::query(): dlpack_type, dlpack_index
  DataType dtype{};
  std::vector<std::int64_t> shape;
  bool read_only = false;
  std::shared_ptr<void> keep;
};

// Without a shape: one dimension of all elements. Throws where the device's memory has no views, and for dtype and
// shape that are not of these bytes.
inline View view(const hoist::Device& device, const hoist_tensor_view_t& tensor, DataType dtype,
                 const std::optional<std::vector<std::int64_t>>& shape, std::shared_ptr<void> keep) {
  const hoist_device_properties_t facts = device.query();
  if (facts.dlpack_type == 0) {
    detail::refuse(HOIST_ERROR_UNSUPPORTED, std::string("memory of ") + facts.name + " has no DLPack views",
                   "other threads may not touch it, or it holds no bytes; submit host functions");
  }
  View made{tensor.data, tensor.bytes, {facts.dlpack_type, facts.dlpack_index}, dtype, {}, false, std::move(keep)};
  made.shape = shape ? *shape : std::vector{detail::elements_of(tensor.bytes, dtype)};
  detail::check_shape(tensor.bytes, dtype, made.shape);
  made.read_only = tensor.mode == HOIST_USE_READ;
  return made;
}

// The caller hands it to a consumer, which calls its deleter. A consumer that takes tensors without a version cannot
// be told that it may only read.
inline ManagedTensorVersioned* managed_versioned(const View& view) {
  auto* holder = new detail::Holder<ManagedTensorVersioned>{{}, view.shape, view.keep};
  detail::fill(holder, {view.data, view.device, 0, view.dtype, nullptr, nullptr, 0});
  holder->managed.version = version;
  holder->managed.flags = view.read_only ? flag_read_only : 0;
  return &holder->managed;
}
inline ManagedTensor* managed(const View& view) {
  auto* holder = new detail::Holder<ManagedTensor>{{}, view.shape, view.keep};
  return &detail::fill(holder, {view.data, view.device, 0, view.dtype, nullptr, nullptr, 0})->managed;
}

}  // namespace hoist::dlpack
