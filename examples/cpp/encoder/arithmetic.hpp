// SPDX-License-Identifier: Apache-2.0
// Who computes a unit: the CPU inside host functions, or a GPU on the stream itself.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "forward.hpp"
#include "hoist/hoist.hpp"
#include "model.hpp"

namespace encoder {

// One run's: it holds the hidden states of the step that is under way.
class Arithmetic {
 public:
  virtual ~Arithmetic() = default;
  Arithmetic() = default;
  Arithmetic(const Arithmetic&) = delete;
  Arithmetic& operator=(const Arithmetic&) = delete;

  // The one that everything is submitted to; the arithmetic outlives it.
  [[nodiscard]] virtual hoist::Stream make_stream() = 0;
  // `weights` are the unit's, on the device. The units of a step come in the model's order.
  virtual void submit(const Unit& unit, std::vector<const float*> weights, hoist::Stream& stream) = 0;
  // After the last unit: one row a sentence. `out` stays where it is until the stream has been waited for.
  virtual void submit_embeddings(Matrix& out, hoist::Stream& stream) = 0;
};

using MakeArithmetic = std::function<std::unique_ptr<Arithmetic>()>;

// The arithmetic of forward.cpp, on a device whose memory host functions may read. All must outlive what is made.
MakeArithmetic on_host(const hoist::Device& device, const Model& model, const std::vector<Sentence>& sentences);

}  // namespace encoder
