// SPDX-License-Identifier: Apache-2.0
// Hashes of bytes: SHA-256 for identity (plans, files), a fast 64-bit sum for checks of moved bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hoist {

// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

// FNV-like over eight bytes at a time; a changed, moved or missing byte changes it. Not for adversaries.
std::uint64_t checksum(const void* bytes, std::size_t count) noexcept;

}  // namespace hoist
