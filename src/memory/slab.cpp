// SPDX-License-Identifier: Apache-2.0
#include "memory/slab.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace hoist {
namespace {

constexpr std::uint64_t huge_page_bytes = std::uint64_t{2} << 20;
constexpr std::uint64_t least_per_thread = std::uint64_t{16} << 20;
constexpr unsigned most_threads = 16;

// Not MADV_POPULATE_WRITE: several threads at it are slower than one, and than their own first writes.
void touch_range(char* begin, std::uint64_t bytes) noexcept {
  for (std::uint64_t i = 0; i < bytes; i += page_bytes) static_cast<volatile char*>(begin)[i] = 0;
}

// The caller takes the first share, and every share that no thread could be had for.
void touch(char* begin, std::uint64_t bytes) {
  const unsigned threads = touch_threads(bytes);
  const std::uint64_t share = bytes / threads / huge_page_bytes * huge_page_bytes;
  if (threads < 2 || share == 0) return touch_range(begin, bytes);
  std::vector<std::thread> others;
  std::uint64_t done = share;
  try {
    for (unsigned t = 1; t < threads; ++t) {
      const std::uint64_t count = t + 1 == threads ? bytes - done : share;
      others.emplace_back(touch_range, begin + done, count);
      done += count;
    }
  } catch (const std::system_error&) {
    touch_range(begin + done, bytes - done);
  }
  touch_range(begin, share);
  for (std::thread& other : others) other.join();
}

}  // namespace

unsigned touch_threads(std::uint64_t bytes) noexcept {
  const unsigned most = std::clamp(std::thread::hardware_concurrency(), 1u, most_threads);
  return static_cast<unsigned>(std::clamp<std::uint64_t>(bytes / least_per_thread, 1, most));
}

Slab::Slab(std::uint64_t bytes, bool touched, const NumaPlace& place) : bytes_(pages_up(bytes)) {
  base_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base_ == MAP_FAILED) {
    fail(HOIST_ERROR_OUT_OF_MEMORY,
         text("the system refused ", bytes_, " bytes of host memory: ", std::strerror(errno)), "free host memory");
  }
  place.prefer(base_, bytes_);
  if (bytes_ >= huge_page_bytes) madvise(base_, bytes_, MADV_HUGEPAGE);
  if (!touched) return;
  try {
    touch(static_cast<char*>(base_), bytes_);
  } catch (...) {
    munmap(base_, bytes_);
    throw;
  }
}

Slab::Slab(Slab&& other) noexcept : base_(std::exchange(other.base_, nullptr)), bytes_(other.bytes_) {}

Slab::~Slab() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

}  // namespace hoist
