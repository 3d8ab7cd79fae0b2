// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/driver_api.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "backends/cuda/error.hpp"

namespace hoist_backend::cuda {
namespace {

constexpr const char* library_name = "libcuda.so.1";

// cuGetProcAddress of CUDA 12, or that of 11.3, which has one argument less.
class SymbolSource {
 public:
  explicit SymbolSource(void* library)
      : newer_(reinterpret_cast<Newer>(dlsym(library, "cuGetProcAddress_v2"))),
        older_(reinterpret_cast<Older>(dlsym(library, "cuGetProcAddress"))) {}

  [[nodiscard]] bool usable() const noexcept { return newer_ != nullptr || older_ != nullptr; }

  template <typename Function>
  bool find(const char* name, int version, Function& out) const {
    void* found = nullptr;
    const CUresult result = newer_ != nullptr ? newer_(name, &found, version, legacy_stream, nullptr)
                                              : older_(name, &found, version, legacy_stream);
    if (result != CUDA_SUCCESS || found == nullptr) return false;
    out = reinterpret_cast<Function>(found);
    return true;
  }

 private:
  using Newer = CUresult (*)(const char*, void**, int, std::uint64_t, int*);
  using Older = CUresult (*)(const char*, void**, int, std::uint64_t);
  static constexpr std::uint64_t legacy_stream = 1;  // a wrapped stream 0 is the user's legacy stream

  Newer newer_;
  Older older_;
};

void find_symbols(const SymbolSource& source, DriverApi& api) {
  const auto require = [&](const char* name, int version, auto& out) {
    if (source.find(name, version, out)) return;
    fail(HOIST_ERROR_UNSUPPORTED, text("the driver's ", library_name, " has no ", name),
         "install a newer NVIDIA driver");
  };
#define HOIST_CUDA_FIND(name, version, ...) require(#name, version, api.name);
  HOIST_CUDA_REQUIRED(HOIST_CUDA_FIND)
#undef HOIST_CUDA_FIND
#define HOIST_CUDA_FIND(name, version, ...) source.find(#name, version, api.name);
  HOIST_CUDA_OPTIONAL(HOIST_CUDA_FIND)
#undef HOIST_CUDA_FIND
}

// The driver's own words: driver_state() is not there yet.
std::string words(const DriverApi& api, CUresult result) {
  const char* name = nullptr;
  const char* description = nullptr;
  api.cuGetErrorName(result, &name);
  api.cuGetErrorString(result, &description);
  return text(name == nullptr ? "an error" : name, " (", static_cast<int>(result), "), ",
              description == nullptr ? "unknown to the driver" : description);
}

void check_first(const DriverApi& api, CUresult result, const char* call, const std::string& hint) {
  if (result == CUDA_SUCCESS) return;
  const bool none = result == CUDA_ERROR_NO_DEVICE;
  fail(none ? HOIST_ERROR_NOT_FOUND : HOIST_ERROR_DEVICE, text(call, ": ", words(api, result)), hint);
}

// 0 where anything is missing.
std::uint64_t granularity_of(const DriverApi& api, CUdevice device, int index) {
  const bool whole = api.cuMemGetAllocationGranularity != nullptr && api.cuMemCreate != nullptr &&
                     api.cuMemRelease != nullptr && api.cuMemAddressReserve != nullptr &&
                     api.cuMemAddressFree != nullptr && api.cuMemMap != nullptr && api.cuMemSetAccess != nullptr &&
                     api.cuMemUnmap != nullptr;
  int able = 0;
  constexpr auto asked = CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED;
  if (!whole || api.cuDeviceGetAttribute(&able, asked, device) != CUDA_SUCCESS || able == 0) return 0;
  const CUmemAllocationProp properties = allocation_on(index);
  std::size_t granularity = 0;
  const CUresult result =
      api.cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
  return result == CUDA_SUCCESS ? granularity : 0;
}

DeviceFacts ask_facts(const DriverApi& api, int index, const std::string& hint) {
  DeviceFacts facts;
  std::size_t total = 0;
  int unified = 0;
  check_first(api, api.cuDeviceGet(&facts.device, index), "cuDeviceGet", hint);
  check_first(api, api.cuDeviceGetName(facts.model, sizeof facts.model, facts.device), "cuDeviceGetName", hint);
  check_first(api, api.cuDeviceTotalMem(&total, facts.device), "cuDeviceTotalMem", hint);
  check_first(api, api.cuDeviceGetAttribute(&unified, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, facts.device),
              "cuDeviceGetAttribute", hint);
  facts.memory_bytes = total;
  facts.unified = unified != 0;
  facts.granularity = granularity_of(api, facts.device, index);
  return facts;
}

void initialise(DriverState& state) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string hint = visible == nullptr
                               ? std::string("look at nvidia-smi")
                               : text("CUDA_VISIBLE_DEVICES is '", visible, "'; unset it to see all devices");
  check_first(state.api, state.api.cuInit(0), "cuInit", hint);
  int count = 0;
  check_first(state.api, state.api.cuDeviceGetCount(&count), "cuDeviceGetCount", hint);
  if (count == 0) fail(HOIST_ERROR_NOT_FOUND, "the driver shows no devices", hint);
  std::vector<DeviceFacts> devices;
  for (int index = 0; index < count; ++index) devices.push_back(ask_facts(state.api, index, hint));
  state.devices = std::move(devices);
}

void load(DriverState& state) {
  void* library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);  // never closed: the driver has threads
  if (library == nullptr) {
    const char* why = dlerror();
    fail(HOIST_ERROR_NOT_FOUND,
         text("the NVIDIA driver's ", library_name, " cannot be loaded: ", why == nullptr ? "" : why),
         "install the NVIDIA driver, or use host:0");
  }
  const SymbolSource source(library);
  if (!source.usable()) {
    fail(HOIST_ERROR_UNSUPPORTED,
         text("the driver's ", library_name, " has no cuGetProcAddress: it is older than CUDA 11.3"),
         "install a newer NVIDIA driver");
  }
  find_symbols(source, state.api);
  state.api.cuDriverGetVersion(&state.version);
  initialise(state);
}

DriverState loaded() {
  DriverState state;
  try {
    load(state);
  } catch (const Error& error) {
    state.status = error.code();
    state.message = error.what();
    state.hint = error.hint();
  }
  return state;
}

}  // namespace

const DriverState& driver_state() {
  static const auto* state = new DriverState(loaded());  // never freed: devices may close at exit
  return *state;
}

}  // namespace hoist_backend::cuda
