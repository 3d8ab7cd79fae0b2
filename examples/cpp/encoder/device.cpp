// SPDX-License-Identifier: Apache-2.0
#include "device.hpp"

#include <cstdio>
#include <stdexcept>

#include "cuda_forward.hpp"
#include "cuda_libraries.hpp"

namespace encoder {
namespace {

// A copy on the host device is a memcpy, too fast to show anything: slow it down to a link's pace.
constexpr const char* throttle = "?h2d_gbps=2&d2h_gbps=2";

bool has(const hoist_device_properties_t& facts, hoist_capability_t capability) {
  return (facts.capabilities & static_cast<std::uint64_t>(capability)) != 0;
}

std::unique_ptr<Place> host_place(const std::string& name, const Model& model, const std::vector<Sentence>& sentences) {
  const bool plain = name.rfind("host:", 0) == 0 && name.find('?') == std::string::npos;
  auto place = std::make_unique<Place>(Place{hoist::Device(plain ? name + throttle : name), {}});
  const hoist_device_properties_t facts = place->device.query();
  if (has(facts, HOIST_CAPABILITY_NO_BYTES)) {
    throw std::invalid_argument(name + " moves no bytes, so there is nothing to compute with");
  }
  if (!has(facts, HOIST_CAPABILITY_HOST_ADDRESSABLE)) {
    std::printf("device     this demo has no arithmetic for %s: using host:0 instead\n", facts.name);
    return host_place("host:0", model, sentences);
  }
  place->arithmetic = on_host(place->device, model, sentences);
  std::printf("device     %s, %s%s\n", facts.name, facts.description,
              plain ? "; link throttled to 2 GB/s, as the host device's own is a memcpy" : "");
  return place;
}

std::unique_ptr<Place> cuda_place(const std::string& name, const Model& model, const std::vector<Sentence>& sentences) {
  auto place = std::make_unique<Place>(Place{hoist::Device(name), {}});
  const hoist_device_properties_t facts = place->device.query();
  try {
    place->arithmetic = on_cuda(place->device, model, sentences);
  } catch (const cuda::Missing& missing) {
    std::printf("device     %s, %s, is here, but %s: using host:0 instead\n", facts.name, facts.description,
                missing.what());
    return host_place("host:0", model, sentences);
  }
  std::printf("device     %s, %s; matrix products by cuBLAS\n", facts.name, facts.description);
  return place;
}

}  // namespace

std::unique_ptr<Place> choose_place(const std::string& name, const Model& model,
                                    const std::vector<Sentence>& sentences) {
  if (name.rfind("cuda:", 0) == 0) return cuda_place(name, model, sentences);
  if (!name.empty()) return host_place(name, model, sentences);
  try {
    return cuda_place("cuda:0", model, sentences);
  } catch (const hoist::Exception& error) {
    // A GPU that cannot be used is news; none is not.
    if (error.code() != HOIST_ERROR_NOT_FOUND) std::printf("device     no cuda:0: %s\n", error.message().c_str());
  }
  return host_place("host:0", model, sentences);
}

}  // namespace encoder
