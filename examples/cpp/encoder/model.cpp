// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace encoder {
namespace {

// The word table is half of the model, and a budget must hold the largest unit. A sentence needs only its rows, so
// the table is cut into units of this many rows, each about as large as a layer's half; each copies out what the
// sentences need of it.
constexpr std::int64_t rows_per_unit = 2048;

std::string shape_text(const std::uint64_t* shape, std::size_t rank) {
  std::string text = "[";
  for (std::size_t i = 0; i < rank; ++i) text += (i == 0 ? "" : ",") + std::to_string(shape[i]);
  return text + "]";
}

std::int64_t extent(const hoist::Checkpoint& checkpoint, const std::string& name, std::uint32_t dimension) {
  const hoist_checkpoint_tensor_t tensor = checkpoint[checkpoint.index(name)];
  if (dimension >= tensor.rank) {
    throw std::invalid_argument(name + " has shape " + shape_text(tensor.shape, tensor.rank) + ": no BERT weight");
  }
  return static_cast<std::int64_t>(tensor.shape[dimension]);
}

bool has(const hoist::Checkpoint& checkpoint, const std::string& name) {
  std::uint64_t index = 0;
  return hoist_checkpoint_get_tensor(checkpoint.get(), name.c_str(), &index) == HOIST_OK;
}

}  // namespace

Model::Model(const hoist::Checkpoint& checkpoint) : checkpoint_(checkpoint) {
  const std::string layer = "encoder.layer.";
  vocabulary_ = extent(checkpoint, "embeddings.word_embeddings.weight", 0);
  hidden_ = extent(checkpoint, "embeddings.word_embeddings.weight", 1);
  positions_ = extent(checkpoint, "embeddings.position_embeddings.weight", 0);
  inner_ = extent(checkpoint, layer + "0.intermediate.dense.weight", 0);
  add_word_rows();
  add_embeddings();
  for (int i = 0; has(checkpoint, layer + std::to_string(i) + ".attention.self.query.weight"); ++i) {
    add_layer(layer + std::to_string(i));
  }
  units_.push_back({Kind::pooling, "pooling", {}});  // computes, but owns no weight
}

Weight Model::weight(const std::string& name, std::vector<std::uint64_t> shape) const {
  const hoist_checkpoint_tensor_t tensor = checkpoint_[checkpoint_.index(name)];
  const bool fits = std::equal(shape.begin(), shape.end(), tensor.shape, tensor.shape + tensor.rank);
  if (!fits || std::string(tensor.dtype) != "F32") {
    throw std::invalid_argument(name + " is " + tensor.dtype + shape_text(tensor.shape, tensor.rank) +
                                "; the encoder needs F32" + shape_text(shape.data(), shape.size()));
  }
  return {name, tensor.data, tensor.bytes};
}

void Model::add_word_rows() {
  const std::string name = "embeddings.word_embeddings.weight";
  const auto hidden = static_cast<std::uint64_t>(hidden_);
  const Weight table = weight(name, {static_cast<std::uint64_t>(vocabulary_), hidden});
  const std::uint64_t row_bytes = hidden * sizeof(float);
  for (std::int64_t first = 0; first < vocabulary_; first += rows_per_unit) {
    const std::int64_t rows = std::min(rows_per_unit, vocabulary_ - first);
    const std::string part = "[" + std::to_string(first) + ":" + std::to_string(first + rows) + "]";
    const void* bytes = static_cast<const std::byte*>(table.bytes) + static_cast<std::uint64_t>(first) * row_bytes;
    units_.push_back({Kind::word_rows,
                      "words" + part,
                      {{name + part, bytes, static_cast<std::uint64_t>(rows) * row_bytes}},
                      first,
                      rows});
  }
}

void Model::add_embeddings() {
  const auto hidden = static_cast<std::uint64_t>(hidden_);
  units_.push_back({Kind::embeddings,
                    "embeddings",
                    {weight("embeddings.position_embeddings.weight", {static_cast<std::uint64_t>(positions_), hidden}),
                     weight("embeddings.token_type_embeddings.weight", {2, hidden}),
                     weight("embeddings.LayerNorm.weight", {hidden}), weight("embeddings.LayerNorm.bias", {hidden})}});
}

void Model::add_layer(const std::string& prefix) {
  const auto hidden = static_cast<std::uint64_t>(hidden_);
  const auto inner = static_cast<std::uint64_t>(inner_);
  Unit attention{Kind::attention, prefix + ".attention", {}};
  for (const char* part : {".self.query", ".self.key", ".self.value", ".output.dense"}) {
    attention.weights.push_back(weight(attention.name + part + ".weight", {hidden, hidden}));
    attention.weights.push_back(weight(attention.name + part + ".bias", {hidden}));
  }
  attention.weights.push_back(weight(attention.name + ".output.LayerNorm.weight", {hidden}));
  attention.weights.push_back(weight(attention.name + ".output.LayerNorm.bias", {hidden}));
  units_.push_back(std::move(attention));
  units_.push_back(
      {Kind::feed_forward,
       prefix + ".feed_forward",
       {weight(prefix + ".intermediate.dense.weight", {inner, hidden}),
        weight(prefix + ".intermediate.dense.bias", {inner}), weight(prefix + ".output.dense.weight", {hidden, inner}),
        weight(prefix + ".output.dense.bias", {hidden}), weight(prefix + ".output.LayerNorm.weight", {hidden}),
        weight(prefix + ".output.LayerNorm.bias", {hidden})}});
}

std::uint64_t Model::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const Unit& unit : units_) {
    for (const Weight& weight : unit.weights) sum += weight.size;
  }
  return sum;
}

std::size_t Model::tensors() const noexcept {
  std::size_t count = 0;
  for (const Unit& unit : units_) count += unit.weights.size();
  return count;
}

}  // namespace encoder
