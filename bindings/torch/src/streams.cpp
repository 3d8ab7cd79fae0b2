// SPDX-License-Identifier: Apache-2.0
#include "streams.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace hoist_torch {
namespace {

using CurrentStream = AOTITorchError (*)(std::int32_t device_index, void** out_stream);

// Builds of torch without CUDA lack the symbol, so that it is looked up and never linked.
CurrentStream current_stream_of_torch() {
  static const auto found = reinterpret_cast<CurrentStream>(dlsym(RTLD_DEFAULT, "aoti_torch_get_current_cuda_stream"));
  static const auto searched = [] {
    void* library = dlopen("libtorch_cuda.so", RTLD_NOLOAD | RTLD_LAZY);
    return library == nullptr ? nullptr
                              : reinterpret_cast<CurrentStream>(dlsym(library, "aoti_torch_get_current_cuda_stream"));
  }();
  return found != nullptr ? found : searched;
}

}  // namespace

Streams::Streams(hoist_device_t* device, Place place)
    : device_(device), place_(place), on_host_(place.type == aoti_torch_device_type_cpu()) {}

Streams::~Streams() {
  for (const auto& [native, stream] : known_) hoist_stream_destroy(stream);
}

hoist_stream_t* Streams::wrap(void* native) {
  hoist_stream_t* stream = nullptr;
  if (on_host_) {
    hoist::check(hoist_stream_create(device_, &stream));
  } else {
    hoist::check(hoist_stream_wrap(device_, native, &stream));
  }
  known_.emplace(native, stream);
  return stream;
}

hoist_stream_t* Streams::current() {
  void* native = nullptr;
  if (!on_host_) {
    const CurrentStream ask = current_stream_of_torch();
    if (ask == nullptr) throw std::runtime_error("hoist.torch: this torch has no CUDA streams (install a CUDA build)");
    TORCH_ERROR_CODE_CHECK(ask(place_.index, &native));
  }
  const std::lock_guard lock(mutex_);  // gradients are sent by whichever thread computes them
  const auto known = known_.find(native);
  return known != known_.end() ? known->second : wrap(native);
}

void Streams::before_compute(hoist_stream_t* stream) const {
  if (on_host_ && !captured_) hoist::check(hoist_stream_wait(stream));
}

}  // namespace hoist_torch
