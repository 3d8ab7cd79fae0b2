// SPDX-License-Identifier: Apache-2.0
// Host pages straight from the system, touched by several threads: registering touched pages is ten times
// faster than a driver's own pinned allocator, and nothing is rounded up but to the page.
#pragma once

#include <cstdint>

#include "memory/numa.hpp"

namespace hoist {

inline constexpr std::uint64_t page_bytes = 4096;

constexpr std::uint64_t pages_up(std::uint64_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

class Slab {
 public:
  // Whole pages, zeroed, near a device where that is known, and touched unless the caller is about to write them all.
  // Throws Error(OUT_OF_MEMORY).
  explicit Slab(std::uint64_t bytes, bool touched = true, const NumaPlace& place = {});
  ~Slab();
  Slab(Slab&& other) noexcept;
  Slab& operator=(Slab&&) = delete;
  Slab(const Slab&) = delete;

  [[nodiscard]] void* base() const noexcept { return base_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  void* base_ = nullptr;
  std::uint64_t bytes_;
};

// How many threads touch so many bytes.
unsigned touch_threads(std::uint64_t bytes) noexcept;

}  // namespace hoist
