// SPDX-License-Identifier: Apache-2.0
#include "backends/host/remap.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "backends/common/error.hpp"

namespace hoist_backend::host {
namespace {

std::uintptr_t address_of(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

}  // namespace

void Remapper::require_granular(const char* what, std::uint64_t bytes) const {
  if (bytes != 0 && bytes % granularity_ == 0) return;
  fail(HOIST_ERROR_INVALID_ARGUMENT, text(what, " of ", bytes, " bytes"),
       text("give a multiple of ", granularity_, " above 0"));
}

// What nobody gave back: the addresses go with the device's span.
Remapper::~Remapper() {
  for (const auto& [handle, bytes] : handles_) {
    close(handle->file);
    delete handle;
  }
}

Remapper::Handle* Remapper::create(std::uint64_t bytes) {
  require_granular("a handle", bytes);
  auto handle = std::make_unique<Handle>();
  handle->bytes = bytes;
  memory_.charge(bytes);
  handle->file = memfd_create("hoist", MFD_CLOEXEC);
  if (handle->file < 0 || ftruncate(handle->file, static_cast<off_t>(bytes)) != 0) {
    const int why = errno;
    if (handle->file >= 0) close(handle->file);
    memory_.discharge(bytes);
    fail(HOIST_ERROR_OUT_OF_MEMORY, text("the system refused ", bytes, " bytes: ", std::strerror(why)));
  }
  std::lock_guard lock(mutex_);
  handles_.emplace(handle.get(), bytes);
  return handle.release();
}

void Remapper::destroy(Handle* handle) {
  std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end() || handle->mappings != 0) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, "a handle is destroyed that was never given out, or that is mapped");
  }
  close(handle->file);
  memory_.discharge(handle->bytes);
  handles_.erase(found);
  delete handle;
}

void* Remapper::reserve(std::uint64_t bytes) {
  require_granular("addresses", bytes);
  void* address = memory_.reserve(bytes);
  std::lock_guard lock(mutex_);
  reserved_.emplace(address_of(address), bytes);
  return address;
}

void Remapper::release(void* address, std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const auto found = reserved_.find(address_of(address));
  const bool known = found != reserved_.end() && found->second == bytes;
  const auto first = mapped_.lower_bound(address_of(address));
  if (!known || (first != mapped_.end() && first->first < found->first + bytes)) {
    fail(HOIST_ERROR_INVALID_ARGUMENT,
         text("addresses ", address, " with ", bytes, " bytes were not reserved so, or have memory behind them"),
         "release exactly what was reserved, when nothing is mapped there");
  }
  memory_.release(address);
  reserved_.erase(found);
}

void Remapper::map(void* address, std::uint64_t bytes, Handle* handle) {
  std::lock_guard lock(mutex_);
  const auto known = handles_.find(handle);
  if (known == handles_.end()) fail(HOIST_ERROR_INVALID_ARGUMENT, "memory_map of a handle that is not this device's");
  if (known->second != bytes) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("a handle of ", known->second, " bytes is mapped to ", bytes),
         "a handle is mapped whole");
  }
  memory_.set_mapped(address, bytes, true);
  if (mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, handle->file, 0) == MAP_FAILED) {
    const int why = errno;
    memory_.set_mapped(address, bytes, false);
    fail(HOIST_ERROR_OUT_OF_MEMORY, text("the system refused to map ", bytes, " bytes: ", std::strerror(why)));
  }
  mapped_.emplace(address_of(address), handle);
  ++handle->mappings;
}

void Remapper::unmap(void* address, std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  memory_.set_mapped(address, bytes, false);
  const auto mapping = mapped_.find(address_of(address));
  constexpr int closed = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (mmap(address, bytes, PROT_NONE, closed, -1, 0) == MAP_FAILED) {
    memory_.set_mapped(address, bytes, true);
    fail(HOIST_ERROR_DEVICE, text("the system refused to unmap ", bytes, " bytes: ", std::strerror(errno)));
  }
  --mapping->second->mappings;
  mapped_.erase(mapping);
}

}  // namespace hoist_backend::host
