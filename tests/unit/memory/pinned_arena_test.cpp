// SPDX-License-Identifier: Apache-2.0
#include "memory/pinned_arena.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "memory/device_arena.hpp"
#include "unit/host/bench.hpp"

namespace hoist {
namespace {

constexpr std::uint64_t page = page_bytes;

struct Pinned : testing::Test {
  Bench bench{"mode=inline&memory=1MiB"};
  PinnedArena arena{bench.shared(), 16 * page};
  char* user = static_cast<char*>(std::aligned_alloc(page, 16 * page));
  ~Pinned() override { std::free(user); }

  // A byte that is registered refuses to be registered again.
  bool registered(void* memory) {
    if (status_of([&] { bench->host_register(memory, 1); }) == HOIST_ERROR_ALREADY_EXISTS) return true;
    bench->host_unregister(memory, 1);
    return false;
  }
};

TEST_F(Pinned, SlabsAreExactZeroedAndRegistered) {
  auto* memory = static_cast<char*>(arena.allocate(2 * page + 1));
  EXPECT_EQ(3 * page, arena.pinned_bytes());  // rounded to the page only
  EXPECT_EQ(0u, reinterpret_cast<std::uintptr_t>(memory) % page);
  for (std::uint64_t i = 0; i < 3 * page; ++i) ASSERT_EQ(0, memory[i]);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_TRUE(registered(memory + i * page));
  arena.release(memory);
  EXPECT_EQ(0u, arena.pinned_bytes());
  EXPECT_EQ(nullptr, arena.allocate(0));
  arena.release(nullptr);
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] { arena.release(user); }));
}

TEST_F(Pinned, TheLimitNamesAskedHeldAndLimit) {
  void* memory = arena.allocate(10 * page);
  std::string message;
  EXPECT_EQ(HOIST_ERROR_OUT_OF_MEMORY, status_of([&] { arena.allocate(6 * page + 1); }, &message));
  for (std::uint64_t number : {7 * page, 10 * page, 16 * page, 17 * page}) {
    EXPECT_NE(std::string::npos, message.find(std::to_string(number))) << message;
  }
  EXPECT_EQ(HOIST_ERROR_OUT_OF_MEMORY, status_of([&] { arena.allocate(~std::uint64_t{0}); }));
  EXPECT_EQ(HOIST_ERROR_OUT_OF_MEMORY, status_of([&] { arena.adopt(user, 7 * page); }));
  EXPECT_EQ(10 * page, arena.pinned_bytes());
  EXPECT_EQ(0u, arena.adopted_bytes());
  void* rest = arena.allocate(6 * page);  // to the last byte
  arena.release(memory);
  arena.release(rest);
}

TEST_F(Pinned, ARefusalLeavesNothingBehind) {
  bench->set("fail", "host_register@1");
  EXPECT_EQ(HOIST_ERROR_OUT_OF_MEMORY, status_of([&] { arena.allocate(4 * page); }));
  EXPECT_EQ(0u, arena.pinned_bytes());
  bench->set("fail", "host_register@1");
  EXPECT_EQ(HOIST_ERROR_OUT_OF_MEMORY, status_of([&] { arena.adopt(user + 100, 4 * page); }));
  EXPECT_EQ(0u, arena.adopted_bytes());
  EXPECT_FALSE(registered(user + 100));
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] { arena.disown(user + 100, 4 * page); }));
  arena.adopt(user + 100, 4 * page);
  EXPECT_EQ(4 * page, arena.adopted_bytes());
  arena.disown(user + 100, 4 * page);
}

TEST_F(Pinned, ARefusedMergeLeavesAllAsItWas) {
  arena.adopt(user, 100);
  arena.adopt(user + 200, 100);
  bench->set("fail", "host_register@1");
  EXPECT_EQ(HOIST_ERROR_OUT_OF_MEMORY, status_of([&] { arena.adopt(user + 50, 200); }));
  EXPECT_EQ(200u, arena.adopted_bytes());
  EXPECT_TRUE(registered(user) && !registered(user + 100) && registered(user + 200));
  arena.disown(user, 100);
  arena.disown(user + 200, 100);
  EXPECT_EQ(0u, arena.adopted_bytes());
}

