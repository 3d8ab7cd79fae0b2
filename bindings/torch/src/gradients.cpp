// SPDX-License-Identifier: Apache-2.0
#include "gradients.hpp"

#include <torch/csrc/stable/ops.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace hoist_torch {
namespace {

// Of gradients that wait for their copies: as much as a link brings away in a few milliseconds, beyond the last one.
constexpr std::uint64_t most_held = 128U << 20U;

// Whether the tensor's elements are one range of bytes, in whatever order of its dimensions.
bool is_one_range(const Tensor& tensor) {
  if (tensor.is_contiguous()) return true;
  std::vector<std::pair<std::int64_t, std::int64_t>> dims;
  for (std::int64_t d = 0; d < tensor.dim(); ++d) {
    if (tensor.size(d) != 1) dims.emplace_back(tensor.stride(d), tensor.size(d));
  }
  std::sort(dims.begin(), dims.end());
  std::int64_t elements = 1;
  for (const auto& [stride, size] : dims) {
    if (stride != elements) return false;
    elements *= size;
  }
  return true;
}

// By torch's allocator, which keeps pinned memory for the next step's.
Tensor host_like(const Tensor& tensor, bool pinned) {
  AtenTensorHandle made = nullptr;
  const auto create = pinned ? aoti_torch_empty_strided_pinned : aoti_torch_empty_strided;
  TORCH_ERROR_CODE_CHECK(create(tensor.dim(), tensor.sizes().data(), tensor.strides().data(), dtype_of(tensor),
                                aoti_torch_device_type_cpu(), -1, &made));
  return Tensor(made);
}

template <typename Object, typename Create>
Object* make(Create create, hoist_device_t* device) {
  Object* made = nullptr;
  hoist::check(create(device, &made));
  return made;
}

// On the host device gradients are in torch's memory, not the device's.
void submit_copy(hoist::Stream& stream, void* to, const void* from, std::uint64_t bytes, bool on_host) {
  if (!on_host) return stream.submit_copy(HOIST_COPY_D2H, to, from, bytes);
  stream.submit_host([=] { std::memcpy(to, from, bytes); }, 0);
}

bool trusts() {
  static const bool on = std::getenv("HOIST_TRUST") != nullptr;
  return on;
}

}  // namespace

// A backward that raised has waited for none of them: torch's memory is read and written until they are there.
Gradients::~Gradients() {
  if (!on_the_way_.empty()) static_cast<void>(hoist_event_wait(on_the_way_.back().arrived->get()) == HOIST_OK);
}

Tensor Gradients::send(const Tensor& given, const Streams& streams, hoist_stream_t* compute) {
  auto gradient = std::make_unique<Tensor>(is_one_range(given) ? given : torch::stable::contiguous(given));
  const auto bytes = static_cast<std::uint64_t>(gradient->numel()) * aoti_torch_dtype_element_size(dtype_of(*gradient));
  Tensor host = host_like(*gradient, !streams.on_host());
  if (bytes == 0) return host;
  if (trusts()) std::memset(host.mutable_data_ptr(), 0xFF, bytes);  // NaN, for whoever reads too early
  const std::lock_guard lock(mutex_);
  forget_arrived();
  if (stream_ == nullptr) stream_ = std::make_unique<hoist::Stream>(make<hoist_stream_t>(hoist_stream_create, device_));
  const hoist::Event computed(make<hoist_event_t>(hoist_event_create, device_));
  hoist::check(hoist_event_record(computed.get(), compute));
  stream_->wait_event(computed);
  auto arrived = std::make_shared<hoist::Event>(make<hoist_event_t>(hoist_event_create, device_));
  submit_copy(*stream_, host.mutable_data_ptr(), gradient->mutable_data_ptr(), bytes, streams.on_host());
  arrived->record(*stream_);
  on_the_way_.push_back({++sent_, bytes, std::move(arrived), std::move(gradient), host});
  bytes_ += bytes;
  make_room(streams, compute);
  return host;
}

void Gradients::forget_arrived() {
  while (!on_the_way_.empty() && on_the_way_.front().arrived->poll()) {
    if (on_the_way_.front().gradient != nullptr) bytes_ -= on_the_way_.front().bytes;
    on_the_way_.pop_front();
  }
}

// The memory of a gradient goes to what computes next as soon as that is ordered after the copy, on the device.
void Gradients::make_room(const Streams& streams, hoist_stream_t* compute) {
  for (Sent& sent : on_the_way_) {
    if (bytes_ <= most_held || &sent == &on_the_way_.back()) return;
    if (sent.gradient == nullptr) continue;
    hoist::check(hoist_stream_wait_event(compute, sent.arrived->get()));
    streams.before_compute(compute);
    sent.gradient.reset();
    bytes_ -= sent.bytes;
  }
}

std::uint64_t Gradients::sent() {
  const std::lock_guard lock(mutex_);
  return sent_;
}

void Gradients::wait(std::uint64_t count) {
  std::shared_ptr<hoist::Event> last;
  {
    const std::lock_guard lock(mutex_);
    for (const Sent& sent : on_the_way_) {
      if (sent.number <= count) last = sent.arrived;
    }
  }
  if (last != nullptr) last->wait();
  const std::lock_guard lock(mutex_);
  forget_arrived();
}

}  // namespace hoist_torch
