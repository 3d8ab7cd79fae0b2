// SPDX-License-Identifier: Apache-2.0
// Addresses that stay, and the memory behind them: a few blocks that parts take turns in, and memory of a part's own.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "memory/device_arena.hpp"

namespace hoist {

// Reserved once, for every part a span in which a block of its ring or its own memory is mapped.
class SlotAddresses {
 public:
  struct Part {
    std::uint64_t span = 0;  // bytes of addresses
    std::uint64_t own = 0;   // bytes of memory of its own
  };
  SlotAddresses(std::shared_ptr<Device> device, std::vector<Part> parts);
  ~SlotAddresses();
  SlotAddresses(const SlotAddresses&) = delete;
  SlotAddresses& operator=(const SlotAddresses&) = delete;

  [[nodiscard]] std::size_t size() const noexcept { return parts_.size(); }
  [[nodiscard]] const Part& part(std::size_t index) const { return parts_[index]; }
  [[nodiscard]] void* of(std::size_t index) const noexcept { return static_cast<char*>(base_) + offsets_[index]; }

 private:
  std::shared_ptr<Device> device_;
  std::vector<Part> parts_;
  std::vector<std::uint64_t> offsets_;
  std::uint64_t bytes_ = 0;
  void* base_ = nullptr;
};

struct SlotMapping {
  static constexpr std::uint32_t own = UINT32_MAX;
  std::vector<std::uint64_t> blocks;         // bytes of each
  std::vector<std::uint32_t> block_of_part;  // or its own memory
};

class SlotArena final : public DeviceArena {
 public:
  // Throws Error(OUT_OF_MEMORY).
  SlotArena(std::shared_ptr<Device> device, std::shared_ptr<SlotAddresses> addresses, const SlotMapping& mapping);
  ~SlotArena() override;
  SlotArena(const SlotArena&) = delete;
  SlotArena& operator=(const SlotArena&) = delete;

  // Nothing on the device uses any of it. Parts with memory of their own before and after keep it and their bytes. On
  // failure the memory is as before, but for the bytes of all others; where even that fails it is not whole any more.
  void remap(const SlotMapping& next);
  [[nodiscard]] std::uint64_t bytes() const noexcept override { return bytes_; }
  [[nodiscard]] bool is_whole() const noexcept override { return whole_; }

 private:
  struct Memory {
    void* handle = nullptr;
    std::uint64_t bytes = 0;
    bool own = false;
    bool mapped = false;
  };
  using Pool = std::multimap<std::uint64_t, void*>;

  void take_apart(const SlotMapping& next, Pool& pool);
  void drop_unwanted(const SlotMapping& next, Pool& pool);
  void build(const SlotMapping& next, Pool& pool);
  void* take(std::uint64_t bytes, Pool& pool);
  void give_back(Pool& pool) noexcept;
  void unmap(std::size_t part);
  [[nodiscard]] bool unmapped(std::size_t part) noexcept;
  [[nodiscard]] bool stays(const SlotMapping& next, std::size_t part) const {
    return behind_[part].mapped && behind_[part].own && next.block_of_part[part] == SlotMapping::own;
  }

  std::shared_ptr<SlotAddresses> addresses_;
  std::vector<Memory> behind_;  // by part
  std::vector<Memory> blocks_;
  SlotMapping mapping_;
  std::uint64_t bytes_ = 0;
  bool whole_ = false;
};

}  // namespace hoist