TEST_F(Pinned, NeighboursShareTheirPages) {
  arena.adopt(user, page + 100);
  arena.adopt(user + page + 100, 50);
  arena.adopt(user + page + 150, 2 * page);
  EXPECT_EQ(3 * page + 150, arena.adopted_bytes());
  arena.disown(user, page + 100);
  EXPECT_FALSE(registered(user + page + 99));  // goes with its last user
  EXPECT_TRUE(registered(user + page + 100));
  arena.disown(user + page + 150, 2 * page);
  EXPECT_TRUE(registered(user + page + 149));
  EXPECT_FALSE(registered(user + page + 150));
  arena.disown(user + page + 100, 50);
  EXPECT_EQ(0u, arena.adopted_bytes());
}

// A copy of any adopted range stays within one registration, or the device would refuse it.
TEST_F(Pinned, OverlappingAdoptionsAreOneRegistrationAndCountOnce) {
  void* stream = bench.stream();
  void* device = bench.memory(8 * page);
  const auto copies = [&](char* memory, std::uint64_t bytes) {
    return status_of([&] { bench->copy(stream, HOIST_COPY_H2D, device, memory, bytes); }) == HOIST_OK;
  };
  arena.adopt(user + 2 * page, 3 * page);
  arena.adopt(user + 6 * page, page);
  EXPECT_FALSE(copies(user + 4 * page, 2 * page));
  arena.adopt(user + 4 * page, 3 * page);  // over both
  arena.adopt(user, 8 * page);             // around them
  arena.adopt(user + 3 * page, page);      // within
  EXPECT_EQ(8 * page, arena.adopted_bytes());
  EXPECT_TRUE(copies(user, 8 * page) && copies(user + 4 * page, 3 * page));
  for (const auto& [at, pages] : {std::pair(0, 8), {2, 3}, {6, 1}, {4, 3}})
    arena.disown(user + at * page, pages * page);
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] { arena.disown(user, 8 * page); }));
  EXPECT_TRUE(copies(user + 3 * page, page));
  arena.disown(user + 3 * page, page);
  EXPECT_EQ(0u, arena.adopted_bytes());
  bench->stream_wait(stream);
}

// Against a list: whatever comes and goes, every adopted range can be copied and nothing stays behind.
// What a copy may go over: one registration, never two, whatever lies side by side.
TEST_F(Pinned, RegionsAreRegistrations) {
  auto* slab = static_cast<char*>(arena.allocate(2 * page));
  EXPECT_EQ(slab, arena.region_of(slab).begin);
  EXPECT_EQ(slab, arena.region_of(slab + 2 * page - 1).begin);
  EXPECT_NE(slab, arena.region_of(slab + 2 * page).begin);
  EXPECT_EQ(arena.tensor_alignment(), arena.region_of(slab).padding);
  EXPECT_EQ(nullptr, arena.region_of(user).begin);
  arena.adopt(user, page);
  arena.adopt(user + page, page);
  EXPECT_EQ(user, arena.region_of(user + page - 1).begin);
  EXPECT_EQ(user + page, arena.region_of(user + page).begin);
  EXPECT_EQ(nullptr, arena.region_of(user + 2 * page).begin);
  EXPECT_EQ(0U, arena.region_of(user).padding) << "what is between a caller's tensors is the caller's";
  arena.adopt(user + page - 1, 2);
  EXPECT_EQ(user, arena.region_of(user + page).begin);
  arena.release(slab);
  EXPECT_EQ(nullptr, arena.region_of(slab).begin);
  arena.disown(user + page - 1, 2);
  arena.disown(user + page, page);
  arena.disown(user, page);
  EXPECT_EQ(nullptr, arena.region_of(user).begin);
}

TEST_F(Pinned, RandomAdoptionsAlwaysCopyWhole) {
  void* stream = bench.stream();
  void* device = bench.memory(16 * page);
  std::vector<std::pair<char*, std::uint64_t>> held;
  unsigned random = 1;
  const auto next = [&random](unsigned below) { return (random = random * 1664525u + 1013904223u) / 256 % below; };
  for (int round = 0; round < 600; ++round) {
    if (held.size() < 2 || (held.size() < 8 && next(2) == 0)) {
      const unsigned begin = next(16 * page - 1);
      held.emplace_back(user + begin, 1 + next(std::min<unsigned>(16 * page - begin, 3 * page)));
      arena.adopt(held.back().first, held.back().second);
    } else {
      std::swap(held[next(static_cast<unsigned>(held.size()))], held.back());
      arena.disown(held.back().first, held.back().second);
      held.pop_back();
    }
    std::uint64_t bytes = 0;
    for (const auto& [memory, count] : held) {
      ASSERT_EQ(HOIST_OK, status_of([&] { bench->copy(stream, HOIST_COPY_H2D, device, memory, count); })) << round;
      ASSERT_TRUE(registered(memory) && registered(memory + count - 1)) << round;
      bytes = std::max(bytes, count);
    }
    ASSERT_GE(arena.adopted_bytes(), bytes);
  }
  for (const auto& [memory, bytes] : held) arena.disown(memory, bytes);
  EXPECT_EQ(0u, arena.adopted_bytes());
  EXPECT_EQ(HOIST_OK, status_of([&] { bench->host_register(user, 16 * page); }));
  bench->host_unregister(user, 16 * page);
}

