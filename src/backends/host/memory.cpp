// SPDX-License-Identifier: Apache-2.0
#include "backends/host/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "backends/common/error.hpp"

namespace hoist_backend::host {
namespace {

constexpr std::uint64_t page = 4096;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

constexpr int closed_flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

std::uintptr_t address(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

}  // namespace

DeviceMemory::DeviceMemory(const Options& options)
    : mode_(options.mode), total_(options.memory_bytes), alignment_(options.alignment) {
  // Addresses cost nothing: four times the memory, so that no pattern of frees leaves it too fragmented.
  span_ = round_up(4 * total_, page) + (64 + 4 * alignment_ / page) * page;
  void* base = mmap(nullptr, span_, PROT_NONE, closed_flags, -1, 0);
  if (base == MAP_FAILED) {
    fail(HOIST_ERROR_OUT_OF_MEMORY, text("no ", span_, " bytes of addresses for the device: ", std::strerror(errno)),
         "open it with less memory, such as memory=512MiB");
  }
  base_ = address(base);
}

DeviceMemory::~DeviceMemory() { munmap(reinterpret_cast<void*>(base_), span_); }

std::uint64_t DeviceMemory::free_bytes() const {
  const std::uint64_t held = used_ + std::min(taken_.load(std::memory_order_relaxed), total_);
  return held >= total_ ? 0 : total_ - held;
}

void DeviceMemory::query(std::uint64_t& free, std::uint64_t& total) const {
  std::lock_guard lock(mutex_);
  free = free_bytes();
  total = total_;
}

// First fit, with a closed page before and after every block. 0 where nothing fits.
std::uintptr_t DeviceMemory::find_place(std::uint64_t length) const {
  const std::uint64_t unit = std::max(page, alignment_);
  std::uintptr_t place = round_up(base_ + page, unit);
  for (const auto& [begin, block] : blocks_) {
    if (place + length + page <= begin) return place;
    place = round_up(begin + block.length + page, unit);
  }
  return place + length + page <= base_ + span_ ? place : 0;
}

void* DeviceMemory::allocate(std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const std::uint64_t free = free_bytes();
  if (bytes > free || round_up(bytes, alignment_) > free) {
    fail(HOIST_ERROR_OUT_OF_MEMORY,
         text("asked for ", bytes, " bytes of device memory; ", free, " of ", total_, " are free"),
         text("ask for at most ", free / alignment_ * alignment_));
  }
  Block block;
  block.charged = round_up(bytes, alignment_);
  block.length = round_up(std::max<std::uint64_t>(bytes, 1), page);
  if (mode_ == Mode::guarded) block.opens.resize(block.length / page);
  const std::uintptr_t place = find_place(block.length);
  if (place == 0) fail(HOIST_ERROR_OUT_OF_MEMORY, text("no ", bytes, " bytes of device memory in one piece"));
  void* memory = reinterpret_cast<void*>(place);
  const auto added = blocks_.emplace(place, std::move(block)).first;
  const bool readable = mode_ != Mode::guarded && bytes != 0;
  if (readable && mprotect(memory, added->second.length, PROT_READ | PROT_WRITE) != 0) {
    blocks_.erase(added);
    fail(HOIST_ERROR_OUT_OF_MEMORY, text("the system refused ", bytes, " bytes: ", std::strerror(errno)));
  }
  used_ += added->second.charged;
  return memory;
}

void* DeviceMemory::reserve(std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  Block block;
  block.length = round_up(bytes, page);
  block.reserved = true;
  const std::uintptr_t place = find_place(block.length);
  if (place == 0) fail(HOIST_ERROR_OUT_OF_MEMORY, text("no ", bytes, " addresses in one piece"));
  blocks_.emplace(place, std::move(block));
  return reinterpret_cast<void*>(place);
}

void DeviceMemory::charge(std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const std::uint64_t free = free_bytes();
  if (bytes > free) {
    fail(HOIST_ERROR_OUT_OF_MEMORY,
         text("asked for ", bytes, " bytes of device memory; ", free, " of ", total_, " are free"),
         text("ask for at most ", free / page * page));
  }
  used_ += bytes;
}

void DeviceMemory::discharge(std::uint64_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  used_ -= bytes;
}

bool DeviceMemory::is_mapped(const Block& block, std::uintptr_t begin, std::uint64_t bytes) {
  auto next = block.mapped.upper_bound(begin);
  if (next == block.mapped.begin()) return false;
  std::uintptr_t reached = begin;
  for (--next; next != block.mapped.end() && next->first <= reached && reached < begin + bytes; ++next) {
    reached = std::max(reached, next->first + next->second);
  }
  return reached >= begin + bytes;
}

void DeviceMemory::set_mapped(const void* memory, std::uint64_t bytes, bool mapped) {
  std::lock_guard lock(mutex_);
  const std::uintptr_t begin = address(memory);
  const auto found = block_of(begin, bytes);
  if (found == blocks_.end() || !found->second.reserved || bytes == 0 || begin % page != 0 || bytes % page != 0) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text(memory, " with ", bytes, " bytes is not within reserved addresses"),
         "map whole pages of one reservation");
  }
  auto& ranges = const_cast<Block&>(found->second).mapped;
  if (!mapped) {
    const auto range = ranges.find(begin);
    if (range != ranges.end() && range->second == bytes) return void(ranges.erase(range));
    fail(HOIST_ERROR_INVALID_ARGUMENT, text(memory, " with ", bytes, " bytes was not mapped so"),
         "unmap what was mapped");
  }
  const auto next = ranges.lower_bound(begin);
  const bool meets_next = next != ranges.end() && next->first < begin + bytes;
  const bool meets_previous = next != ranges.begin() && std::prev(next)->first + std::prev(next)->second > begin;
  if (meets_next || meets_previous) {
    fail(HOIST_ERROR_ALREADY_EXISTS, text(memory, " with ", bytes, " bytes has memory behind it already"),
         "unmap it first");
  }
  ranges.emplace(begin, bytes);
}

