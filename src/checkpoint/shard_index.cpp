// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/shard_index.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "base/error.hpp"
#include "base/json_fault.hpp"
#include "checkpoint/corrupt.hpp"

namespace hoist {
namespace {

using nlohmann::json;
using Pairs = std::vector<std::pair<std::string, std::string>>;

// Keeps what a plain parse would drop: a tensor that the map names twice.
class RepeatGuard {
 public:
  explicit RepeatGuard(const std::string& path) : path_(path) {}

  bool operator()(int depth, json::parse_event_t event, json& value) {
    if (event != json::parse_event_t::key) return true;
    const auto& key = value.get_ref<const std::string&>();
    if (depth == 1) in_map_ = key == "weight_map";
    const bool repeated =
        (depth == 1 && !fields_.insert(key).second) || (depth == 2 && in_map_ && !tensors_.insert(key).second);
    if (repeated) corrupt({path_, {}, 0}, text("the key ", quote_name(key), " comes twice"));
    return true;
  }

 private:
  const std::string& path_;
  bool in_map_ = false;
  std::unordered_set<std::string> fields_;
  std::unordered_set<std::string> tensors_;
};

json parse(const std::string& path, std::string_view document) {
  try {
    RepeatGuard guard(path);
    return json::parse(document, std::ref(guard));
  } catch (const json::exception&) {
    fail(HOIST_ERROR_CORRUPT, text(path, ": not valid JSON: ", json_fault(document)), "fetch or write it again");
  }
}

// A name from a file must not lead out of the checkpoint's folder.
void check_shard_name(const std::string& path, const std::string& tensor, const std::string& shard) {
  const std::filesystem::path name(shard);
  const bool climbs = std::any_of(name.begin(), name.end(), [](const auto& part) { return part == ".."; });
  if (shard.empty() || name.is_absolute() || climbs || shard.find('\0') != std::string::npos) {
    corrupt({path, tensor, 0}, text("its shard ", quote_name(shard), " is not a file name beside the index"));
  }
}

Pairs read_map(const std::string& path, const json& document) {
  const std::string hint = "an index is an object with a weight_map from tensor names to shard file names";
  if (!document.is_object() || !document.contains("weight_map") || !document["weight_map"].is_object()) {
    corrupt({path, {}, 0}, "it has no weight_map object", hint);
  }
  Pairs pairs;
  for (const auto& [tensor, shard] : document["weight_map"].items()) {
    if (!shard.is_string()) corrupt({path, tensor, 0}, "its shard is not a string", hint);
    check_shard_name(path, tensor, shard.get_ref<const std::string&>());
    pairs.emplace_back(tensor, shard.get<std::string>());
  }
  if (pairs.empty()) corrupt({path, {}, 0}, "its weight_map names no tensor", hint);
  return pairs;
}

}  // namespace

ShardIndex read_shard_index(const std::string& path, std::string_view document) {
  const Pairs pairs = read_map(path, parse(path, document));
  std::map<std::string, std::size_t> order;
  for (const auto& [tensor, shard] : pairs) order.emplace(shard, 0);
  ShardIndex index;
  for (auto& [shard, number] : order) {
    number = index.shards.size();
    index.shards.push_back(shard);
  }
  for (const auto& [tensor, shard] : pairs) index.entries.push_back({tensor, order[shard]});
  return index;
}

}  // namespace hoist
