// SPDX-License-Identifier: Apache-2.0
// In the steady state no operation allocates: counted at operator new, on all threads.
#include <atomic>
#include <cstdlib>
#include <new>

#include "unit/host/bench.hpp"

namespace {
std::atomic<long> allocations{0};

void* counted(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace hoist {
namespace {

using SteadyState = EachMode;
HOIST_EACH_MODE(SteadyState);

TEST_P(SteadyState, NothingIsAllocated) {
  Bench bench(options("copy_delay_us=3"));
  constexpr std::size_t bytes = 4096;
  static char host[bytes];
  void* load = bench.stream();
  void* compute = bench.stream();
  void* place = bench.memory(bytes);
  void* loaded = bench.event();
  void* computed = bench.event();
  const auto step = [&] {
    for (int i = 0; i < 20; ++i) {
      if (i > 0) bench->stream_wait_event(load, computed);
      bench->copy(load, HOIST_COPY_H2D, place, host, bytes);
      bench->fill(load, place, 0xff, bytes);
      bench->event_record(loaded, load);
      bench->stream_wait_event(compute, loaded);
      bench->access_begin(compute, place, bytes);
      bench->host_function(
          compute, [](void*) {}, nullptr, 5);
      bench->access_end(compute, place, bytes);
      bench->event_record(computed, compute);
    }
    if (!bench->event_poll(computed)) bench->event_wait(computed);
    bench->stream_wait(load);
    if (bench->event_elapsed_us(loaded, computed) < 0) std::abort();
  };
  for (int i = 0; i < 5; ++i) step();  // queues grow to what a step needs
  const long before = allocations;
  for (int i = 0; i < 20; ++i) step();
  EXPECT_EQ(before, allocations);
}

}  // namespace
}  // namespace hoist
