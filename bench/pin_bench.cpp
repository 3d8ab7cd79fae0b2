// SPDX-License-Identifier: Apache-2.0
// What getting 1 GiB of pinned host memory costs, step by step and by the number of threads: why slabs are filled
// and pinned as they are. Usage: pin_bench [device, such as cuda:0]
#include <sys/mman.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "device/device.hpp"

namespace hoist {
namespace {

constexpr std::size_t bytes = std::size_t{1} << 30;
constexpr std::size_t large_page = std::size_t{2} << 20;
constexpr std::size_t page = 4096;

double timed_ms(const std::function<void()>& what) {
  const auto begin = std::chrono::steady_clock::now();
  what();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

class Fresh {
 public:
  explicit Fresh(bool large) {
    mapped_ = mmap(nullptr, bytes + large_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped_ == MAP_FAILED) fail(HOIST_ERROR_OUT_OF_MEMORY, "no host memory to measure with");
    begin_ = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(mapped_) + large_page - 1) & ~(large_page - 1));
    madvise(begin_, bytes, large ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  }
  ~Fresh() { munmap(mapped_, bytes + large_page); }
  Fresh(const Fresh&) = delete;
  Fresh& operator=(const Fresh&) = delete;
  char* get() const { return begin_; }

 private:
  void* mapped_ = nullptr;
  char* begin_ = nullptr;
};

using Part = std::function<void(std::size_t first, std::size_t count)>;

double by_threads_ms(std::size_t threads, const Part& part) {
  return timed_ms([&] {
    std::vector<std::thread> others;
    const std::size_t share = bytes / threads;
    for (std::size_t t = 1; t < threads; ++t) others.emplace_back([&part, t, share] { part(t * share, share); });
    part(0, share);
    for (std::thread& other : others) other.join();
  });
}

double register_ms(Device& device, char* memory) {
  const double ms = timed_ms([&] { device.host_register(memory, bytes); });
  device.host_unregister(memory, bytes);
  return ms;
}

void row(Device& device, const char* source, bool large, std::size_t threads) {
  double populated = -1;
  double register_populated = -1;
#ifdef MADV_POPULATE_WRITE
  {
    const Fresh fresh(large);
    populated = by_threads_ms(threads, [&](std::size_t first, std::size_t count) {
      madvise(fresh.get() + first, count, MADV_POPULATE_WRITE);
    });
    register_populated = register_ms(device, fresh.get());
  }
#endif
  const Fresh touched(large);
  const double touching = by_threads_ms(threads, [&](std::size_t first, std::size_t count) {
    for (std::size_t i = 0; i < count; i += page) static_cast<volatile char*>(touched.get())[first + i] = 0;
  });
  const Fresh filled(large);
  const double filling = by_threads_ms(
      threads, [&](std::size_t first, std::size_t count) { std::memcpy(filled.get() + first, source + first, count); });
  std::printf("%-6s %8zu %12.1f %12.1f %12.1f %12.1f %12.1f\n", large ? "2 MiB" : "4 KiB", threads, populated,
              register_populated, touching, filling, register_ms(device, filled.get()));
}

void run(const char* name) {
  const auto device = Device::open(name);
  std::printf("%s: %s; ms for 1 GiB\n", device->name().c_str(), device->properties().description);
  std::printf("%-6s %8s %12s %12s %12s %12s %12s\n", "pages", "threads", "populate", "register", "touch", "copy into",
              "register");
  const Fresh source(true);
  std::memset(source.get(), 1, bytes);
  for (bool large : {true, false}) {
    for (std::size_t threads : {1, 4, 8, 16}) row(*device, source.get(), large, threads);
  }
}

}  // namespace
}  // namespace hoist

int main(int argc, char** argv) {
  try {
    hoist::run(argc > 1 ? argv[1] : "cuda:0");
    return 0;
  } catch (const hoist::Error& error) {
    std::printf("pin: nothing was measured: %s; %s\n", error.what(), error.hint().c_str());
    return error.code() == HOIST_ERROR_NOT_FOUND ? 0 : 1;
  }
}
