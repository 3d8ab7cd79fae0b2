// SPDX-License-Identifier: Apache-2.0
#include "memory/parallel_copy.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <system_error>
#include <thread>

namespace hoist {
namespace {

constexpr std::size_t least_per_thread = std::size_t{16} << 20;
constexpr std::size_t most_threads = 16;
constexpr std::size_t chunk_bytes = std::size_t{4} << 20;  // whole large pages: no two threads touch one first

std::size_t chunks_of(const CopyPiece& piece) { return (piece.bytes + chunk_bytes - 1) / chunk_bytes; }

void copy_range(const CopyPiece& piece, std::size_t first, std::size_t bytes) {
  char* dst = static_cast<char*>(piece.dst) + first;
  if (piece.src == nullptr) {
    std::memset(dst, 0, bytes);
  } else {
    std::memcpy(dst, static_cast<const char*>(piece.src) + first, bytes);
  }
}

// Takes chunks in turn until none is left.
void work(const std::vector<CopyPiece>& pieces, std::atomic<std::size_t>& next) {
  std::size_t before = 0;
  std::size_t chunk = next++;
  for (const CopyPiece& piece : pieces) {
    for (const std::size_t count = chunks_of(piece); chunk < before + count; chunk = next++) {
      const std::size_t first = (chunk - before) * chunk_bytes;
      copy_range(piece, first, std::min(chunk_bytes, piece.bytes - first));
    }
    before += chunks_of(piece);
  }
}

std::size_t thread_count(const std::vector<CopyPiece>& pieces) {
  std::size_t bytes = 0;
  for (const CopyPiece& piece : pieces) bytes += piece.bytes;
  if (bytes < 2 * least_per_thread) return 1;
  const std::size_t cores = std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
  return std::min({bytes / least_per_thread, cores, most_threads});
}

}  // namespace

void parallel_copy(const std::vector<CopyPiece>& pieces) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> others;
  try {
    const std::size_t threads = thread_count(pieces);
    others.reserve(threads);
    while (others.size() + 1 < threads) others.emplace_back([&] { work(pieces, next); });
  } catch (const std::system_error&) {
    // No more threads to be had: those that there are do it.
  }
  work(pieces, next);
  for (std::thread& other : others) other.join();
}

}  // namespace hoist
