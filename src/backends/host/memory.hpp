// SPDX-License-Identifier: Apache-2.0
// Device memory: one reserved span of addresses, allocations committed in it with unreadable pages around
// each; in guarded mode all pages are closed but those that somebody has opened.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "backends/host/options.hpp"

namespace hoist_backend::host {

class DeviceMemory {
 public:
  explicit DeviceMemory(const Options& options);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void* allocate(std::uint64_t bytes);
  // Throws Error(INVALID_ARGUMENT) where no allocation begins there.
  void release(void* memory);
  void query(std::uint64_t& free, std::uint64_t& total) const;
  // Addresses without memory, closed; given back by release. Nothing is charged.
  void* reserve(std::uint64_t bytes);
  // Memory without an address. Throws Error(OUT_OF_MEMORY).
  void charge(std::uint64_t bytes);
  void discharge(std::uint64_t bytes) noexcept;
  // Whole pages of a reservation have memory behind them from now on, or have none any more. Throws
  // Error(INVALID_ARGUMENT) where they are not just that.
  void set_mapped(const void* memory, std::uint64_t bytes, bool mapped);
  // As if somebody else held so many bytes.
  void set_taken(std::uint64_t bytes) { taken_.store(bytes, std::memory_order_relaxed); }

  [[nodiscard]] bool contains(const void* memory) const noexcept {
    return reinterpret_cast<std::uintptr_t>(memory) - base_ < span_;
  }
  // Throws Error(INVALID_ARGUMENT) where the range is not device memory. Without a lock in threaded
  // mode, where only the span is checked: an unallocated page of it faults when it is touched.
  void check(const char* what, const void* memory, std::uint64_t bytes) const;

  // Guarded mode; counted by page. Otherwise nothing.
  void open(const void* memory, std::uint64_t bytes);
  void close(const void* memory, std::uint64_t bytes);

 private:
  struct Block {
    std::uint64_t charged = 0;                       // what counts against the device's memory
    std::uint64_t length = 0;                        // whole pages
    std::vector<std::uint32_t> opens;                // guarded mode: by page
    bool reserved = false;                           // addresses alone
    std::map<std::uintptr_t, std::uint64_t> mapped;  // reserved: what has memory behind it
  };
  using Blocks = std::map<std::uintptr_t, Block>;

  std::uintptr_t find_place(std::uint64_t length) const;
  [[nodiscard]] std::uint64_t free_bytes() const;
  [[nodiscard]] Blocks::const_iterator block_of(std::uintptr_t begin, std::uint64_t bytes) const;
  [[nodiscard]] static bool is_mapped(const Block& block, std::uintptr_t begin, std::uint64_t bytes);
  void count_opens(const void* memory, std::uint64_t bytes, bool opening);
  static void protect_changed(std::uintptr_t base, Block& block, std::uint64_t first, std::uint64_t last, bool opening);

  const Mode mode_;
  const std::uint64_t total_;
  const std::uint64_t alignment_;
  std::uintptr_t base_ = 0;
  std::uint64_t span_ = 0;
  std::atomic<std::uint64_t> taken_{0};
  mutable std::mutex mutex_;
  std::uint64_t used_ = 0;
  Blocks blocks_;
};

// Opens the pages of one operation while it runs.
class OpenPages {
 public:
  OpenPages(DeviceMemory& memory, const void* begin, std::uint64_t bytes)
      : memory_(memory), begin_(begin), bytes_(memory.contains(begin) ? bytes : 0) {
    if (bytes_ != 0) memory_.open(begin_, bytes_);
  }
  ~OpenPages() {
    if (bytes_ != 0) memory_.close(begin_, bytes_);
  }
  OpenPages(const OpenPages&) = delete;
  OpenPages& operator=(const OpenPages&) = delete;

 private:
  DeviceMemory& memory_;
  const void* begin_;
  std::uint64_t bytes_;
};

// Host memory that is registered. As strict as drivers are: ranges share no byte (a page they may), and a copy
// does not cross the end of one.
class HostRanges {
 public:
  void add(const void* memory, std::uint64_t bytes);
  void remove(const void* memory, std::uint64_t bytes);
  void check(const void* memory, std::uint64_t bytes);

 private:
  std::mutex mutex_;
  std::map<std::uintptr_t, std::uint64_t> ranges_;
};

}  // namespace hoist_backend::host
