// SPDX-License-Identifier: Apache-2.0
#include "memory/pinned_arena.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"

namespace hoist {
namespace {

constexpr std::uint64_t cache_line = 64;
constexpr std::uint64_t most_alignment = 512;

std::uintptr_t address(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

}  // namespace

PinnedArena::PinnedArena(std::shared_ptr<Device> device, std::uint64_t limit_bytes)
    : device_(std::move(device)),
      limit_bytes_(limit_bytes),
      tensor_alignment_(std::clamp(device_->properties().alignment, cache_line, most_alignment)),
      place_(NumaPlace::near_pci(device_->properties().pci_address)) {}

PinnedArena::~PinnedArena() {
  for (const auto& [begin, extent] : extents_) unpin(reinterpret_cast<void*>(begin), extent.bytes, extent.pin);
  for (const auto& [memory, held] : slabs_) unpin(memory, held.slab.bytes(), held.pin);
}

PinnedArena::Pin PinnedArena::pin(void* memory, std::uint64_t bytes) {
  try {
    device_->host_register(memory, bytes);
    return Pin::ours;
  } catch (const Error& error) {
    if (error.code() == HOIST_ERROR_ALREADY_EXISTS) return Pin::others;
    if (error.code() != HOIST_ERROR_UNSUPPORTED) throw;
    pageable_bytes_ += bytes;
    refusal_ =
        text(error.what(), "; ", pageable_bytes_.load(), " bytes of host memory are pageable in all: ", error.hint());
    return Pin::refused;
  }
}

void PinnedArena::tell() noexcept {
  std::string refusal;
  {
    std::lock_guard lock(mutex_);
    refusal.swap(refusal_);
  }
  if (!refusal.empty()) log_message(HOIST_LOG_WARNING, refusal.c_str());
}

void PinnedArena::unpin(void* memory, std::uint64_t bytes, Pin pin) noexcept {
  if (pin == Pin::ours) device_->host_unregister(memory, bytes);
  if (pin == Pin::refused) pageable_bytes_ -= bytes;
}

void PinnedArena::check_limit(std::uint64_t more) const {
  const std::uint64_t held = pinned_bytes_ + adopted_bytes_;
  if (limit_bytes_ == 0 || (held <= limit_bytes_ && more <= limit_bytes_ - held)) return;
  fail(HOIST_ERROR_OUT_OF_MEMORY,
       text("asked for ", more, " bytes of pinned host memory; ", held, " are held, the limit is ", limit_bytes_),
       text("a limit of ", held + more, " bytes would do"));
}

void* PinnedArena::allocate(std::uint64_t bytes, const std::function<void(void*)>& fill) {
  if (bytes == 0) return nullptr;
  if (bytes > (std::uint64_t{1} << 62)) fail(HOIST_ERROR_OUT_OF_MEMORY, text("asked for ", bytes, " bytes"));
  const Teller teller{*this};
  std::lock_guard lock(mutex_);
  check_limit(pages_up(bytes));
  Slab slab(bytes, !fill, place_);
  void* memory = slab.base();
  if (fill) fill(memory);
  const auto added = slabs_.emplace(memory, PinnedSlab{std::move(slab)}).first;
  try {
    added->second.pin = pin(memory, added->second.slab.bytes());
  } catch (...) {
    slabs_.erase(added);
    throw;
  }
  pinned_bytes_ += added->second.slab.bytes();
  return memory;
}

void PinnedArena::release(void* memory) {
  if (memory == nullptr) return;
  std::lock_guard lock(mutex_);
  const auto found = slabs_.find(memory);
  if (found == slabs_.end()) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text(memory, " is no pinned memory of this arena"),
         "release what allocate gave");
  }
  unpin(memory, found->second.slab.bytes(), found->second.pin);
  pinned_bytes_ -= found->second.slab.bytes();
  slabs_.erase(found);
}

// The first extent that ends after `begin`.
PinnedArena::Extents::iterator PinnedArena::first_extent(std::uintptr_t begin) {
  auto found = extents_.upper_bound(begin);
  if (found != extents_.begin() && std::prev(found)->first + std::prev(found)->second.bytes > begin) --found;
  return found;
}

