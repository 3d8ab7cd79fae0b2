// SPDX-License-Identifier: Apache-2.0
// Mutated headers: each is refused as corrupt, or what it says of every tensor lies within the file and
// covers it. Seeded and bounded; worth most under AddressSanitizer.
#include <gtest/gtest.h>

#include <random>

#include "base/error.hpp"
#include "checkpoint/header.hpp"
#include "unit/checkpoint/safetensors_file.hpp"

namespace hoist {
namespace {

using test::entry;

const char* const tokens[] = {"{",   "}",   "[",    "]",  ",",  ":",    "\"",     "-1",        "18446744073709551615",
                              "1e9", "0.5", "null", "\\", "\0", "\xf0", "\"F4\"", "\"shape\"", "\"data_offsets\""};

std::string seed_file() {
  const std::string json = std::string("{\"__metadata__\":{\"format\":\"pt\"},") +
                           entry("a.weight", "F32", "[2,3]", 0, 24) + "," + entry("b", "BF16", "[5]", 24, 34) + "," +
                           entry("none", "I8", "[0]", 34, 34) + "," + entry("s", "F64", "[]", 34, 42) + "," +
                           entry("f4", "F4", "[2,4]", 42, 46) + "}   ";
  return test::safetensors(json, 46);
}

class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}

  std::string mutate(std::string file) {
    const std::size_t edits = 1 + pick(4);
    for (std::size_t i = 0; i < edits && !file.empty(); ++i) edit(file);
    if (pick(2) == 0) repair_length(file);
    return file;
  }

 private:
  std::size_t pick(std::size_t below) { return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_); }

  void edit(std::string& file) {
    const std::size_t at = pick(file.size());
    switch (pick(6)) {
      case 0:
        file[at] = static_cast<char>(pick(256));
        break;
      case 1:
        file[at] = static_cast<char>(file[at] ^ (1 << pick(8)));
        break;
      case 2:
        file.erase(at, 1 + pick(16));
        break;
      case 3:
        file.insert(at, tokens[pick(std::size(tokens))]);
        break;
      case 4:
        file.insert(at, std::string(file, pick(file.size()), 1 + pick(64)));
        break;
      default:
        file.resize(at);
    }
  }

  // So that mutations reach the JSON and the offsets, not only the length check.
  static void repair_length(std::string& file) {
    const std::size_t end = file.rfind('}');
    if (file.size() < 8 || end == std::string::npos || end < 8) return;
    file.replace(0, 8, test::length_field(end + 1 - 8));
  }

  std::mt19937 random_;
};

void expect_cover(const std::string& file, const std::vector<HeaderTensor>& tensors) {
  std::uint64_t covered = 0;
  for (const HeaderTensor& tensor : tensors) {
    ASSERT_LE(tensor.offset, file.size());
    ASSERT_LE(tensor.bytes, file.size() - tensor.offset);
    covered += tensor.bytes;
  }
  ASSERT_LE(covered, file.size() - 8);
  if (!tensors.empty()) {
    ASSERT_EQ(tensors.front().offset + covered, file.size());
  }
}

TEST(HeaderFuzz, RefusesOrDescribesTheFile) {
  const std::string seed = seed_file();
  ASSERT_EQ(read_header("seed", seed).size(), 5U);
  int accepted = 0;
  constexpr int rounds = 60'000;
  for (int round = 0; round < rounds; ++round) {
    const std::string file = Mutator(static_cast<std::uint32_t>(round)).mutate(seed);
    // An exact heap copy: a read past the end is seen by AddressSanitizer.
    const std::vector<char> exact(file.begin(), file.end());
    try {
      const auto tensors = read_header("fuzz", {exact.data(), exact.size()});
      ++accepted;
      ASSERT_NO_FATAL_FAILURE(expect_cover(file, tensors)) << "round " << round;
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), HOIST_ERROR_CORRUPT) << "round " << round;
    }
  }
  EXPECT_GT(accepted, rounds / 1000);  // both ways out were taken
  EXPECT_LT(accepted, rounds / 2);
}

}  // namespace
}  // namespace hoist
