// SPDX-License-Identifier: Apache-2.0
#include "sentences.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "hoist/hoist.hpp"

namespace encoder {
namespace {

template <typename T>
std::vector<T> values(const hoist::Checkpoint& file, const std::string& name, const std::string& dtype) {
  const hoist_checkpoint_tensor_t tensor = file[file.index(name)];
  if (tensor.dtype != dtype) throw std::invalid_argument(name + " is " + tensor.dtype + ", not " + dtype);
  std::vector<T> result(tensor.bytes / sizeof(T));
  if (!result.empty()) std::memcpy(result.data(), tensor.data, tensor.bytes);  // a file's bytes need no alignment
  return result;
}

}  // namespace

std::vector<Sentence> read_sentences(const std::string& folder, std::int64_t vocabulary, std::int64_t positions,
                                     std::int64_t hidden) {
  std::ifstream lines(folder + "/sentences.txt");
  if (!lines) throw std::invalid_argument("cannot read " + folder + "/sentences.txt");
  const hoist::Checkpoint reference(folder + "/reference.safetensors");
  std::vector<Sentence> sentences;
  for (std::string line; std::getline(lines, line);) {
    const std::string number = std::to_string(sentences.size());
    Sentence sentence{line, values<std::int64_t>(reference, "ids." + number, "I64"),
                      values<float>(reference, "embedding." + number, "F32")};
    const bool known = std::all_of(sentence.ids.begin(), sentence.ids.end(),
                                   [&](std::int64_t id) { return id >= 0 && id < vocabulary; });
    if (!known || sentence.ids.empty() || static_cast<std::int64_t>(sentence.ids.size()) > positions ||
        static_cast<std::int64_t>(sentence.reference.size()) != hidden) {
      throw std::invalid_argument("sentence " + number + " of " + folder + " does not fit the model");
    }
    sentences.push_back(std::move(sentence));
  }
  if (sentences.empty()) throw std::invalid_argument(folder + "/sentences.txt is empty");
  return sentences;
}

}  // namespace encoder
