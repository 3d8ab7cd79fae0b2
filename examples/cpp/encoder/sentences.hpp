// SPDX-License-Identifier: Apache-2.0
// The sentences, their token ids and torch's embeddings of them: what make_reference.py wrote.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace encoder {

struct Sentence {
  std::string text;
  std::vector<std::int64_t> ids;
  std::vector<float> reference;
};

// Throws where the folder's files do not fit together, or an id lies outside of the vocabulary.
std::vector<Sentence> read_sentences(const std::string& folder, std::int64_t vocabulary, std::int64_t positions,
                                     std::int64_t hidden);

}  // namespace encoder
