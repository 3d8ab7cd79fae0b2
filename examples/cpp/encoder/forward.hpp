// SPDX-License-Identifier: Apache-2.0
// The encoder's arithmetic, unit by unit: BERT, mean pooling, length 1. Equal inputs give equal bits.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "model.hpp"
#include "sentences.hpp"

namespace encoder {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline constexpr std::int64_t head_width = 32;  // MiniLM: 12 heads of 32

// The tokens of all sentences, one row each, and where each sentence begins.
class Forward {
 public:
  Forward(const Model& model, const std::vector<Sentence>& sentences);

  // `weights` are the unit's, on the device. The units of a step come in the model's order.
  void run(const Unit& unit, const std::vector<const float*>& weights);

  // After the last unit: one row a sentence.
  [[nodiscard]] const Matrix& embeddings() const noexcept { return embeddings_; }

 private:
  void gather_words(const Unit& unit, const float* rows);
  void add_embeddings(const std::vector<const float*>& weights);
  void attend(const std::vector<const float*>& weights);
  void attend_within(std::int64_t begin, std::int64_t count);
  void feed_forward(const std::vector<const float*>& weights);
  void pool();

  std::int64_t hidden_size_;
  std::int64_t inner_size_;
  std::vector<std::int64_t> ids_;
  std::vector<std::int64_t> begins_;  // of each sentence, and the end of the last
  Matrix hidden_, query_, key_, value_, context_, inner_;
  Matrix embeddings_;
};

}  // namespace encoder
