// SPDX-License-Identifier: Apache-2.0
// Loads on their way to a lane as few copies: neighbours on both sides as one, small ones as a batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device.hpp"

namespace hoist {

// A larger copy is no cheaper in a batch.
inline constexpr std::uint64_t small_load = std::uint64_t{1} << 20;

// Host memory of an item, as far as copies care.
struct HostBytes {
  const void* begin = nullptr;
  const void* region = nullptr;  // where what is pinned in one piece with it begins; null: with nothing else
  std::uint64_t bytes = 0;
  std::uint64_t room = 0;  // with bytes behind it that nobody has, there and behind its place on the device
};

// One copy of one item or of several, each of which begins where the room of the one before ends.
struct JoinedCopy {
  void* to = nullptr;
  HostBytes from;

  // Takes in what begins where it ends, on both sides. A copy must not cross from one registration into another.
  bool join(void* next_to, const HostBytes& next) noexcept {
    if (next.region == nullptr || next.region != from.region) return false;
    if (static_cast<char*>(to) + from.room != next_to) return false;
    if (static_cast<const char*>(from.begin) + from.room != next.begin) return false;
    from.bytes = from.room + next.bytes;
    from.room += next.room;
    return true;
  }
};

class Gather {
 public:
  // Room for so many loads, so that taking one in allocates nothing.
  void reserve(std::size_t loads);

  [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
  [[nodiscard]] const std::vector<std::uint32_t>& items() const noexcept { return items_; }
  // False where it can go neither in a copy nor, with `batches`, in a batch with what is here: submit that first.
  [[nodiscard]] bool add(std::uint32_t item, void* to, const HostBytes& from, bool joins, bool batches);
  // Throws what the device says; what is here stays.
  void submit(Device& device, void* stream) const;
  void clear() noexcept;

 private:
  std::vector<std::uint32_t> items_;
  JoinedCopy last_;  // what the last of the following is
  std::vector<void*> to_;
  std::vector<const void*> from_;
  std::vector<std::uint64_t> bytes_;
};

}  // namespace hoist
