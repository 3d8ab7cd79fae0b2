// SPDX-License-Identifier: Apache-2.0
// The encoder's weights, cut into the units that hoist streams.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hoist/hoist.hpp"

namespace encoder {

// A tensor of a unit: all of a tensor of the checkpoint, or some rows of it.
struct Weight {
  std::string name;
  const void* bytes;  // in the mapped checkpoint
  std::uint64_t size;
};

enum class Kind { word_rows, embeddings, attention, feed_forward, pooling };

struct Unit {
  Kind kind;
  std::string name;
  std::vector<Weight> weights;  // in the order in which forward.cpp expects them
  std::int64_t first_row = 0;   // word_rows: of the table
  std::int64_t rows = 0;
};

class Model {
 public:
  // Reads nothing but the header. Throws where a tensor is missing or has another shape or type.
  explicit Model(const hoist::Checkpoint& checkpoint);

  [[nodiscard]] const std::vector<Unit>& units() const noexcept { return units_; }
  [[nodiscard]] std::int64_t hidden() const noexcept { return hidden_; }
  [[nodiscard]] std::int64_t vocabulary() const noexcept { return vocabulary_; }
  [[nodiscard]] std::int64_t positions() const noexcept { return positions_; }
  [[nodiscard]] std::int64_t inner() const noexcept { return inner_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  [[nodiscard]] std::size_t tensors() const noexcept;

 private:
  Weight weight(const std::string& name, std::vector<std::uint64_t> shape) const;
  void add_word_rows();
  void add_embeddings();
  void add_layer(const std::string& prefix);

  const hoist::Checkpoint& checkpoint_;
  std::vector<Unit> units_;
  std::int64_t hidden_ = 0, vocabulary_ = 0, positions_ = 0, inner_ = 0;
};

}  // namespace encoder
