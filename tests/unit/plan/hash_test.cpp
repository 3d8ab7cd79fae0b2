// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace hoist {
namespace {

// FIPS 180-4 examples, and lengths around a block's end.
TEST(Sha256, KnownDigests) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, EveryLengthDiffers) {
  std::set<std::string> seen;
  for (std::size_t n = 0; n <= 200; ++n) EXPECT_TRUE(seen.insert(sha256_hex(std::string(n, 'x'))).second) << n;
}

TEST(Checksum, AnyChangeOfAnyByteShows) {
  std::vector<unsigned char> bytes(77);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 37);
  const std::uint64_t whole = checksum(bytes.data(), bytes.size());
  EXPECT_EQ(whole, checksum(bytes.data(), bytes.size()));
  for (unsigned char& byte : bytes) {
    byte ^= 1;
    EXPECT_NE(whole, checksum(bytes.data(), bytes.size()));
    byte ^= 1;
  }
  for (std::size_t n = 0; n < bytes.size(); ++n) EXPECT_NE(whole, checksum(bytes.data(), n)) << n;
}

TEST(Checksum, OrderAndZerosCount) {
  std::vector<std::uint64_t> words(64, 0);
  std::set<std::uint64_t> seen;
  for (std::size_t n = 0; n <= words.size() * 8; ++n) EXPECT_TRUE(seen.insert(checksum(words.data(), n)).second) << n;
  words[3] = 1;
  const std::uint64_t a = checksum(words.data(), 512);
  std::swap(words[3], words[7]);  // the same lane
  EXPECT_NE(a, checksum(words.data(), 512));
  std::swap(words[7], words[8]);  // another lane
  EXPECT_NE(a, checksum(words.data(), 512));
}

}  // namespace
}  // namespace hoist
