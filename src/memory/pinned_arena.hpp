// SPDX-License-Identifier: Apache-2.0
// Pinned host memory of a device: slabs of exactly the size asked for, on the device's NUMA node, and callers'
// memory registered where it is. One cap over both. Where the device cannot pin (HOIST_ERROR_UNSUPPORTED) memory stays
// pageable: copies are right but slow, so that is counted and said in the log. Safe for several threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "device/device.hpp"
#include "memory/slab.hpp"

namespace hoist {

class PinnedArena {
 public:
  // limit_bytes 0: no limit.
  PinnedArena(std::shared_ptr<Device> device, std::uint64_t limit_bytes);
  // Unregisters and frees all; nothing on the device uses it any more.
  ~PinnedArena();
  PinnedArena(const PinnedArena&) = delete;
  PinnedArena& operator=(const PinnedArena&) = delete;

  // Zeroed, page-aligned; NULL for 0 bytes. Throws Error(OUT_OF_MEMORY) with what was asked for, what is
  // held and the limit; then nothing has changed.
  // `fill`, where given, writes the memory before it is pinned: its first touches are the pages' own.
  void* allocate(std::uint64_t bytes, const std::function<void(void*)>& fill = {});
  // Memory that allocate gave out; NULL is a no-op.
  void release(void* memory);

  // Registers [memory, memory + bytes) where it is: exactly these bytes in one piece, since a copy must not cross
  // from one registration into another (cuda: invalid argument). Neighbours may share a page. Ranges that
  // overlap are registered as one; then no work may be under way on those that were there.
  void adopt(void* memory, std::uint64_t bytes);
  // Undoes one adopt of exactly that range.
  void disown(void* memory, std::uint64_t bytes);

  struct Held {
    std::uint64_t pinned, adopted, pageable;
  };
  [[nodiscard]] Held held() const;
  [[nodiscard]] std::uint64_t pinned_bytes() const;   // of slabs, whole pages
  [[nodiscard]] std::uint64_t adopted_bytes() const;  // of callers, each byte once
  // Whether the device refused to pin what allocate gave out.
  [[nodiscard]] bool is_pageable(void* memory) const;
  // What is pinned in one piece with `memory`: a copy may go over it. NULL: not pinned, or not held here.
  struct Region {
    const void* begin = nullptr;
    std::uint64_t padding = 0;  // what allocate gave out: tensors begin at multiples of it, bytes between are nobody's
  };
  [[nodiscard]] Region region_of(const void* memory) const;
  // Where tensors begin in a slab: at cache lines, so that vector code of the host may use them, and where the device
  // would have them, so that neighbours may be so on both sides.
  [[nodiscard]] std::uint64_t tensor_alignment() const noexcept { return tensor_alignment_; }
  // Of both, what the device refused to pin.
  [[nodiscard]] std::uint64_t pageable_bytes() const;

 private:
  enum class Pin : std::uint8_t { ours, others, refused };
  struct PinnedSlab {
    Slab slab;
    Pin pin = Pin::ours;
  };
  struct Extent {  // bytes that are registered in one piece
    std::uint64_t bytes = 0;
    std::uint64_t adoptions = 0;
    Pin pin = Pin::ours;
  };
  using Extents = std::map<std::uintptr_t, Extent>;

  // Logs what was refused, once the lock is released: a log callback may call whom it likes.
  struct Teller {
    PinnedArena& arena;
    ~Teller() { arena.tell(); }
  };
  void tell() noexcept;
  Pin pin(void* memory, std::uint64_t bytes);
  void unpin(void* memory, std::uint64_t bytes, Pin pin) noexcept;
  void check_limit(std::uint64_t more) const;
  Extents::iterator first_extent(std::uintptr_t begin);
  void register_extent(std::uintptr_t begin, Extent extent);
  void unregister_extent(Extents::iterator extent);
  void merge(Extents::iterator first, Extents::iterator last, std::uintptr_t begin, std::uintptr_t end);

  std::shared_ptr<Device> device_;
  const std::uint64_t limit_bytes_;
  const std::uint64_t tensor_alignment_;
  const NumaPlace place_;
  mutable std::mutex mutex_;
  std::map<void*, PinnedSlab> slabs_;
  std::multimap<std::uintptr_t, std::uint64_t> adoptions_;  // begin, bytes: as asked for
  Extents extents_;                                         // disjoint
  // Written under the lock, read without: whoever asks how they stand takes none.
  std::atomic<std::uint64_t> pinned_bytes_{0};
  std::atomic<std::uint64_t> adopted_bytes_{0};
  std::atomic<std::uint64_t> pageable_bytes_{0};
  std::string refusal_;  // not yet said
};

}  // namespace hoist
