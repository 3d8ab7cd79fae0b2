// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace hoist::plan {

class Random {  // the same everywhere
 public:
  std::uint32_t below(std::size_t end) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>((state_ >> 33) % end);
  }

 private:
  std::uint64_t state_ = 20;
};

}  // namespace hoist::plan
