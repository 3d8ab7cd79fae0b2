// SPDX-License-Identifier: Apache-2.0
// memcpy by several threads where it is worth it: one thread reaches a fraction of the memory's rate, and first
// touches of fresh memory cost more than the copying.
#pragma once

#include <cstddef>
#include <vector>

namespace hoist {

struct CopyPiece {
  void* dst = nullptr;
  const void* src = nullptr;  // null: zeros
  std::size_t bytes = 0;
};

void parallel_copy(const std::vector<CopyPiece>& pieces);

}  // namespace hoist