TEST_F(Pinned, DestroyingTheArenaUnregistersAll) {
  {
    PinnedArena other(bench.shared(), 0);
    other.allocate(100);
    other.adopt(user, 100);
    other.adopt(user + 50, 100);
    EXPECT_TRUE(registered(user));
  }
  EXPECT_FALSE(registered(user));
}

// What stayed registered after its owner has freed it would refuse copies of whatever lies there next.
TEST_F(Pinned, AnUnregistrationThatIsRefusedOnceIsAskedForAgain) {
  arena.adopt(user, 3 * page);
  bench->set("fail", "host_unregister@1");
  arena.disown(user, 3 * page);
  bench->set("fail", "");
  EXPECT_FALSE(registered(user));
  EXPECT_FALSE(registered(user + 3 * page - 1));
}

TEST_F(Pinned, LargeSlabsAreTouchedBySeveralThreads) {
  EXPECT_EQ(1u, touch_threads(1));
  EXPECT_GE(touch_threads(std::uint64_t{1} << 30), std::min(std::thread::hardware_concurrency(), 16u));
  PinnedArena other(bench.shared(), 0);
  const std::uint64_t bytes = (std::uint64_t{67} << 20) + 12345;
  auto* memory = static_cast<char*>(other.allocate(bytes));
  for (std::uint64_t i = 0; i < bytes; i += 1000) ASSERT_EQ(0, memory[i]);
  memory[bytes - 1] = 1;
}

TEST_F(Pinned, ThreadsShareTheArena) {
  PinnedArena other(bench.shared(), 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        void* memory = other.allocate(static_cast<std::uint64_t>(1 + i * 100));
        other.adopt(user + t * 2 * page + 10, page);  // tails meet the neighbours' heads
        std::memset(memory, t, static_cast<std::size_t>(1 + i * 100));
        other.disown(user + t * 2 * page + 10, page);
        other.release(memory);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(0u, other.pinned_bytes() + other.adopted_bytes());
}

// A child may touch and drop what its parent pinned: nothing is undone under the parent, nothing waits.
TEST(Fork, AChildTouchesAndFreesWhatItsParentPinned) {
  Bench bench("mode=threaded");
  auto arena = std::make_unique<PinnedArena>(bench.shared(), 0);
  auto device = std::make_unique<DeviceArena>(bench.shared(), 4096);
  auto* memory = static_cast<char*>(arena->allocate(64 << 10));
  void* stream = bench.stream();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::memset(memory, 7, 64 << 10);
    arena->release(memory);
    arena.reset();
    device.reset();
    bench->stream_destroy(stream);
    _exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(0, memory[0]);
  bench->copy(stream, HOIST_COPY_H2D, device->base(), memory, 4096);
  bench->stream_wait(stream);
  EXPECT_EQ(HOIST_ERROR_ALREADY_EXISTS, status_of([&] { bench->host_register(memory, 1); }));
}

TEST_F(Pinned, DeviceArenasGiveTheirMemoryBack) {
  std::uint64_t free = 0, total = 0;
  {
    DeviceArena device(bench.shared(), 1000);
    EXPECT_NE(nullptr, device.base());
    EXPECT_EQ(1000u, device.bytes());
    EXPECT_EQ(HOIST_ERROR_OUT_OF_MEMORY, status_of([&] { DeviceArena more(bench.shared(), 1 << 20); }));
    const DeviceArena none(bench.shared(), 0);
    EXPECT_EQ(nullptr, none.base());
  }
  bench->query_memory(free, total);
  EXPECT_EQ(total, free);
}

}  // namespace
}  // namespace hoist
