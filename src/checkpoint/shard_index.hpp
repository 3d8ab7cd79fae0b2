// SPDX-License-Identifier: Apache-2.0
// MODEL.safetensors.index.json: which shard holds which tensor.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hoist {

struct ShardIndex {
  struct Entry {
    std::string tensor;
    std::size_t shard = 0;  // index into shards
  };
  std::vector<std::string> shards;  // file names, sorted, each once
  std::vector<Entry> entries;
};

// Throws Error(CORRUPT) naming path, tensor and byte. Shards must lie beside the index, in its folder or below.
ShardIndex read_shard_index(const std::string& path, std::string_view json);

}  // namespace hoist
