// SPDX-License-Identifier: Apache-2.0
#include "memory/slot_arena.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "unit/host/bench.hpp"

namespace hoist {
namespace {

constexpr std::uint64_t block = std::uint64_t{2} << 20;
constexpr std::uint64_t memory = 4 * block;

// Two parts behind one block, a third with memory of its own.
struct Slots : testing::Test {
  Bench bench{"mode=inline&memory=8MiB"};
  std::shared_ptr<SlotAddresses> addresses = std::make_shared<SlotAddresses>(
      bench.shared(), std::vector<SlotAddresses::Part>{{block, 0}, {block, 0}, {block, block}});

  std::unique_ptr<SlotArena> arena() {
    return std::make_unique<SlotArena>(bench.shared(), addresses, SlotMapping{{block}, {0, 0, SlotMapping::own}});
  }
  bool fits(std::uint64_t bytes) {
    void* taken = nullptr;
    if (status_of([&] { taken = bench->handle_create(bytes); }) != HOIST_OK) return false;
    bench->handle_destroy(taken);
    return true;
  }
};

TEST_F(Slots, AllMemoryIsGivenBackWhereAnUnmappingIsRefusedOnce) {
  for (const char* refused : {"", "memory_unmap@1", "memory_unmap@2", "memory_unmap@3"}) {
    SCOPED_TRACE(refused);
    std::unique_ptr<SlotArena> slots = arena();
    EXPECT_EQ(2 * block, slots->bytes());
    EXPECT_FALSE(fits(memory));
    bench->set("fail", refused);
    slots.reset();
    bench->set("fail", "");
    EXPECT_TRUE(fits(memory));
  }
}

// What stays mapped is lost until the device is closed, and nothing else.
TEST_F(Slots, WhatIsNotUnmappedKeepsItsOwnMemoryAlone) {
  std::unique_ptr<SlotArena> slots = arena();
  bench->set("fail", "memory_unmap@3+");
  slots.reset();
  bench->set("fail", "");
  EXPECT_FALSE(fits(memory));
  EXPECT_TRUE(fits(memory - block));
}

}  // namespace
}  // namespace hoist