void PinnedArena::register_extent(std::uintptr_t begin, Extent extent) {
  const auto added = extents_.emplace(begin, extent).first;
  try {
    added->second.pin = pin(reinterpret_cast<void*>(begin), extent.bytes);
  } catch (...) {
    extents_.erase(added);
    throw;
  }
  adopted_bytes_ += extent.bytes;
}

void PinnedArena::unregister_extent(Extents::iterator extent) {
  unpin(reinterpret_cast<void*>(extent->first), extent->second.bytes, extent->second.pin);
  adopted_bytes_ -= extent->second.bytes;
  extents_.erase(extent);
}

// One extent in place of [first, last) and a range that overlaps them. Where that is refused, all is as it was.
void PinnedArena::merge(Extents::iterator first, Extents::iterator last, std::uintptr_t begin, std::uintptr_t end) {
  const std::vector<Extents::value_type> before(first, last);
  Extent merged{0, 1, Pin::ours};
  std::uint64_t held = 0;
  for (const auto& [where, extent] : before) {
    begin = std::min(begin, where);
    end = std::max(end, where + extent.bytes);
    merged.adoptions += extent.adoptions;
    held += extent.bytes;
  }
  merged.bytes = end - begin;
  check_limit(merged.bytes - held);
  while (first != last) unregister_extent(first++);
  try {
    register_extent(begin, merged);
  } catch (...) {
    for (const auto& [where, extent] : before) register_extent(where, extent);
    throw;
  }
}

void PinnedArena::adopt(void* memory, std::uint64_t bytes) {
  if (bytes == 0) return;
  const std::uintptr_t begin = address(memory);
  const std::uintptr_t end = begin + bytes;
  if (memory == nullptr || end < begin) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("host memory ", memory, " with ", bytes, " bytes cannot be adopted"),
         "give memory of the caller's");
  }
  const Teller teller{*this};
  std::lock_guard lock(mutex_);
  const auto added = adoptions_.emplace(begin, bytes);
  try {
    const auto first = first_extent(begin);
    const auto last = extents_.lower_bound(end);
    if (first == last) {
      check_limit(bytes);
      register_extent(begin, {bytes, 1, Pin::ours});
    } else if (first->first <= begin && end <= first->first + first->second.bytes) {
      ++first->second.adoptions;
    } else {
      merge(first, last, begin, end);
    }
  } catch (...) {
    adoptions_.erase(added);
    throw;
  }
}

void PinnedArena::disown(void* memory, std::uint64_t bytes) {
  if (bytes == 0) return;
  std::lock_guard lock(mutex_);
  const auto [first, last] = adoptions_.equal_range(address(memory));
  const auto found = std::find_if(first, last, [bytes](const auto& adoption) { return adoption.second == bytes; });
  if (found == last) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("host memory ", memory, " with ", bytes, " bytes is not adopted"),
         "disown exactly what was adopted");
  }
  adoptions_.erase(found);
  const auto extent = first_extent(address(memory));
  if (--extent->second.adoptions == 0) unregister_extent(extent);
}

bool PinnedArena::is_pageable(void* memory) const {
  std::lock_guard lock(mutex_);
  const auto found = slabs_.find(memory);
  return found != slabs_.end() && found->second.pin == Pin::refused;
}

PinnedArena::Region PinnedArena::region_of(const void* memory) const {
  std::lock_guard lock(mutex_);
  auto slab = slabs_.upper_bound(const_cast<void*>(memory));
  if (slab != slabs_.begin() && address(memory) - address((--slab)->first) < slab->second.slab.bytes()) {
    return slab->second.pin == Pin::refused ? Region{} : Region{slab->first, tensor_alignment_};
  }
  const auto extent = extents_.upper_bound(address(memory));
  if (extent == extents_.begin()) return {};
  const auto& [begin, held] = *std::prev(extent);
  if (held.pin == Pin::refused || address(memory) - begin >= held.bytes) return {};
  return {reinterpret_cast<const void*>(begin), 0};
}

PinnedArena::Held PinnedArena::held() const { return {pinned_bytes_, adopted_bytes_, pageable_bytes_}; }

std::uint64_t PinnedArena::pinned_bytes() const { return pinned_bytes_; }

std::uint64_t PinnedArena::adopted_bytes() const { return adopted_bytes_; }

std::uint64_t PinnedArena::pageable_bytes() const { return pageable_bytes_; }

}  // namespace hoist
