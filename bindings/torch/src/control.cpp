// SPDX-License-Identifier: Apache-2.0
// What the Python side calls beside the ops.
#include "control.hpp"

#include <string>

#include "model.hpp"

namespace hoist_torch {

std::string& failure() noexcept {
  thread_local std::string text;
  return text;
}

}  // namespace hoist_torch

using hoist_torch::guarded;

HOIST_TORCH_API const char* hoist_torch_failure() { return hoist_torch::failure().c_str(); }
HOIST_TORCH_API int hoist_torch_take_failure(hoist_torch::FailureView* out) { return hoist_torch::take_failure(out); }

HOIST_TORCH_API int hoist_torch_open(std::int64_t key, void* manager, void* device, std::int32_t device_type,
                                     std::int32_t device_index, std::int64_t budget) {
  return guarded([&] {
    hoist_torch::open_model(key, std::make_shared<hoist_torch::Model>(
                                     static_cast<hoist_manager_t*>(manager), static_cast<hoist_device_t*>(device),
                                     hoist_torch::Place{device_type, device_index}, budget));
  });
}

HOIST_TORCH_API void hoist_torch_close(std::int64_t key) { hoist_torch::close_model(key); }

HOIST_TORCH_API int hoist_torch_add_leaf(std::int64_t key, std::uint32_t unit, std::uint32_t tensor, std::uint32_t view,
                                         std::uint64_t offset, std::int32_t dtype, std::uint32_t rank,
                                         const std::int64_t* sizes, const std::int64_t* strides) {
  return guarded([&] {
    hoist_torch::find_model(key)->add_leaf(unit, tensor,
                                           {view, offset, dtype, {sizes, sizes + rank}, {strides, strides + rank}});
  });
}

HOIST_TORCH_API int hoist_torch_take(std::int64_t key) {
  return guarded([&] { hoist_torch::find_model(key)->take(); });
}

HOIST_TORCH_API int hoist_torch_take_for_forward(std::int64_t key) {
  return guarded([&] { hoist_torch::find_model(key)->take_for_forward(); });
}

HOIST_TORCH_API int hoist_torch_abort(std::int64_t key) {
  return guarded([&] { hoist_torch::find_model(key)->abort(); });
}

HOIST_TORCH_API int hoist_torch_settle(std::int64_t key) {
  return guarded([&] { hoist_torch::find_model(key)->settle(); });
}

HOIST_TORCH_API std::uint64_t hoist_torch_turn_count() { return hoist_torch::Turn::count(); }

HOIST_TORCH_API std::uint64_t hoist_torch_thread() { return hoist_torch::this_thread(); }

HOIST_TORCH_API int hoist_torch_step(std::int64_t key, std::uint64_t* out_step) {
  return guarded([&] { *out_step = hoist_torch::find_model(key)->step(); });
}

HOIST_TORCH_API int hoist_torch_forward_end(std::int64_t key) {
  return guarded([&] { static_cast<void>(hoist_torch::find_model(key)->forward_end()); });
}

HOIST_TORCH_API int hoist_torch_backward_begin(std::int64_t key, std::uint64_t step, std::uint64_t asker,
                                               std::uint64_t* out_step) {
  return guarded([&] { *out_step = hoist_torch::find_model(key)->backward_begin(step, asker); });
}

HOIST_TORCH_API int hoist_torch_backward_end(std::int64_t key, std::uint64_t step, int failed) {
  return guarded([&] { hoist_torch::find_model(key)->backward_end(step, failed != 0); });
}

HOIST_TORCH_API int hoist_torch_sent(std::int64_t key, std::uint64_t* out_count) {
  return guarded([&] { *out_count = hoist_torch::find_model(key)->gradients().sent(); });
}

HOIST_TORCH_API int hoist_torch_receive(std::int64_t key, std::uint64_t count) {
  return guarded([&] { hoist_torch::find_model(key)->gradients().wait(count); });
}

HOIST_TORCH_API int hoist_torch_drop(std::int64_t key, std::uint64_t step) {
  return guarded([&] { hoist_torch::find_model(key)->drop(step); });
}

HOIST_TORCH_API int hoist_torch_awaits_backward(std::int64_t key, int* out_awaits) {
  return guarded([&] { *out_awaits = hoist_torch::find_model(key)->awaits_backward() ? 1 : 0; });
}

HOIST_TORCH_API int hoist_torch_forget_tensors(std::int64_t key) {
  return guarded([&] { hoist_torch::find_model(key)->forget_tensors(); });
}

HOIST_TORCH_API int hoist_torch_counters(std::int64_t key, std::uint64_t* out_counters) {
  return guarded([&] {
    const auto counters = hoist_torch::find_model(key)->counters();
    out_counters[0] = counters.steps;
    out_counters[1] = counters.fetches;
    out_counters[2] = counters.strays;
    out_counters[3] = counters.mispredicted;
  });
}

HOIST_TORCH_API int hoist_torch_watch(std::int64_t key, hoist_torch::StepWatch watch) {
  return guarded([&] { hoist_torch::find_model(key)->set_watch(watch); });
}

HOIST_TORCH_API int hoist_torch_wake_after(std::int64_t key, std::uint64_t steps) {
  return guarded([&] { hoist_torch::find_model(key)->wake_after(steps); });
}

HOIST_TORCH_API int hoist_torch_watch_buckets(std::int64_t key, int on) {
  return guarded([&] { hoist_torch::find_model(key)->watch_buckets(on != 0); });
}

HOIST_TORCH_API int hoist_torch_capture_begin(std::int64_t key, void** out_stream) {
  return guarded([&] { *out_stream = hoist_torch::find_model(key)->capture_begin(); });
}

HOIST_TORCH_API int hoist_torch_capture_end(std::int64_t key, void** out_graph) {
  return guarded([&] { *out_graph = hoist_torch::find_model(key)->capture_end(); });
}
