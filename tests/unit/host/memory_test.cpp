// SPDX-License-Identifier: Apache-2.0
// Device memory: limits, alignment, ranges, registration; pages that are closed in guarded mode.
#include <cstring>

#include "unit/host/bench.hpp"

namespace hoist {
namespace {

using Memory = EachMode;
HOIST_EACH_MODE(Memory);

std::uint64_t free_bytes(Bench& bench) {
  std::uint64_t free = 0;
  std::uint64_t total = 0;
  bench->query_memory(free, total);
  return free;
}

TEST_P(Memory, IsCountedLimitedAndGivenBack) {
  Bench bench(options("memory=1MiB"));
  EXPECT_EQ(1u << 20, free_bytes(bench));
  void* half = bench->memory_create(512 << 10);
  EXPECT_EQ(512u << 10, free_bytes(bench));
  std::string message;
  EXPECT_EQ(HOIST_ERROR_OUT_OF_MEMORY, status_of([&] { bench->memory_create((512 << 10) + 1); }, &message));
  EXPECT_NE(std::string::npos, message.find("524289")) << message;
  EXPECT_NE(std::string::npos, message.find("524288")) << message;
  EXPECT_EQ(HOIST_ERROR_OUT_OF_MEMORY, status_of([&] { bench->memory_create(~std::uint64_t{0}); }));
  void* rest = bench->memory_create(512 << 10);
  EXPECT_EQ(0u, free_bytes(bench));
  bench->memory_destroy(half);
  bench->memory_destroy(rest);
  EXPECT_EQ(1u << 20, free_bytes(bench));
  bench->memory_destroy(nullptr);
}

TEST_P(Memory, CanBeTakenBySomebodyElse) {
  Bench bench(options("memory=1MiB"));
  bench->set("memory_taken", "768KiB");
  EXPECT_EQ(256u << 10, free_bytes(bench));
  EXPECT_EQ(HOIST_ERROR_OUT_OF_MEMORY, status_of([&] { bench->memory_create(300 << 10); }));
  bench->set("memory_taken", "0");
  bench.memory(300 << 10);
  bench->set("memory_taken", "9MiB");  // more than there is
  EXPECT_EQ(0u, free_bytes(bench));
}

TEST_P(Memory, IsAlignedAndChargedByAlignment) {
  Bench bench(options("alignment=8192&memory=1MiB"));
  EXPECT_EQ(8192u, bench->properties().alignment);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(0u, reinterpret_cast<std::uintptr_t>(bench.memory(100)) % 8192);
  EXPECT_EQ((1u << 20) - 5 * 8192, free_bytes(bench));
}

TEST_P(Memory, ZeroBytesGiveAPointerThatCostsNothing) {
  Bench bench(options("memory=64KiB"));
  void* one = bench.memory(0);
  void* two = bench.memory(0);
  EXPECT_NE(nullptr, one);
  EXPECT_NE(one, two);
  EXPECT_EQ(64u << 10, free_bytes(bench));
}

TEST_P(Memory, ManyAllocationsComeAndGo) {
  Bench bench(options("memory=4MiB"));
  std::vector<void*> held;
  for (int i = 0; i < 400; ++i) {
    held.push_back(bench->memory_create(1 + static_cast<std::uint64_t>(i * 7919 % 9000)));
    if (i % 3 == 2) {
      std::swap(held[static_cast<std::size_t>(i) * 5 % held.size()], held.back());
      bench->memory_destroy(held.back());
      held.pop_back();
    }
  }
  for (void* memory : held) bench->memory_destroy(memory);
  EXPECT_EQ(4u << 20, free_bytes(bench));
}

TEST_P(Memory, CopiesOutsideOfTheDeviceAreRefused) {
  Bench bench(options());
  char host[64] = {};
  void* stream = bench.stream();
  void* device = bench.memory(4096);
  std::string message;
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT,
            status_of([&] { bench->copy(stream, HOIST_COPY_H2D, host, host + 32, 32); }, &message));
  EXPECT_NE(std::string::npos, message.find("destination")) << message;
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] { bench->copy(stream, HOIST_COPY_D2H, host, host + 32, 32); }));
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] { bench->copy(stream, HOIST_COPY_H2D, device, nullptr, 1); }));
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] { bench->fill(stream, host, 1, 1); }));
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] { bench->fill(stream, device, 1, std::uint64_t{1} << 60); }));
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT,
            status_of([&] { bench->copy(stream, static_cast<hoist_copy_kind_t>(9), device, host, 1); }));
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] { bench->host_function(stream, nullptr, nullptr, 0); }));
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] {
              bench->host_function(
                  stream, [](void*) {}, nullptr, -1);
            }));
  EXPECT_EQ(HOIST_OK, status_of([&] { bench->stream_wait(stream); }));  // refused calls leave no trace
}

TEST_P(Memory, RegistrationIsExact) {
  Bench bench(options());
  alignas(4096) static char host[4 * 4096];
  bench->host_register(host, 100);
  EXPECT_EQ(HOIST_ERROR_ALREADY_EXISTS, status_of([&] { bench->host_register(host + 99, 10); }));
  EXPECT_EQ(HOIST_OK, status_of([&] { bench->host_register(host + 100, 4097); }));  // may share a page
  EXPECT_EQ(HOIST_ERROR_ALREADY_EXISTS, status_of([&] { bench->host_register(host + 4196, 2); }));
  EXPECT_EQ(HOIST_ERROR_ALREADY_EXISTS, status_of([&] { bench->host_register(host, sizeof host); }));
  bench->host_unregister(host, 99);  // not the range: logged, and still registered
  EXPECT_EQ(HOIST_ERROR_ALREADY_EXISTS, status_of([&] { bench->host_register(host, 1); }));
  bench->host_unregister(host, 100);
  bench->host_unregister(host + 100, 4097);
  EXPECT_EQ(HOIST_OK, status_of([&] { bench->host_register(host, sizeof host); }));
  bench->host_unregister(host, sizeof host);
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] { bench->host_register(nullptr, 1); }));
}

