// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace hoist {
namespace {

// FIPS 180-4, section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> round_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr std::size_t block_bytes = 64;

std::uint32_t big_endian(const unsigned char* p) {
  return std::uint32_t{p[0]} << 24 | std::uint32_t{p[1]} << 16 | std::uint32_t{p[2]} << 8 | std::uint32_t{p[3]};
}

class Sha256 {
 public:
  void block(const unsigned char* p) {
    std::array<std::uint32_t, 64> w;
    for (std::size_t i = 0; i < 16; ++i) w[i] = big_endian(p + 4 * i);
    for (std::size_t i = 16; i < 64; ++i) {
      const std::uint32_t a = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
      const std::uint32_t b = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
      w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + round_constants[i] + w[i];
      const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const std::array<std::uint32_t, 8> out = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) state_[i] += out[i];
  }

  [[nodiscard]] std::string hex() const {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    out.reserve(64);
    for (const std::uint32_t word : state_) {
      for (int shift = 28; shift >= 0; shift -= 4) out.push_back(digits[word >> shift & 15]);
    }
    return out;
  }

 private:
  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
};

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  const std::size_t whole = bytes.size() / block_bytes;
  for (std::size_t i = 0; i < whole; ++i) hash.block(data + i * block_bytes);

  // The rest, one bit, zeros, and the length in bits: one block or two.
  std::array<unsigned char, 2 * block_bytes> tail{};
  const std::size_t rest = bytes.size() % block_bytes;
  if (rest > 0) std::memcpy(tail.data(), data + whole * block_bytes, rest);
  tail[rest] = 0x80;
  const std::size_t blocks = rest + 9 > block_bytes ? 2 : 1;
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  for (std::size_t i = 0; i < 8; ++i) {
    tail[blocks * block_bytes - 1 - i] = static_cast<unsigned char>(bits >> (8 * i));
  }
  for (std::size_t i = 0; i < blocks; ++i) hash.block(tail.data() + i * block_bytes);
  return hash.hex();
}

std::uint64_t checksum(const void* bytes, std::size_t count) noexcept {
  constexpr std::uint64_t prime = 0x100000001b3;
  const auto* p = static_cast<const unsigned char*>(bytes);
  // Four lanes hide the multiplier's latency; the rotation lets high bits reach low ones.
  std::array<std::uint64_t, 4> lanes = {0xcbf29ce484222325, 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9};
  const auto step = [](std::uint64_t lane, std::uint64_t word) { return std::rotl((lane ^ word) * prime, 29); };
  std::size_t i = 0;
  for (; i + 32 <= count; i += 32) {
    std::array<std::uint64_t, 4> words;
    std::memcpy(words.data(), p + i, 32);
    for (std::size_t k = 0; k < 4; ++k) lanes[k] = step(lanes[k], words[k]);
  }
  for (; i + 8 <= count; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, p + i, 8);
    lanes[0] = step(lanes[0], word);
  }
  if (i < count) {
    std::uint64_t word = 0;
    std::memcpy(&word, p + i, count - i);
    lanes[1] = step(lanes[1], word);
  }
  std::uint64_t sum = step(0x2545f4914f6cdd1d, count);
  for (const std::uint64_t lane : lanes) sum = step(sum, lane);
  sum ^= sum >> 32;
  sum *= 0xd6e8feb86659fd93;
  return sum ^ sum >> 32;
}

}  // namespace hoist
