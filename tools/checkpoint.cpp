// SPDX-License-Identifier: Apache-2.0
// hoist checkpoint: what a safetensors file, or the shards of an index, hold.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "command.hpp"
#include "hoist/hoist.hpp"
#include "output.hpp"

namespace tool {
namespace {

std::vector<std::uint64_t> shape_of(const hoist_checkpoint_tensor_t& tensor) {
  return {tensor.shape, tensor.shape + tensor.rank};
}

void print(const hoist::Checkpoint& checkpoint) {
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < checkpoint.size(); ++i) {
    const hoist_checkpoint_tensor_t tensor = checkpoint[i];
    bytes += tensor.bytes;
    std::printf("%-11s %-20s %12llu  %s\n", tensor.dtype, nlohmann::json(shape_of(tensor)).dump().c_str(),
                static_cast<unsigned long long>(tensor.bytes), one_line(tensor.name).c_str());
  }
  std::printf("%s, %s\n", count_text(checkpoint.size(), "tensor").c_str(), bytes_text(bytes).c_str());
}

void print_json(const hoist::Checkpoint& checkpoint) {
  auto tensors = nlohmann::ordered_json::array();
  for (std::uint64_t i = 0; i < checkpoint.size(); ++i) {
    const hoist_checkpoint_tensor_t tensor = checkpoint[i];
    tensors.push_back({{"name", tensor.name},
                       {"dtype", tensor.dtype},
                       {"shape", shape_of(tensor)},
                       {"bytes", tensor.bytes},
                       {"file", tensor.file},
                       {"offset", tensor.offset}});
  }
  std::printf("%s\n", nlohmann::ordered_json{{"tensors", std::move(tensors)}}.dump(2).c_str());
}

}  // namespace

void add_checkpoint(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("checkpoint", "Checks a safetensors file or index and lists its tensors");
  auto path = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command->add_option("FILE", *path, "MODEL.safetensors or MODEL.safetensors.index.json")->check(a_path())->required();
  command->add_flag("--json", *json, "Print one JSON object");
  command->callback([path, json] {
    const hoist::Checkpoint checkpoint(*path);
    *json ? print_json(checkpoint) : print(checkpoint);
  });
}

}  // namespace tool
