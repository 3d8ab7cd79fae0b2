// SPDX-License-Identifier: Apache-2.0
// memcpy by several threads where it is worth it: one thread reaches a fraction of the memory's rate.
#pragma once

#include <cstddef>

namespace hoist {

void parallel_copy(void* dst, const void* src, std::size_t bytes);

}  // namespace hoist