void DeviceMemory::release(void* memory) {
  std::lock_guard lock(mutex_);
  const auto found = blocks_.find(address(memory));
  if (found == blocks_.end()) fail(HOIST_ERROR_INVALID_ARGUMENT, text("memory ", memory, " was never given out"));
  // A fresh mapping gives the pages back and closes them, so that a late access faults.
  if (mmap(memory, found->second.length, PROT_NONE, closed_flags | MAP_FIXED, -1, 0) == MAP_FAILED) {
    fail(HOIST_ERROR_INTERNAL, text("memory ", memory, " cannot be given back: ", std::strerror(errno)));
  }
  used_ -= found->second.charged;
  blocks_.erase(found);
}

// The block that holds the whole range, or end().
DeviceMemory::Blocks::const_iterator DeviceMemory::block_of(std::uintptr_t begin, std::uint64_t bytes) const {
  auto found = blocks_.upper_bound(begin);
  if (found == blocks_.begin()) return blocks_.end();
  --found;
  const std::uint64_t offset = begin - found->first;
  const bool inside = offset <= found->second.length && bytes <= found->second.length - offset;
  return inside ? found : blocks_.end();
}

void DeviceMemory::check(const char* what, const void* memory, std::uint64_t bytes) const {
  const std::uintptr_t begin = address(memory);
  bool good = contains(memory) && bytes <= span_ - (begin - base_);
  if (good && mode_ != Mode::threaded) {
    std::lock_guard lock(mutex_);
    const auto block = block_of(begin, bytes);
    good = block != blocks_.end() && (!block->second.reserved || is_mapped(block->second, begin, bytes));
  }
  if (good) return;
  fail(HOIST_ERROR_INVALID_ARGUMENT, text(what, " ", memory, " with ", bytes, " bytes is not memory of this device"),
       "give a range within memory that the device allocated");
}

