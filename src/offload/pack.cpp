// SPDX-License-Identifier: Apache-2.0
// Host bytes into pinned memory, one slab a unit: never two copies of more than one unit at once.
#include <algorithm>

#include "memory/parallel_copy.hpp"
#include "offload/manager.hpp"

namespace hoist {

void Manager::pack() {
  std::vector<std::vector<Tensor*>> by_unit(units_.size());
  for (Tensor& tensor : tensors_) {
    if (!tensor.ready) by_unit[tensor.first_unit].push_back(&tensor);
  }
  // In the order in which a plan packs them, so that what is neighbours there is so here: loads go as one copy then.
  const auto earlier = [alignment = budget_->pinned().tensor_alignment()](const Tensor* a, const Tensor* b) {
    const std::uint64_t size = round_up(a->spec.bytes, alignment);
    const std::uint64_t other = round_up(b->spec.bytes, alignment);
    return size != other ? size > other : a->spec.name < b->spec.name;
  };
  for (auto& tensors : by_unit) {
    std::sort(tensors.begin(), tensors.end(), earlier);
    pack_unit(tensors);
  }
}

// Copies the unit's tensors to where they will be, one after another.
void Manager::fill(const std::vector<Tensor*>& tensors, void* slab) const {
  std::vector<CopyPiece> pieces;
  char* next = static_cast<char*>(slab);
  for (const Tensor* tensor : tensors) {
    const TensorSpec& spec = tensor->spec;
    if (tensor->ready || spec.flags == HOIST_TENSOR_TRANSIENT || spec.bytes == 0) continue;
    pieces.push_back({next, spec.flags == HOIST_TENSOR_COPY ? spec.host : nullptr, spec.bytes});
    next += round_up(spec.bytes, budget_->pinned().tensor_alignment());
  }
  parallel_copy(pieces);
}

void Manager::pack_unit(const std::vector<Tensor*>& tensors) {
  std::uint64_t bytes = 0;
  for (Tensor* tensor : tensors) {
    const TensorSpec& spec = tensor->spec;
    if (spec.flags == HOIST_TENSOR_ADOPT) {
      if (spec.bytes != 0) budget_->pinned().adopt(spec.host, spec.bytes);
      tensor->pinned = spec.host;
      tensor->ready = true;
    } else if (spec.flags != HOIST_TENSOR_TRANSIENT) {
      bytes += round_up(spec.bytes, budget_->pinned().tensor_alignment());
    }
  }
  slabs_.reserve(slabs_.size() + 1);
  char* next = nullptr;
  if (bytes != 0) {
    next = static_cast<char*>(budget_->pinned().allocate(bytes, [&](void* slab) { fill(tensors, slab); }));
    slabs_.push_back(next);
  }
  for (Tensor* tensor : tensors) {
    const TensorSpec& spec = tensor->spec;
    if (tensor->ready) continue;
    tensor->ready = true;
    if (spec.flags == HOIST_TENSOR_TRANSIENT || spec.bytes == 0) continue;
    tensor->pinned = next;
    next += round_up(spec.bytes, budget_->pinned().tensor_alignment());
  }
  for (Tensor* tensor : tensors) release(*tensor);
}

void Manager::release(Tensor& tensor) noexcept {
  if (tensor.spec.release == nullptr) return;
  const hoist_release_fn_t call = tensor.spec.release;
  tensor.spec.release = nullptr;
  call(tensor.spec.user_data);
}

}  // namespace hoist
