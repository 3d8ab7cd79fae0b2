// SPDX-License-Identifier: Apache-2.0
// Device memory is host memory; handles are files in memory, mapped whole where the driver would map them.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "driver.hpp"

namespace stand_in {
namespace {

struct Handle {
  int file = -1;
  std::size_t bytes = 0;
  int maps = 0;
  bool released = false;
};
struct Mapping {
  std::size_t bytes = 0;
  DevicePointer handle = 0;
  bool open = false;  // access has been set
};

struct Machine {
  std::mutex mutex;
  std::map<std::uintptr_t, std::size_t> blocks;
  std::map<std::uintptr_t, std::size_t> pinned;
  std::map<std::uintptr_t, std::size_t> host_blocks;
  std::map<std::uintptr_t, std::size_t> reserved;
  std::map<std::uintptr_t, Mapping> mapped;
  std::map<DevicePointer, Handle> handles;
  DevicePointer next_handle = 1;
  std::uint64_t used = mood("full") ? total_bytes - (1 << 20) : 0;  // by other processes
};
Machine& machine() {
  static auto* instance = new Machine;
  return *instance;
}

template <typename Map>
auto holder(Map& map, std::uintptr_t at) {
  auto found = map.upper_bound(at);
  return found == map.begin() ? map.end() : --found;
}

Result memory_info(std::size_t* free, std::size_t* total) {
  std::lock_guard lock(machine().mutex);
  *free = total_bytes - machine().used;
  *total = total_bytes;
  return in_context();
}

Result allocate(DevicePointer* out, std::size_t bytes) {
  if (const Result result = apart_from_captures(); result != success) return result;
  std::lock_guard lock(machine().mutex);
  if (bytes > total_bytes - machine().used) return out_of_memory;
  void* memory = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  *out = reinterpret_cast<std::uintptr_t>(memory);
  machine().blocks[*out] = bytes;
  machine().used += bytes;
  return success;
}

Result release(DevicePointer memory) {
  if (const Result result = apart_from_captures(); result != success) return result;
  std::lock_guard lock(machine().mutex);
  const auto found = machine().blocks.find(memory);
  if (found == machine().blocks.end()) return memory == 0 ? success : invalid_value;
  machine().used -= found->second;
  machine().blocks.erase(found);
  std::free(reinterpret_cast<void*>(memory));
  return success;
}

Result host_register(void* memory, std::size_t bytes, unsigned) {
  if (mood("refuses-pinning")) return out_of_memory;
  if (mood("allocated")) return invalid_value;  // what the driver says of memory that it allocated itself
  if (const Result result = apart_from_captures(); result != success) return result;
  std::lock_guard lock(machine().mutex);
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(memory) / page * page;
  const std::uintptr_t last = (reinterpret_cast<std::uintptr_t>(memory) + bytes + page - 1) / page * page;
  for (const auto& [begin, length] : machine().pinned) {
    if (begin < last && first < begin + length) return already_registered;
  }
  machine().pinned[first] = last - first;
  return success;
}

Result host_unregister(void* memory) {
  if (const Result result = apart_from_captures(); result != success) return result;
  std::lock_guard lock(machine().mutex);
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(memory) / page * page;
  return machine().pinned.erase(first) == 1 ? success : not_registered;
}

Result host_allocate(void** out, std::size_t bytes, unsigned) {
  if (const Result result = apart_from_captures(); result != success) return result;
  std::lock_guard lock(machine().mutex);
  *out = std::aligned_alloc(page, (bytes + page - 1) / page * page);
  machine().host_blocks[reinterpret_cast<std::uintptr_t>(*out)] = bytes;
  return success;
}

Result host_free(void* memory) {
  if (const Result result = apart_from_captures(); result != success) return result;
  std::lock_guard lock(machine().mutex);
  if (machine().host_blocks.erase(reinterpret_cast<std::uintptr_t>(memory)) == 0) return invalid_value;
  std::free(memory);
  return success;
}

Result pointer_attribute(void* out, int, DevicePointer memory) {
  std::lock_guard lock(machine().mutex);
  const auto found = holder(machine().host_blocks, memory);
  const bool allocated = found != machine().host_blocks.end() && memory < found->first + found->second;
  if (memory == 0 || (!allocated && !mood("allocated"))) return invalid_value;
  *static_cast<unsigned*>(out) = 1;  // the host's
  return success;
}

Result granularity(std::size_t* out, const void*, int) {
  *out = page;
  return success;
}

Result handle_create(DevicePointer* out, std::size_t bytes, const void*, unsigned long long) {
  if (const Result result = apart_from_captures(); result != success) return result;
  std::lock_guard lock(machine().mutex);
  if (bytes == 0 || bytes % page != 0) return invalid_value;
  if (bytes > total_bytes - machine().used) return out_of_memory;
  Handle handle;
  handle.bytes = bytes;
  handle.file = memfd_create("stand-in", MFD_CLOEXEC);
  if (handle.file < 0 || ftruncate(handle.file, static_cast<off_t>(bytes)) != 0) return out_of_memory;
  machine().used += bytes;
  *out = machine().next_handle++;
  machine().handles[*out] = handle;
  return success;
}

// The bytes are free when neither a name nor an address leads to them.
void drop_unused(DevicePointer number) {
  const auto found = machine().handles.find(number);
  if (!found->second.released || found->second.maps != 0) return;
  close(found->second.file);
  machine().used -= found->second.bytes;
  machine().handles.erase(found);
}

Result handle_release(DevicePointer number) {
  if (const Result result = apart_from_captures(); result != success) return result;
  std::lock_guard lock(machine().mutex);
  const auto found = machine().handles.find(number);
  if (found == machine().handles.end() || found->second.released) return invalid_value;
  found->second.released = true;
  drop_unused(number);
  return success;
}

Result reserve(DevicePointer* out, std::size_t bytes, std::size_t, DevicePointer, unsigned long long) {
  if (const Result result = apart_from_captures(); result != success) return result;
  if (bytes == 0 || bytes % page != 0) return invalid_value;
  void* address = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) return out_of_memory;
  std::lock_guard lock(machine().mutex);
  *out = reinterpret_cast<std::uintptr_t>(address);
  machine().reserved[*out] = bytes;
  return success;
}

bool is_free(std::uintptr_t address, std::size_t bytes) {
  const auto next = machine().mapped.lower_bound(address + bytes);
  if (next == machine().mapped.begin()) return true;
  const auto before = std::prev(next);
  return before->first + before->second.bytes <= address;
}

Result address_free(DevicePointer address, std::size_t bytes) {
  if (const Result result = apart_from_captures(); result != success) return result;
  std::lock_guard lock(machine().mutex);
  const auto found = machine().reserved.find(address);
  if (found == machine().reserved.end() || found->second != bytes || !is_free(address, bytes)) return invalid_value;
  machine().reserved.erase(found);
  munmap(reinterpret_cast<void*>(address), bytes);
  return success;
}

// An H200 maps no part of a handle.
Result map(DevicePointer address, std::size_t bytes, std::size_t offset, DevicePointer number, unsigned long long) {
  if (const Result result = apart_from_captures(); result != success) return result;
  std::lock_guard lock(machine().mutex);
  const auto handle = machine().handles.find(number);
  if (handle == machine().handles.end() || handle->second.released) return invalid_value;
  if (offset != 0 || bytes != handle->second.bytes) return not_supported;
  const auto within = holder(machine().reserved, address);
  const bool fits = within != machine().reserved.end() && address + bytes <= within->first + within->second;
  if (!fits || !is_free(address, bytes)) return invalid_value;
  void* at = reinterpret_cast<void*>(address);
  if (mmap(at, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, handle->second.file, 0) != at) return out_of_memory;
  ++handle->second.maps;
  machine().mapped[address] = {bytes, number, false};
  return success;
}

Result set_access(DevicePointer address, std::size_t bytes, const void*, std::size_t count) {
  std::lock_guard lock(machine().mutex);
  const auto found = machine().mapped.find(address);
  if (found == machine().mapped.end() || found->second.bytes != bytes || count != 1) return invalid_value;
  found->second.open = true;
  mprotect(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE);
  return in_context();
}

// Whoever still uses it dies of it.
Result unmap(DevicePointer address, std::size_t bytes) {
  if (const Result result = apart_from_captures(); result != success) return result;
  std::lock_guard lock(machine().mutex);
  const auto found = machine().mapped.find(address);
  if (found == machine().mapped.end() || found->second.bytes != bytes) return invalid_value;
  void* at = reinterpret_cast<void*>(address);
  constexpr int empty = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (mmap(at, bytes, PROT_NONE, empty, -1, 0) != at) return out_of_memory;
  const DevicePointer number = found->second.handle;
  machine().mapped.erase(found);
  --machine().handles[number].maps;
  drop_unused(number);
  return success;
}

}  // namespace

