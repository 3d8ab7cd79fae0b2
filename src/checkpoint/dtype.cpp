// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/dtype.hpp"

#include <algorithm>
#include <array>

namespace hoist {
namespace {

// The list of safetensors 0.7, and what 0.8 adds to it. Its sub-byte types pack without gaps, so only whole tensors
// have a size in bytes.
constexpr std::array<Dtype, 22> dtypes{{
    {"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"U8", 8},          {"I8", 8},
    {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
    {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
    {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64},
}};

}  // namespace

const Dtype* find_dtype(std::string_view name) noexcept {
  const auto* found = std::find_if(dtypes.begin(), dtypes.end(), [&](const Dtype& type) { return name == type.name; });
  return found == dtypes.end() ? nullptr : found;
}

const char* dtype_names() noexcept {
  return "BOOL, F4, F6_E2M3, F6_E3M2, U8, I8, F8_E5M2, F8_E4M3, F8_E8M0, F8_E4M3FNUZ, F8_E5M2FNUZ, I16, U16, "
         "F16, BF16, I32, U32, F32, C64, F64, I64, U64";
}

}  // namespace hoist
