// SPDX-License-Identifier: Apache-2.0
// Memory without an address, and addresses that it is put behind: a handle is a file in memory. As strict as
// drivers are: a handle is mapped whole or not at all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>

#include "backends/host/memory.hpp"

namespace hoist_backend::host {

class Remapper {
 public:
  // Whole pages.
  static std::uint64_t granularity_of(std::uint64_t alignment) { return std::max<std::uint64_t>(4096, alignment); }

  Remapper(DeviceMemory& memory, std::uint64_t alignment) : memory_(memory), granularity_(granularity_of(alignment)) {}
  ~Remapper();
  Remapper(const Remapper&) = delete;
  Remapper& operator=(const Remapper&) = delete;

  struct Handle {
    int file = -1;
    std::uint64_t bytes = 0;
    std::uint32_t mappings = 0;
  };

  Handle* create(std::uint64_t bytes);
  // Mapped nowhere any more.
  void destroy(Handle* handle);
  void* reserve(std::uint64_t bytes);
  void release(void* address, std::uint64_t bytes);
  void map(void* address, std::uint64_t bytes, Handle* handle);
  void unmap(void* address, std::uint64_t bytes);

 private:
  void require_granular(const char* what, std::uint64_t bytes) const;

  DeviceMemory& memory_;
  const std::uint64_t granularity_;
  std::mutex mutex_;
  std::map<Handle*, std::uint64_t> handles_;          // bytes
  std::map<std::uintptr_t, std::uint64_t> reserved_;  // bytes
  std::map<std::uintptr_t, Handle*> mapped_;
};

}  // namespace hoist_backend::host
