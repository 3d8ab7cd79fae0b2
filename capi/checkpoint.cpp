// SPDX-License-Identifier: Apache-2.0
#include "hoist/checkpoint.h"

#include <algorithm>
#include <string>

#include "checkpoint/checkpoint.hpp"
#include "guard.hpp"
#include "handle.hpp"
#include "options.hpp"

using namespace hoist;
using namespace hoist::capi;

struct hoist_checkpoint_t : Handle<Checkpoint> {
  static constexpr const char* type = "hoist_checkpoint_t";
};

namespace {

hoist_checkpoint_tensor_t describe(const Checkpoint& checkpoint, const Checkpoint::Tensor& tensor) {
  hoist_checkpoint_tensor_t facts{};
  facts.name = tensor.name.c_str();
  facts.dtype = tensor.dtype->name;
  facts.file = checkpoint.files()[tensor.file].path().c_str();
  facts.data = checkpoint.data(tensor);
  facts.bytes = tensor.bytes;
  facts.offset = tensor.offset;
  facts.rank = static_cast<uint32_t>(tensor.shape.size());
  facts.item_bits = tensor.dtype->bits;
  std::copy(tensor.shape.begin(), tensor.shape.end(), facts.shape);
  return facts;
}

const Checkpoint::Tensor& tensor_at(const Checkpoint& checkpoint, uint64_t index) {
  const uint64_t count = checkpoint.tensors().size();
  if (index < count) return checkpoint.tensors()[index];
  fail(HOIST_ERROR_NOT_FOUND, text("index is ", index, ", but the checkpoint has ", count, " tensors"),
       text("an index below ", count));
}

}  // namespace

hoist_status_t hoist_checkpoint_open(const char* path, hoist_checkpoint_t** out_checkpoint) noexcept {
  return guarded("hoist_checkpoint_open", [&] {
    required(out_checkpoint, "out_checkpoint");
    *out_checkpoint = create_handle<hoist_checkpoint_t>(std::string(&required(path, "path")));
  });
}

void hoist_checkpoint_close(hoist_checkpoint_t* checkpoint) noexcept {
  destroy_handle(checkpoint, "hoist_checkpoint_close");
}

hoist_status_t hoist_checkpoint_get_count(const hoist_checkpoint_t* checkpoint, uint64_t* out_count) noexcept {
  return guarded("hoist_checkpoint_get_count", [&] {
    const Checkpoint& target = value_of(checkpoint, "checkpoint");
    required(out_count, "out_count") = target.tensors().size();
  });
}

hoist_status_t hoist_checkpoint_query_tensor(const hoist_checkpoint_t* checkpoint, uint64_t index,
                                             hoist_checkpoint_tensor_t* out_tensor) noexcept {
  return guarded("hoist_checkpoint_query_tensor", [&] {
    const Checkpoint& target = value_of(checkpoint, "checkpoint");
    write_struct(check_out(out_tensor, "out_tensor"), describe(target, tensor_at(target, index)));
  });
}

hoist_status_t hoist_checkpoint_get_tensor(const hoist_checkpoint_t* checkpoint, const char* name,
                                           uint64_t* out_index) noexcept {
  return guarded("hoist_checkpoint_get_tensor", [&] {
    const Checkpoint& target = value_of(checkpoint, "checkpoint");
    required(out_index, "out_index");
    *out_index = target.find(&required(name, "name"));
  });
}
