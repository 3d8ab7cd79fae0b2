// SPDX-License-Identifier: Apache-2.0
// The sum by which hoist stream compares the device with the file sees every kind of damage.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "stream_load.hpp"

namespace tool {
namespace {

std::vector<unsigned char> random_bytes(std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::vector<unsigned char> bytes(count);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

std::uint64_t sum(const std::vector<unsigned char>& bytes) { return checksum(bytes.data(), bytes.size()); }

TEST(Checksum, SeesEveryBit) {
  for (const std::size_t count : {1U, 7U, 8U, 31U, 32U, 33U, 63U, 64U, 257U}) {
    std::vector<unsigned char> bytes = random_bytes(count);
    const std::uint64_t right = sum(bytes);
    EXPECT_EQ(sum(bytes), right);
    for (std::size_t bit = 0; bit < count * 8; ++bit) {
      bytes[bit / 8] = static_cast<unsigned char>(bytes[bit / 8] ^ (1U << bit % 8));
      EXPECT_NE(sum(bytes), right) << count << " bytes, bit " << bit;
      bytes[bit / 8] = static_cast<unsigned char>(bytes[bit / 8] ^ (1U << bit % 8));
    }
  }
}

TEST(Checksum, SeesMovedBlocks) {
  const std::vector<unsigned char> bytes = random_bytes(4096);
  for (const std::ptrdiff_t block : {1, 8, 32, 512}) {
    std::vector<unsigned char> swapped = bytes;
    std::swap_ranges(swapped.begin(), swapped.begin() + block, swapped.begin() + block);
    EXPECT_NE(sum(swapped), sum(bytes)) << block;
    std::vector<unsigned char> rotated = bytes;
    std::rotate(rotated.begin(), rotated.begin() + block, rotated.end());
    EXPECT_NE(sum(rotated), sum(bytes)) << block;
  }
}

TEST(Checksum, SeesLengthsOfZerosAndOfPoison) {
  for (const unsigned char fill : {0x00, 0xff}) {
    std::set<std::uint64_t> sums;
    for (std::size_t count = 0; count <= 300; ++count) sums.insert(sum(std::vector<unsigned char>(count, fill)));
    EXPECT_EQ(sums.size(), 301U);
  }
  EXPECT_EQ(checksum(nullptr, 0), sum({}));
}

}  // namespace
}  // namespace tool