// Drivers refuse a copy that crosses from one registration into another, or out of it.
TEST_P(Memory, CopiesStayWithinARegistration) {
  // Threaded copies take no lock that all streams share, and look nothing up.
  const hoist_status_t crossing = mode() == "threaded" ? HOIST_OK : HOIST_ERROR_INVALID_ARGUMENT;
  Bench bench(options());
  void* stream = bench.stream();
  void* device = bench.memory(100);
  char host[200] = {};
  bench->host_register(host, 100);
  bench->host_register(host + 100, 50);
  std::string message;
  EXPECT_EQ(crossing, status_of([&] { bench->copy(stream, HOIST_COPY_H2D, device, host + 90, 20); }, &message));
  EXPECT_EQ(crossing != HOIST_OK, message.find("ends beyond it") != std::string::npos) << message;
  EXPECT_EQ(crossing, status_of([&] { bench->copy(stream, HOIST_COPY_D2H, host + 149, device, 2); }));
  EXPECT_EQ(HOIST_OK, status_of([&] { bench->copy(stream, HOIST_COPY_H2D, device, host, 100); }));
  EXPECT_EQ(HOIST_OK, status_of([&] { bench->copy(stream, HOIST_COPY_D2H, host + 100, device, 50); }));
  EXPECT_EQ(HOIST_OK, status_of([&] { bench->copy(stream, HOIST_COPY_H2D, device, host + 150, 50); }));
  bench->stream_wait(stream);
  bench->host_unregister(host, 100);
  bench->host_unregister(host + 100, 50);
}

TEST_P(Memory, WithoutBytesNothingMoves) {
  Bench bench(options("bytes=none&memory=64GiB"));
  EXPECT_TRUE(bench->has(HOIST_CAPABILITY_NO_BYTES));
  void* stream = bench.stream();
  void* device = bench.memory(std::uint64_t{60} << 30);
  char host[16] = "untouched";
  bool ran = false;
  bench->copy(stream, HOIST_COPY_H2D, device, &host, std::uint64_t{50} << 30);  // would fault
  bench->fill(stream, device, 1, std::uint64_t{50} << 30);
  bench->copy(stream, HOIST_COPY_D2H, host, device, sizeof host);
  bench.call(stream, [&] { ran = true; });
  bench->stream_wait(stream);
  EXPECT_STREQ("untouched", host);
  EXPECT_TRUE(ran);
}

TEST(Guarded, DeviceMemoryIsClosedOutsideOfOperations) {
  Bench bench("mode=guarded");
  void* stream = bench.stream();
  auto* device = static_cast<volatile char*>(bench.memory(3 * 4096));
  char host[16] = "bytes";
  bench->copy(stream, HOIST_COPY_H2D, const_cast<char*>(device), host, sizeof host);
  EXPECT_DEATH({ [[maybe_unused]] const char read = device[0]; }, "");
  EXPECT_DEATH(bench.call(stream, [&] { device[0] = 1; }), "");  // a host function without access
}

TEST(Guarded, AccessIsCountedByPage) {
  Bench bench("mode=guarded");
  void* stream = bench.stream();
  auto* device = static_cast<volatile char*>(bench.memory(3 * 4096));
  char* begin = const_cast<char*>(device);
  bench->access_begin(stream, begin, 2 * 4096);
  bench->access_begin(stream, begin + 4096, 2 * 4096);
  for (int page = 0; page < 3; ++page) device[page * 4096] = 1;
  bench->fill(stream, begin, 2, 2 * 4096);  // opens and closes once more
  bench->access_end(stream, begin, 2 * 4096);
  EXPECT_DEATH(device[0] = 1, "");
  device[4096] = 1;
  device[2 * 4096] = 1;
  bench->access_end(stream, begin + 4096, 2 * 4096);
  EXPECT_DEATH(device[4096] = 1, "");
  EXPECT_DEATH(device[2 * 4096] = 1, "");
}

TEST(Guarded, AnEndWithoutABeginFailsTheStream) {
  Bench bench("mode=guarded");
  void* stream = bench.stream();
  void* device = bench.memory(4096);
  bench->access_end(stream, device, 4096);
  std::string message;
  EXPECT_EQ(HOIST_ERROR_DEVICE, status_of([&] { bench->stream_wait(stream); }, &message));
  EXPECT_NE(std::string::npos, message.find("was not begun")) << message;
}

TEST(Inline, OverrunsMeetAGuardPageAndFreedMemoryIsClosed) {
  Bench bench("mode=inline&alignment=4096");
  auto* device = static_cast<volatile char*>(bench->memory_create(4096));
  void* next = bench.memory(4096);
  EXPECT_NE(const_cast<char*>(device) + 4096, next);
  EXPECT_DEATH(device[4096] = 1, "");
  EXPECT_DEATH(device[-1] = 1, "");
  bench->memory_destroy(const_cast<char*>(device));
  EXPECT_DEATH(device[0] = 1, "");
}

}  // namespace
}  // namespace hoist
