// SPDX-License-Identifier: Apache-2.0
#include "memory/slot_arena.hpp"

#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"

namespace hoist {

SlotAddresses::SlotAddresses(std::shared_ptr<Device> device, std::vector<Part> parts)
    : device_(std::move(device)), parts_(std::move(parts)) {
  for (const Part& part : parts_) {
    offsets_.push_back(bytes_);
    bytes_ += part.span;
  }
  if (bytes_ != 0) base_ = device_->address_reserve(bytes_);
}

SlotAddresses::~SlotAddresses() {
  if (base_ != nullptr) device_->address_release(base_, bytes_);
}

SlotArena::SlotArena(std::shared_ptr<Device> device, std::shared_ptr<SlotAddresses> addresses,
                     const SlotMapping& mapping)
    : DeviceArena(std::move(device)), addresses_(std::move(addresses)), behind_(addresses_->size()) {
  Pool pool;
  try {
    build(mapping, pool);
  } catch (...) {
    take_apart(SlotMapping{{}, std::vector<std::uint32_t>(behind_.size(), 0)}, pool);
    give_back(pool);
    throw;
  }
  mapping_ = mapping;
  whole_ = true;
}

SlotArena::~SlotArena() {
  Pool pool;
  for (const Memory& block : blocks_) pool.emplace(block.bytes, block.handle);
  for (std::size_t part = 0; part < behind_.size(); ++part) {
    const Memory& it = behind_[part];
    if (it.own && it.handle != nullptr) pool.emplace(it.bytes, it.handle);
    if (it.mapped && !unmapped(part)) std::erase_if(pool, [&](const auto& kept) { return kept.second == it.handle; });
  }
  give_back(pool);
}

// A device that refuses once is asked again: memory that stays mapped is lost until the device is closed.
bool SlotArena::unmapped(std::size_t part) noexcept {
  for (const bool again : {false, true}) {
    try {
      unmap(part);
      return true;
    } catch (const std::exception& error) {
      log(again ? HOIST_LOG_ERROR : HOIST_LOG_WARNING, behind_[part].bytes,
          again ? " bytes stay mapped: " : " bytes are unmapped once more: ", error.what());
    }
  }
  return false;
}

void SlotArena::unmap(std::size_t part) {
  device_->memory_unmap(addresses_->of(part), behind_[part].bytes);
  behind_[part].mapped = false;
}

// All but what stays; a block is in one place only, be it behind many addresses.
void SlotArena::take_apart(const SlotMapping& next, Pool& pool) {
  for (std::size_t part = 0; part < behind_.size(); ++part) {
    if (!behind_[part].mapped || stays(next, part)) continue;
    unmap(part);
  }
  for (std::size_t part = 0; part < behind_.size(); ++part) {
    Memory& it = behind_[part];
    if (it.handle == nullptr || it.mapped) continue;
    if (it.own) pool.emplace(it.bytes, it.handle);
    it = Memory{};
  }
  for (const Memory& block : blocks_) pool.emplace(block.bytes, block.handle);
  blocks_.clear();
}

// What the next mapping has no use for goes before more is taken.
void SlotArena::drop_unwanted(const SlotMapping& next, Pool& pool) {
  std::map<std::uint64_t, std::size_t> wanted;
  for (std::uint64_t bytes : next.blocks) ++wanted[bytes];
  for (std::size_t part = 0; part < behind_.size(); ++part) {
    if (next.block_of_part[part] == SlotMapping::own && !behind_[part].mapped) ++wanted[addresses_->part(part).own];
  }
  for (auto it = pool.begin(); it != pool.end();) {
    auto found = wanted.find(it->first);
    if (found != wanted.end() && found->second != 0) {
      --found->second;
      ++it;
      continue;
    }
    bytes_ -= it->first;
    device_->handle_destroy(it->second);
    it = pool.erase(it);
  }
}

void* SlotArena::take(std::uint64_t bytes, Pool& pool) {
  const auto found = pool.find(bytes);
  if (found == pool.end()) {
    void* handle = device_->handle_create(bytes);
    bytes_ += bytes;
    return handle;
  }
  void* handle = found->second;
  pool.erase(found);
  return handle;
}

void SlotArena::build(const SlotMapping& next, Pool& pool) {
  blocks_.reserve(next.blocks.size());
  for (std::uint64_t bytes : next.blocks) blocks_.push_back({take(bytes, pool), bytes, false, false});
  for (std::size_t part = 0; part < behind_.size(); ++part) {
    Memory& it = behind_[part];
    if (it.mapped) continue;
    const std::uint32_t block = next.block_of_part[part];
    if (block != SlotMapping::own) {
      it = blocks_[block];
    } else if (addresses_->part(part).own != 0) {
      it = {take(addresses_->part(part).own, pool), addresses_->part(part).own, true, false};
    } else {
      continue;
    }
    device_->memory_map(addresses_->of(part), it.bytes, it.handle);
    it.mapped = true;
  }
}

void SlotArena::give_back(Pool& pool) noexcept {
  for (const auto& [bytes, handle] : pool) {
    device_->handle_destroy(handle);
    bytes_ -= bytes;
  }
  pool.clear();
}

void SlotArena::remap(const SlotMapping& next) {
  Pool pool;
  try {
    take_apart(next, pool);
    drop_unwanted(next, pool);
    build(next, pool);
  } catch (...) {
    whole_ = false;
    try {
      take_apart(next, pool);
      drop_unwanted(mapping_, pool);
      build(mapping_, pool);
      whole_ = true;
    } catch (const std::exception& error) {
      log(HOIST_LOG_ERROR, "memory that a plan gave up could not be taken again: ", error.what());
    }
    give_back(pool);
    throw;
  }
  give_back(pool);
  mapping_ = next;
}

}  // namespace hoist
