// SPDX-License-Identifier: Apache-2.0
#include "memory/pinned_arena.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"

namespace hoist {
namespace {

std::uintptr_t address(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

}  // namespace

PinnedArena::PinnedArena(std::shared_ptr<Device> device, std::uint64_t limit_bytes)
    : device_(std::move(device)), limit_bytes_(limit_bytes) {}

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
    log(HOIST_LOG_WARNING, error.what(), "; ", pageable_bytes_,
        " bytes of host memory are pageable in all: ", error.hint());
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

void* PinnedArena::allocate(std::uint64_t bytes) {
  if (bytes == 0) return nullptr;
  if (bytes > (std::uint64_t{1} << 62)) fail(HOIST_ERROR_OUT_OF_MEMORY, text("asked for ", bytes, " bytes"));
  const Teller teller{*this};
  std::lock_guard lock(mutex_);
  check_limit(pages_up(bytes));
  Slab slab(bytes);
  void* memory = slab.base();
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

void PinnedArena::add_extent(std::uintptr_t begin, std::uintptr_t end) {
  const std::uint64_t bytes = end - begin;
  check_limit(bytes);
  const auto added = extents_.emplace(begin, Extent{bytes, 1}).first;
  try {
    added->second.pin = pin(reinterpret_cast<void*>(begin), bytes);
  } catch (...) {
    extents_.erase(added);
    throw;
  }
  adopted_bytes_ += bytes;
}

// Whole pages: what is registered already is shared, gaps between are registered. All or nothing.
void PinnedArena::adopt_piece(std::uintptr_t begin, std::uintptr_t end) {
  std::uintptr_t done = begin;
  try {
    for (auto next = first_extent(begin); done < end;) {
      if (next != extents_.end() && next->first <= done) {
        ++next->second.adoptions;
        done = std::min(end, next->first + next->second.bytes);
        ++next;
      } else {
        const std::uintptr_t gap_end = next == extents_.end() ? end : std::min(end, next->first);
        add_extent(done, gap_end);
        done = gap_end;
      }
    }
  } catch (...) {
    drop_pieces(begin, done);
    throw;
  }
}

void PinnedArena::drop_pieces(std::uintptr_t begin, std::uintptr_t end) {
  if (begin == end) return;  // else an extent around it would lose a user that it never had
  for (auto next = first_extent(begin); next != extents_.end() && next->first < end;) {
    if (--next->second.adoptions != 0) {
      ++next;
      continue;
    }
    unpin(reinterpret_cast<void*>(next->first), next->second.bytes, next->second.pin);
    adopted_bytes_ -= next->second.bytes;
    next = extents_.erase(next);
  }
}

// A range's first and last page may be a neighbour's too: they are registered apart, so that each goes with its
// last user and never pins a page of memory that its owner has freed.
std::array<std::uintptr_t, 4> PinnedArena::cuts(const void* memory, std::uint64_t bytes) {
  const std::uintptr_t first = address(memory) / page_bytes * page_bytes;
  const std::uintptr_t last = pages_up(address(memory) + bytes);
  const std::uintptr_t inner_first = std::min(pages_up(address(memory)), last);
  const std::uintptr_t inner_last = std::max((address(memory) + bytes) / page_bytes * page_bytes, inner_first);
  return {first, inner_first, inner_last, last};
}

void PinnedArena::adopt(void* memory, std::uint64_t bytes) {
  if (bytes == 0) return;
  if (memory == nullptr || address(memory) + bytes < address(memory)) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("host memory ", memory, " with ", bytes, " bytes cannot be adopted"),
         "give memory of the caller's");
  }
  const Teller teller{*this};
  std::lock_guard lock(mutex_);
  const auto at = cuts(memory, bytes);
  const auto added = adoptions_.emplace(address(memory), bytes);
  std::size_t done = 0;
  try {
    for (; done < 3; ++done) adopt_piece(at[done], at[done + 1]);
  } catch (...) {
    while (done-- > 0) drop_pieces(at[done], at[done + 1]);
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
  const auto at = cuts(memory, bytes);
  for (std::size_t i = 0; i < 3; ++i) drop_pieces(at[i], at[i + 1]);
}

std::uint64_t PinnedArena::pinned_bytes() const {
  std::lock_guard lock(mutex_);
  return pinned_bytes_;
}

std::uint64_t PinnedArena::adopted_bytes() const {
  std::lock_guard lock(mutex_);
  return adopted_bytes_;
}

std::uint64_t PinnedArena::pageable_bytes() const {
  std::lock_guard lock(mutex_);
  return pageable_bytes_;
}

}  // namespace hoist