Result known(std::uintptr_t memory, std::size_t bytes) {
  std::lock_guard lock(machine().mutex);
  const auto block = holder(machine().blocks, memory);
  if (block != machine().blocks.end() && memory + bytes <= block->first + block->second) return success;
  // Neighbours may be one tensor's.
  while (bytes > 0) {
    const auto part = holder(machine().mapped, memory);
    if (part == machine().mapped.end() || !part->second.open) return invalid_value;
    const std::uintptr_t end = part->first + part->second.bytes;
    if (memory >= end) return invalid_value;
    const std::size_t here = std::min<std::size_t>(bytes, end - memory);
    memory += here;
    bytes -= here;
  }
  return success;
}

void reset_memory() {
  std::lock_guard lock(machine().mutex);
  for (const auto& [at, bytes] : machine().blocks) std::free(reinterpret_cast<void*>(at));
  for (const auto& [at, bytes] : machine().host_blocks) std::free(reinterpret_cast<void*>(at));
  for (const auto& [at, bytes] : machine().reserved) munmap(reinterpret_cast<void*>(at), bytes);
  for (const auto& [number, handle] : machine().handles) close(handle.file);
  machine().blocks.clear();
  machine().host_blocks.clear();
  machine().reserved.clear();
  machine().mapped.clear();
  machine().handles.clear();
  machine().pinned.clear();
  machine().used = 0;
}

void* memory_symbol(std::string_view name) {
  static const std::map<std::string_view, void*> symbols = {{"cuMemGetInfo", any(memory_info)},
                                                            {"cuMemAlloc", any(allocate)},
                                                            {"cuMemFree", any(release)},
                                                            {"cuMemHostRegister", any(host_register)},
                                                            {"cuMemHostUnregister", any(host_unregister)},
                                                            {"cuMemHostAlloc", any(host_allocate)},
                                                            {"cuMemFreeHost", any(host_free)},
                                                            {"cuPointerGetAttribute", any(pointer_attribute)},
                                                            {"cuMemGetAllocationGranularity", any(granularity)},
                                                            {"cuMemCreate", any(handle_create)},
                                                            {"cuMemRelease", any(handle_release)},
                                                            {"cuMemAddressReserve", any(reserve)},
                                                            {"cuMemAddressFree", any(address_free)},
                                                            {"cuMemMap", any(map)},
                                                            {"cuMemSetAccess", any(set_access)},
                                                            {"cuMemUnmap", any(unmap)}};
  const auto found = symbols.find(name);
  return found == symbols.end() ? nullptr : found->second;
}

}  // namespace stand_in
