// SPDX-License-Identifier: Apache-2.0
// Checkpoints: safetensors files, single or sharded.
#pragma once

#include <string>

#include "hoist/checkpoint.h"
#include "hoist/handle.hpp"

namespace hoist {

class Checkpoint : public detail::Handle<hoist_checkpoint_t, hoist_checkpoint_close> {
 public:
  using Handle::Handle;
  explicit Checkpoint(const std::string& path) : Handle(make(hoist_checkpoint_open, detail::c_text(path, "path"))) {}

  [[nodiscard]] std::uint64_t size() const {
    std::uint64_t count = 0;
    check(hoist_checkpoint_get_count(get(), &count));
    return count;
  }
  // Its strings and bytes live as long as the checkpoint.
  [[nodiscard]] hoist_checkpoint_tensor_t operator[](std::uint64_t index) const {
    hoist_checkpoint_tensor_t tensor{};
    tensor.struct_size = sizeof tensor;
    check(hoist_checkpoint_query_tensor(get(), index, &tensor));
    return tensor;
  }
  [[nodiscard]] std::uint64_t index(const std::string& name) const {
    std::uint64_t index = 0;
    check(hoist_checkpoint_get_tensor(get(), detail::c_text(name, "name"), &index));
    return index;
  }
};

}  // namespace hoist
