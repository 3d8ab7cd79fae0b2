// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/checkpoint.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "checkpoint/corrupt.hpp"
#include "checkpoint/shard_index.hpp"

namespace hoist {
namespace {

bool is_index(const std::string& path) { return std::filesystem::path(path).extension() == ".json"; }

}  // namespace

Checkpoint::Checkpoint(const std::string& path) {
  if (is_index(path)) {
    open_shards(path);
  } else {
    add_file(path);
    index_names();
  }
}

void Checkpoint::add_file(const std::string& path) {
  MappedFile file(path);
  for (HeaderTensor& tensor : read_header(path, file.contents())) {
    tensors_.push_back({std::move(tensor), static_cast<std::uint32_t>(files_.size())});
  }
  files_.push_back(std::move(file));
}

void Checkpoint::index_names() {
  names_.reserve(tensors_.size());
  for (std::uint64_t i = 0; i < tensors_.size(); ++i) {
    const Tensor& tensor = tensors_[i];
    const auto [found, added] = names_.emplace(tensor.name, i);
    if (added) continue;
    const std::string& first = files_[tensors_[found->second].file].path();
    corrupt({files_[tensor.file].path(), tensor.name, tensor.offset},
            text("a tensor of this name is in ", first, " too"), "keep it in one shard only");
  }
}

void Checkpoint::open_shards(const std::string& index_path) {
  const MappedFile index_file(index_path);
  const ShardIndex index = read_shard_index(index_path, index_file.contents());
  const std::filesystem::path folder = std::filesystem::path(index_path).parent_path();
  for (const std::string& shard : index.shards) {
    const std::string path = (folder / shard).string();
    if (std::error_code unknown; !std::filesystem::exists(path, unknown)) {
      fail(HOIST_ERROR_NOT_FOUND, text(index_path, " names the shard ", path, ", which does not exist"),
           "fetch the missing shard into the index's folder");
    }
    add_file(path);
  }
  index_names();
  for (const ShardIndex::Entry& entry : index.entries) {
    const auto found = names_.find(entry.tensor);
    const std::string& claimed = files_[entry.shard].path();
    if (found == names_.end())
      corrupt({claimed, entry.tensor, 0}, text("not in it, although ", index_path, " says so"));
    const Tensor& tensor = tensors_[found->second];
    if (tensor.file == entry.shard) continue;
    corrupt({files_[tensor.file].path(), entry.tensor, tensor.offset},
            text(index_path, " says that it is in ", claimed));
  }
}

const std::byte* Checkpoint::data(const Tensor& tensor) const noexcept {
  return tensor.bytes == 0 ? nullptr : files_[tensor.file].data() + tensor.offset;
}

std::uint64_t Checkpoint::find(std::string_view name) const {
  const auto found = names_.find(name);
  if (found != names_.end()) return found->second;
  std::vector<std::string_view> known;
  known.reserve(tensors_.size());
  for (const Tensor& tensor : tensors_) known.push_back(tensor.name);
  fail(HOIST_ERROR_NOT_FOUND, text("the checkpoint has no tensor ", quote_name(name)), nearest_hint(name, known));
}

}  // namespace hoist
