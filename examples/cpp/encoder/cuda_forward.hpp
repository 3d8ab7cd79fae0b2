// SPDX-License-Identifier: Apache-2.0
// The encoder's arithmetic on a GPU: matrix products by cuBLAS, the rest by small kernels, on hoist's device memory.
#pragma once

#include <vector>

#include "arithmetic.hpp"
#include "hoist/hoist.hpp"
#include "model.hpp"
#include "sentences.hpp"

namespace encoder {

// For a device "cuda:N". Throws cuda::Missing where a library that it needs is not here or refuses. All must outlive
// what is made.
MakeArithmetic on_cuda(const hoist::Device& device, const Model& model, const std::vector<Sentence>& sentences);

}  // namespace encoder
