// SPDX-License-Identifier: Apache-2.0
#include "memory/parallel_copy.hpp"

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

namespace hoist {
namespace {

constexpr std::size_t least_per_thread = std::size_t{16} << 20;

}  // namespace

void parallel_copy(void* dst, const void* src, std::size_t bytes) {
  if (bytes < 2 * least_per_thread) {
    if (bytes != 0) std::memcpy(dst, src, bytes);
    return;
  }
  const std::size_t most = std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
  const std::size_t threads = std::clamp<std::size_t>(bytes / least_per_thread, 1, std::min<std::size_t>(most, 16));
  const std::size_t share = bytes / threads;
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < threads; ++t) {
    const std::size_t first = t * share;
    const std::size_t count = t + 1 == threads ? bytes - first : share;
    others.emplace_back(
        [=] { std::memcpy(static_cast<char*>(dst) + first, static_cast<const char*>(src) + first, count); });
  }
  std::memcpy(dst, src, share);
  for (std::thread& other : others) other.join();
}

}  // namespace hoist
