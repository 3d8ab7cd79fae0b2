// SPDX-License-Identifier: Apache-2.0
#include "tensors.hpp"

namespace hoist_torch {
namespace {

constexpr std::size_t most_kept = 8;  // addresses of one leaf; a plan has one or two

void drop_owner(void*, void* owner) { delete static_cast<std::shared_ptr<void>*>(owner); }

}  // namespace

Tensor over(void* data, const Leaf& leaf, Place place, std::shared_ptr<void> owner) {
  auto kept = std::make_unique<std::shared_ptr<void>>(std::move(owner));
  AtenTensorHandle made = nullptr;
  TORCH_ERROR_CODE_CHECK(torch_from_blob(static_cast<char*>(data) + leaf.offset,
                                         static_cast<std::int64_t>(leaf.sizes.size()), leaf.sizes.data(),
                                         leaf.strides.data(), 0, leaf.dtype, place.type, place.index, &made,
                                         aoti_torch_layout_strided(), nullptr, 0, drop_owner, kept.get()));
  static_cast<void>(kept.release());
  return Tensor(made);
}

std::int32_t dtype_of(const Tensor& tensor) {
  std::int32_t dtype = 0;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(tensor.get(), &dtype));
  return dtype;
}

Tensor same_memory(const Tensor& tensor) {
  const Leaf leaf{0,
                  0,
                  dtype_of(tensor),
                  {tensor.sizes().begin(), tensor.sizes().end()},
                  {tensor.strides().begin(), tensor.strides().end()}};
  return over(tensor.mutable_data_ptr(), leaf, {aoti_torch_device_type_cpu(), -1}, std::make_shared<Tensor>(tensor));
}

Tensor empty(std::vector<std::int64_t> sizes, std::int32_t dtype, Place place) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  AtenTensorHandle made = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(static_cast<std::int64_t>(sizes.size()), sizes.data(), strides.data(),
                                                  dtype, place.type, place.index, &made));
  return Tensor(made);
}

const Tensor& Kept::get(void* data, const Leaf& leaf, Place place, const std::shared_ptr<void>& owner) {
  for (const Entry& entry : entries_) {
    if (entry.data == data) return entry.tensor;
  }
  if (entries_.size() == most_kept) entries_.erase(entries_.begin());
  entries_.push_back({data, over(data, leaf, place, owner)});
  return entries_.back().tensor;
}

}  // namespace hoist_torch