void DeviceMemory::count_opens(const void* memory, std::uint64_t bytes, bool opening) {
  std::lock_guard lock(mutex_);
  const auto found = block_of(address(memory), bytes);
  if (found == blocks_.end()) {
    fail(HOIST_ERROR_INVALID_ARGUMENT,
         text("access to ", memory, " with ", bytes, " bytes: not memory of this device"));
  }
  Block& block = const_cast<Block&>(found->second);
  const std::uint64_t first = (address(memory) - found->first) / page;
  const std::uint64_t last = (address(memory) + bytes - 1 - found->first) / page;
  for (std::uint64_t i = first; i <= last && !opening; ++i) {
    if (block.opens[i] != 0) continue;
    fail(HOIST_ERROR_INVALID_STATE, text("access to ", memory, " ends, but it was not begun"));
  }
  protect_changed(found->first, block, first, last, opening);
}

// Counts, and changes the protection of runs of pages that were opened first or closed last.
void DeviceMemory::protect_changed(std::uintptr_t base, Block& block, std::uint64_t first, std::uint64_t last,
                                   bool opening) {
  std::uint64_t run = 0;  // changed pages just before page i
  for (std::uint64_t i = first; i <= last + 1; ++i) {
    if (i <= last && (opening ? block.opens[i]++ == 0 : --block.opens[i] == 0)) {
      ++run;
      continue;
    }
    void* begin = reinterpret_cast<void*>(base + (i - run) * page);
    const int protection = opening ? PROT_READ | PROT_WRITE : PROT_NONE;
    if (run != 0 && mprotect(begin, run * page, protection) != 0) {
      fail(HOIST_ERROR_DEVICE, text("pages could not be ", opening ? "opened" : "closed", ": ", std::strerror(errno)));
    }
    run = 0;
  }
}

void DeviceMemory::open(const void* memory, std::uint64_t bytes) {
  if (mode_ == Mode::guarded) count_opens(memory, bytes, true);
}

void DeviceMemory::close(const void* memory, std::uint64_t bytes) {
  if (mode_ == Mode::guarded) count_opens(memory, bytes, false);
}

void HostRanges::add(const void* memory, std::uint64_t bytes) {
  if (memory == nullptr || bytes == 0) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("host memory ", memory, " with ", bytes, " bytes cannot be registered"));
  }
  const std::uintptr_t begin = address(memory);
  std::lock_guard lock(mutex_);
  const auto next = ranges_.lower_bound(begin);
  const bool meets_next = next != ranges_.end() && next->first < begin + bytes;
  const bool meets_previous = next != ranges_.begin() && std::prev(next)->first + std::prev(next)->second > begin;
  if (meets_next || meets_previous) {
    fail(HOIST_ERROR_ALREADY_EXISTS,
         text("host memory ", memory, " with ", bytes, " bytes shares bytes with a registered range"),
         "register every byte once");
  }
  ranges_.emplace(begin, bytes);
}

void HostRanges::check(const void* memory, std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const auto next = ranges_.upper_bound(address(memory));
  if (next == ranges_.begin()) return;
  const std::uintptr_t end = std::prev(next)->first + std::prev(next)->second;
  if (end <= address(memory) || address(memory) + bytes <= end) return;
  fail(HOIST_ERROR_INVALID_ARGUMENT,
       text("host memory ", memory, " with ", bytes, " bytes begins in a registered range and ends beyond it"),
       "copy within one registered range");
}

void HostRanges::remove(const void* memory, std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const auto found = ranges_.find(address(memory));
  if (found == ranges_.end() || found->second != bytes) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("host memory ", memory, " with ", bytes, " bytes is not registered"),
         "unregister exactly the range that was registered");
  }
  ranges_.erase(found);
}

}  // namespace hoist_backend::host
