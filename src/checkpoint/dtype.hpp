// SPDX-License-Identifier: Apache-2.0
// Element types of safetensors files.
#pragma once

#include <cstdint>
#include <string_view>

namespace hoist {

// A type as the format spells it. Names are static: they outlive any file.
struct Dtype {
  const char* name;
  std::uint32_t bits;
};

// NULL for a name that the format does not know.
const Dtype* find_dtype(std::string_view name) noexcept;

// "BOOL, F4, ...", for messages.
const char* dtype_names() noexcept;

}  // namespace hoist
