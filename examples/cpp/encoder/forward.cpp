// SPDX-License-Identifier: Apache-2.0
#include "forward.hpp"

#include <algorithm>
#include <cmath>

namespace encoder {
namespace {

constexpr double layer_norm_epsilon = 1e-12;

using ConstMatrix = Eigen::Map<const Matrix>;
using ConstRow = Eigen::Map<const Eigen::RowVectorXf>;

void linear(const Matrix& input, const float* weight, const float* bias, Matrix& output) {
  const ConstMatrix matrix(weight, output.cols(), input.cols());
  output.noalias() = input * matrix.transpose();
  output.rowwise() += ConstRow(bias, output.cols());
}

void layer_norm(Matrix& values, const float* scale, const float* shift) {
  const std::int64_t width = values.cols();
  for (std::int64_t r = 0; r < values.rows(); ++r) {
    float* row = values.row(r).data();
    double sum = 0;
    for (std::int64_t c = 0; c < width; ++c) sum += static_cast<double>(row[c]);
    const double mean = sum / static_cast<double>(width);
    double squares = 0;
    for (std::int64_t c = 0; c < width; ++c)
      squares += (static_cast<double>(row[c]) - mean) * (static_cast<double>(row[c]) - mean);
    const double factor = 1.0 / std::sqrt(squares / static_cast<double>(width) + layer_norm_epsilon);
    for (std::int64_t c = 0; c < width; ++c) {
      row[c] = static_cast<float>((static_cast<double>(row[c]) - mean) * factor) * scale[c] + shift[c];
    }
  }
}

void gelu(Matrix& values) {
  const float half_root = std::sqrt(0.5F);
  for (std::int64_t i = 0; i < values.size(); ++i) {
    const float x = values.data()[i];
    values.data()[i] = 0.5F * x * (1.0F + std::erf(x * half_root));
  }
}

void softmax_rows(Matrix& scores) {
  for (std::int64_t r = 0; r < scores.rows(); ++r) {
    float* row = scores.row(r).data();
    const float largest = *std::max_element(row, row + scores.cols());
    float sum = 0;
    for (std::int64_t c = 0; c < scores.cols(); ++c) sum += row[c] = std::exp(row[c] - largest);
    for (std::int64_t c = 0; c < scores.cols(); ++c) row[c] /= sum;
  }
}

}  // namespace

Forward::Forward(const Model& model, const std::vector<Sentence>& sentences)
    : hidden_size_(model.hidden()), inner_size_(model.inner()), begins_{0} {
  for (const Sentence& sentence : sentences) {
    ids_.insert(ids_.end(), sentence.ids.begin(), sentence.ids.end());
    begins_.push_back(static_cast<std::int64_t>(ids_.size()));
  }
  const auto tokens = static_cast<std::int64_t>(ids_.size());
  for (Matrix* matrix : {&hidden_, &query_, &key_, &value_, &context_}) *matrix = Matrix::Zero(tokens, hidden_size_);
  inner_ = Matrix::Zero(tokens, inner_size_);
  embeddings_ = Matrix::Zero(static_cast<std::int64_t>(sentences.size()), hidden_size_);
}

void Forward::run(const Unit& unit, const std::vector<const float*>& weights) {
  switch (unit.kind) {
    case Kind::word_rows:
      return gather_words(unit, weights[0]);
    case Kind::embeddings:
      return add_embeddings(weights);
    case Kind::attention:
      return attend(weights);
    case Kind::feed_forward:
      return feed_forward(weights);
    case Kind::pooling:
      return pool();
  }
}

void Forward::gather_words(const Unit& unit, const float* rows) {
  for (std::size_t token = 0; token < ids_.size(); ++token) {
    const std::int64_t row = ids_[token] - unit.first_row;
    if (row < 0 || row >= unit.rows) continue;
    hidden_.row(static_cast<std::int64_t>(token)) = ConstRow(rows + row * hidden_size_, hidden_size_);
  }
}

// Weights: positions, token types, norm's scale and shift.
void Forward::add_embeddings(const std::vector<const float*>& weights) {
  const ConstRow first_type(weights[1], hidden_size_);
  for (std::size_t s = 0; s + 1 < begins_.size(); ++s) {
    for (std::int64_t token = begins_[s]; token < begins_[s + 1]; ++token) {
      const ConstRow position(weights[0] + (token - begins_[s]) * hidden_size_, hidden_size_);
      hidden_.row(token) = (hidden_.row(token) + first_type) + position;
    }
  }
  layer_norm(hidden_, weights[2], weights[3]);
}

// Weights: query, key, value and output, each a matrix and a bias; norm's scale and shift.
void Forward::attend(const std::vector<const float*>& weights) {
  linear(hidden_, weights[0], weights[1], query_);
  linear(hidden_, weights[2], weights[3], key_);
  linear(hidden_, weights[4], weights[5], value_);
  for (std::size_t s = 0; s + 1 < begins_.size(); ++s) attend_within(begins_[s], begins_[s + 1] - begins_[s]);
  linear(context_, weights[6], weights[7], query_);  // the queries are not needed any more
  hidden_ += query_;
  layer_norm(hidden_, weights[8], weights[9]);
}

void Forward::attend_within(std::int64_t begin, std::int64_t count) {
  const float scale = 1.0F / std::sqrt(static_cast<float>(head_width));
  for (std::int64_t column = 0; column < hidden_size_; column += head_width) {
    const auto part = [&](Matrix& matrix) { return matrix.block(begin, column, count, head_width); };
    Matrix scores = part(query_) * part(key_).transpose();
    scores *= scale;
    softmax_rows(scores);
    part(context_).noalias() = scores * part(value_);
  }
}

// Weights: up and down, each a matrix and a bias; norm's scale and shift.
void Forward::feed_forward(const std::vector<const float*>& weights) {
  linear(hidden_, weights[0], weights[1], inner_);
  gelu(inner_);
  linear(inner_, weights[2], weights[3], query_);
  hidden_ += query_;
  layer_norm(hidden_, weights[4], weights[5]);
}

void Forward::pool() {
  for (std::size_t s = 0; s + 1 < begins_.size(); ++s) {
    std::vector<double> mean(static_cast<std::size_t>(hidden_size_), 0.0);
    for (std::int64_t token = begins_[s]; token < begins_[s + 1]; ++token) {
      for (std::int64_t c = 0; c < hidden_size_; ++c)
        mean[static_cast<std::size_t>(c)] += static_cast<double>(hidden_(token, c));
    }
    double squares = 0;
    for (const double value : mean) squares += value * value;
    const double factor = 1.0 / std::sqrt(squares);  // the count cancels out
    for (std::int64_t c = 0; c < hidden_size_; ++c) {
      embeddings_(static_cast<std::int64_t>(s), c) = static_cast<float>(mean[static_cast<std::size_t>(c)] * factor);
    }
  }
}

}  // namespace encoder
