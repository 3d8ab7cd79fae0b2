// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cuda_device.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>
#include <string_view>

#include "backends/cuda/error.hpp"

namespace hoist_backend::cuda {
namespace {

// What the driver's allocations have, and what vector loads and copy engines like best.
constexpr std::uint64_t alignment = 512;

CUdeviceptr address(const void* memory) { return reinterpret_cast<CUdeviceptr>(memory); }

[[noreturn]] void fail_never_recorded(const char* what) {
  fail(HOIST_ERROR_ORDER, text("the event was never recorded, so ", what, " would mean nothing"), "record it first");
}

}  // namespace

Current::Current(CUcontext context) {
  check(driver().cuCtxGetCurrent(&before_), "cuCtxGetCurrent", "");
  if (before_ == context) return;
  check(driver().cuCtxSetCurrent(context), "cuCtxSetCurrent", "the device's primary context");
  changed_ = true;
}

Current::~Current() {
  if (changed_) driver().cuCtxSetCurrent(before_);
}

const DeviceFacts& CudaDevice::facts_of(std::uint32_t index) {
  const DriverState& state = driver_state();
  if (state.status != HOIST_OK) fail(state.status, state.message, state.hint);
  if (index < count()) return state.devices[index];
  fail(HOIST_ERROR_NOT_FOUND, text("there is no cuda:", index), text("there are ", count(), " devices"));
}

CudaDevice* CudaDevice::open(std::uint32_t index, std::string_view options) {
  const DeviceFacts& facts = facts_of(index);
  if (!options.empty()) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("options '", options, "' are unknown"), "cuda devices have no options");
  }
  if (!facts.unified) {
    fail(HOIST_ERROR_UNSUPPORTED, "the GPU has no unified addressing", "use a GPU of this decade");
  }
  return new CudaDevice(index, facts);
}

CudaDevice::CudaDevice(std::uint32_t index, const DeviceFacts& facts) : index_(index), device_(facts.device) {
  check(driver().cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain", facts.model);
}

// A lost context or a driver that is on its way out at exit is no news here.
CudaDevice::~CudaDevice() {
  if (aside_ != nullptr) driver().cuCtxDestroy(aside_);
  for (const CUdevice peer : peers_) driver().cuDevicePrimaryCtxRelease(peer);
  driver().cuDevicePrimaryCtxRelease(device_);
}

void CudaDevice::describe(std::uint32_t index, hoist_device_properties_t& out) {
  const DeviceFacts& facts = facts_of(index);
  const int version = driver_state().version;
  std::snprintf(out.name, sizeof out.name, "cuda:%u", index);
  std::snprintf(out.description, sizeof out.description, "%s, driver for CUDA %d.%d%s", facts.model, version / 1000,
                version % 1000 / 10, driver().cuMemcpyBatchAsync == nullptr ? ", no batches" : "");
  out.memory_bytes = facts.memory_bytes;
  out.alignment = alignment;
  out.capabilities = capabilities_of(facts);
  out.granularity = facts.granularity;
  constexpr std::int32_t dlpack_cuda = 2;
  out.dlpack_type = dlpack_cuda;
  out.dlpack_index = static_cast<std::int32_t>(index);
  // The kernel writes letters in lower case.
  if (driver().cuDeviceGetPCIBusId(out.pci_address, sizeof out.pci_address, facts.device) != CUDA_SUCCESS) {
    out.pci_address[0] = '\0';
  }
  for (char& letter : out.pci_address) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

// What the driver may lack stays away alone.
std::uint64_t CudaDevice::capabilities_of(const DeviceFacts& facts) {
  const DriverApi& api = driver();
  std::uint64_t able = HOIST_CAPABILITY_ASYNC | HOIST_CAPABILITY_BATCH | HOIST_CAPABILITY_WRAP;
  if (facts.granularity != 0) able |= HOIST_CAPABILITY_REMAP;
  const bool words = api.cuStreamBatchMemOp != nullptr && api.cuMemHostAlloc != nullptr && api.cuMemFreeHost != nullptr;
  if (words) able |= HOIST_CAPABILITY_WORDS;
  const bool graphs = api.cuStreamBeginCapture != nullptr && api.cuStreamEndCapture != nullptr &&
                      api.cuGraphInstantiateWithFlags != nullptr && api.cuGraphLaunch != nullptr &&
                      api.cuGraphDestroy != nullptr && api.cuGraphExecDestroy != nullptr &&
                      api.cuCtxCreate != nullptr && api.cuCtxDestroy != nullptr;
  if (graphs) able |= HOIST_CAPABILITY_GRAPH;
  return able;
}

void CudaDevice::require(hoist_capability_t capability, const char* what) const {
  if ((capabilities_of(facts_of(index_)) & static_cast<std::uint64_t>(capability)) != 0) return;
  fail(HOIST_ERROR_UNSUPPORTED, text("the GPU or its driver has no ", what), "install a newer NVIDIA driver");
}

void CudaDevice::query_memory(std::uint64_t& free, std::uint64_t& total) const {
  const Current current(context_);
  std::size_t is_free = 0;
  std::size_t in_all = 0;
  check(driver().cuMemGetInfo(&is_free, &in_all), "cuMemGetInfo", "");
  free = is_free;
  total = in_all;
}

void CudaDevice::set(std::string_view name, std::string_view value) {
  if (name != "fail") {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("setting '", name, "' is unknown"), "the one setting is 'fail'");
  }
  faults_.set(value);
}

// The host's clock. The GPU's own can only be read through a stream, and both count the same microseconds.
double CudaDevice::now_us() const {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - opened_).count();
}

void CudaDevice::fail_out_of_memory(std::uint64_t bytes) const {
  std::size_t free = 0;
  std::size_t total = 0;
  driver().cuMemGetInfo(&free, &total);
  fail(HOIST_ERROR_OUT_OF_MEMORY,
       text("asked for ", bytes, " bytes of device memory; ", free, " of ", total, " are free"),
       "other processes, and allocators of this one, hold memory too");
}

void* CudaDevice::memory_create(std::uint64_t bytes) {
  const Current current(context_);
  const OutsideCapture outside;
  CUdeviceptr memory = 0;
  const CUresult result = driver().cuMemAlloc(&memory, std::max<std::uint64_t>(bytes, 1));
  if (result == CUDA_ERROR_OUT_OF_MEMORY) fail_out_of_memory(bytes);
  if (result != CUDA_SUCCESS) fail_call(result, "cuMemAlloc", text(bytes, " bytes"));
  return reinterpret_cast<void*>(memory);
}

void CudaDevice::memory_destroy(void* memory) {
  const Current current(context_);
  const OutsideCapture outside;
  check(driver().cuMemFree(address(memory)), "cuMemFree", "");
}

bool CudaDevice::is_pinned(const void* memory, std::uint64_t bytes) {
  for (std::uint64_t at : {std::uint64_t{0}, bytes - 1}) {
    unsigned type = 0;
    const CUresult result =
        driver().cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address(memory) + at);
    if (result != CUDA_SUCCESS || type != CU_MEMORYTYPE_HOST) return false;
  }
  return true;
}

// A refusal is not a failure of the device, and leaves nothing behind that a later call would report.
void CudaDevice::host_register(void* memory, std::uint64_t bytes) {
  if (memory == nullptr || bytes == 0) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("host memory ", memory, " with ", bytes, " bytes cannot be registered"));
  }
  const Current current(context_);
  const OutsideCapture outside;
  const CUresult result = driver().cuMemHostRegister(memory, bytes, CU_MEMHOSTREGISTER_PORTABLE);
  // What the driver itself has allocated it calls an invalid value.
  const bool known = result == CUDA_ERROR_INVALID_VALUE && is_pinned(memory, bytes);
  if (known || result == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED) {
    fail(HOIST_ERROR_ALREADY_EXISTS,
         text("host memory ", memory, " with ", bytes, " bytes is pinned already, or a part is"),
         "what is pinned already needs no registration");
  }
  if (is_sticky(result)) fail_call(result, "cuMemHostRegister", "");
  if (result != CUDA_SUCCESS) {
    const char* name = nullptr;
    driver().cuGetErrorName(result, &name);
    fail(HOIST_ERROR_UNSUPPORTED,
         text("the driver refused to pin ", bytes, " bytes of host memory at ", memory,
              ": cuMemHostRegister: ", name == nullptr ? "an error" : name, " (", static_cast<int>(result), ")"),
         "copies work without, but are slow and may block; look at the limits of locked memory");
  }
  const std::lock_guard lock(mutex_);
  registered_[memory] = bytes;
}

void CudaDevice::host_unregister(void* memory, std::uint64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = registered_.find(memory);
    if (found == registered_.end() || found->second != bytes) {
      fail(HOIST_ERROR_INVALID_ARGUMENT, text("host memory ", memory, " with ", bytes, " bytes is not registered"),
           "unregister exactly what was registered");
    }
    registered_.erase(found);
  }
  const Current current(context_);
  const OutsideCapture outside;
  check(driver().cuMemHostUnregister(memory), "cuMemHostUnregister", "");
}

Stream* CudaDevice::stream_create() {
  const Current current(context_);
  const OutsideCapture outside;
  auto stream = std::make_unique<Stream>();
  check(driver().cuStreamCreate(&stream->handle, CU_STREAM_NON_BLOCKING), "cuStreamCreate", "");
  stream->owned = true;
  stream->context = context_;
  return stream.release();
}

Stream* CudaDevice::stream_wrap(void* native) {
  const Current current(context_);
  auto* handle = static_cast<CUstream>(native);
  CUcontext owner = nullptr;
  check(driver().cuStreamGetCtx(handle, &owner), "cuStreamGetCtx", "the stream to be wrapped");
  if (owner != context_) {
    fail(HOIST_ERROR_INVALID_ARGUMENT,
         text("stream ", native, " belongs to another device or context than cuda:", index_),
         "give a stream of the device's primary context, which the CUDA runtime uses");
  }
  return new Stream{handle, false, context_};
}

void CudaDevice::stream_destroy(Stream* stream) {
  const std::unique_ptr<Stream> gone(stream);
  const Current current(stream->context);
  const OutsideCapture outside;
  // A wait would break the user's capture, and captured work has not even been submitted.
  const CUresult waited = !captures(*stream) ? driver().cuStreamSynchronize(stream->handle) : CUDA_SUCCESS;
  const CUresult result = stream->owned ? driver().cuStreamDestroy(stream->handle) : CUDA_SUCCESS;
  check(waited, "cuStreamSynchronize", "a stream that is destroyed");
  check(result, "cuStreamDestroy", "");
}

void CudaDevice::stream_wait(const Stream& stream) {
  const Current current(stream.context);
  const OutsideCapture outside;
  check(driver().cuStreamSynchronize(stream.handle), "cuStreamSynchronize", "");
}

void CudaDevice::stream_wait_event(const Stream& stream, const Event& event) {
  if (!event.recorded.load(std::memory_order_acquire)) fail_never_recorded("a stream that waits for it");
  const Current current(stream.context);
  check(driver().cuStreamWaitEvent(stream.handle, event.handle, 0), "cuStreamWaitEvent", "");
}

Event* CudaDevice::event_create() {
  const Current current(context_);
  const OutsideCapture outside;
  auto event = std::make_unique<Event>();
  check(driver().cuEventCreate(&event->handle, CU_EVENT_DEFAULT), "cuEventCreate", "");
  return event.release();
}

void CudaDevice::event_destroy(Event* event) {
  const std::unique_ptr<Event> gone(event);
  const Current current(context_);
  const OutsideCapture outside;
  check(driver().cuEventDestroy(event->handle), "cuEventDestroy", "");
}

void CudaDevice::event_record(Event& event, const Stream& stream) {
  const Current current(stream.context);
  // Nobody could wait for it or ask about it, and the capture would carry marks of a step that never ran.
  if (stream.captured || (!stream.owned && captures(stream))) {
    fail(HOIST_ERROR_UNSUPPORTED,
         "the stream is being captured into a CUDA graph: an event recorded there is never reached",
         "run steps outside of the capture");
  }
  check(driver().cuEventRecord(event.handle, stream.handle), "cuEventRecord", "");
  event.recorded.store(true, std::memory_order_release);
}

bool CudaDevice::event_poll(const Event& event) {
  if (!event.recorded.load(std::memory_order_acquire)) return false;
  const Current current(context_);
  const OutsideCapture outside;
  const CUresult result = driver().cuEventQuery(event.handle);
  if (result == CUDA_ERROR_NOT_READY) return false;
  check(result, "cuEventQuery", "");
  return true;
}

void CudaDevice::event_wait(const Event& event) {
  if (!event.recorded.load(std::memory_order_acquire)) fail_never_recorded("waiting for it");
  const Current current(context_);
  const OutsideCapture outside;
  check(driver().cuEventSynchronize(event.handle), "cuEventSynchronize", "");
}

// The driver itself says whether both have been reached: to ask it about each before would be two calls more.
double CudaDevice::event_elapsed_us(const Event& begin, const Event& end) {
  const auto recorded = [](const Event& event) { return event.recorded.load(std::memory_order_acquire); };
  while (recorded(begin) && recorded(end)) {
    const Current current(context_);
    const OutsideCapture outside;
    float ms = 0;
    const CUresult result = driver().cuEventElapsedTime(&ms, begin.handle, end.handle);
    if (result == CUDA_SUCCESS) return static_cast<double>(ms) * 1000;
    if (result != CUDA_ERROR_NOT_READY) check(result, "cuEventElapsedTime", "");
    if (!event_poll(begin) || !event_poll(end)) break;
  }
  fail(HOIST_ERROR_INVALID_STATE, text("the ", event_poll(begin) ? "end" : "begin", " event has not been reached"),
       "wait for both events first");
}

// One that cannot be asked is not capturing: the legacy stream while another captures, or a lost context.
bool CudaDevice::captures(const Stream& stream) {
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  return driver().cuStreamIsCapturing(stream.handle, &capture) == CUDA_SUCCESS &&
         capture != CU_STREAM_CAPTURE_STATUS_NONE;
}

// A peer's memory is read directly where the GPUs can; else, and on any failure, the driver takes it through the host.
void CudaDevice::reach(const void* memory) {
  const DriverApi& api = driver();
  if (count() < 2 || api.cuDeviceCanAccessPeer == nullptr || api.cuCtxEnablePeerAccess == nullptr) return;
  CUdevice owner = 0;
  if (api.cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address(memory)) != CUDA_SUCCESS) return;
  const std::lock_guard lock(mutex_);
  if (owner == device_ || peers_.count(owner) != 0) return;
  int can = 0;
  CUcontext peer = nullptr;
  if (api.cuDevicePrimaryCtxRetain(&peer, owner) != CUDA_SUCCESS) return;
  peers_.insert(owner);
  if (api.cuDeviceCanAccessPeer(&can, device_, owner) == CUDA_SUCCESS && can != 0) api.cuCtxEnablePeerAccess(peer, 0);
}

void CudaDevice::submit_copy(const Stream& stream, hoist_copy_kind_t kind, void* dst, const void* src,
                             std::uint64_t bytes) {
  if (dst == nullptr || src == nullptr) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text(dst == nullptr ? "destination" : "source", " of a copy is NULL"));
  }
  const auto checked = [&](CUresult result, const char* call) {
    if (result != CUDA_SUCCESS) fail_call(result, call, text(bytes, " bytes from ", src, " to ", dst));
  };
  switch (kind) {
    case HOIST_COPY_H2D:
      return checked(driver().cuMemcpyHtoDAsync(address(dst), src, bytes, stream.handle), "cuMemcpyHtoDAsync");
    case HOIST_COPY_D2H:
      return checked(driver().cuMemcpyDtoHAsync(dst, address(src), bytes, stream.handle), "cuMemcpyDtoHAsync");
    case HOIST_COPY_D2D:
      reach(src);
      return checked(driver().cuMemcpyAsync(address(dst), address(src), bytes, stream.handle), "cuMemcpyAsync");
    default:
      fail(HOIST_ERROR_INVALID_ARGUMENT, text("kind of copy is ", static_cast<int>(kind)), "give a HOIST_COPY_ value");
  }
}

void CudaDevice::copy(const Stream& stream, hoist_copy_kind_t kind, void* dst, const void* src, std::uint64_t bytes) {
  const Current current(stream.context);
  submit_copy(stream, kind, dst, src, bytes);
}

void CudaDevice::copy_batch(const Stream& stream, hoist_copy_kind_t kind, std::uint64_t count, void* const* dst,
                            const void* const* src, const std::uint64_t* bytes) {
  static_assert(sizeof(CUdeviceptr) == sizeof(void*) && sizeof(std::size_t) == sizeof(std::uint64_t));
  if (kind != HOIST_COPY_H2D && kind != HOIST_COPY_D2H && kind != HOIST_COPY_D2D) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("kind of copy is ", static_cast<int>(kind)), "give a HOIST_COPY_ value");
  }
  if (count == 0) return;
  const Current current(stream.context);
  // A batch cannot be captured, and the driver refuses the legacy stream: there, copies go one by one.
  if (count == 1 || driver().cuMemcpyBatchAsync == nullptr || stream.handle == nullptr || captures(stream)) {
    for (std::uint64_t i = 0; i < count; ++i) submit_copy(stream, kind, dst[i], src[i], bytes[i]);
    return;
  }
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  std::size_t first = 0;
  std::size_t failed = 0;
  // The driver of 12.8 takes its arrays without const, and does not write to them.
  auto* to = reinterpret_cast<CUdeviceptr*>(const_cast<void**>(dst));
  auto* from = reinterpret_cast<CUdeviceptr*>(const_cast<void**>(src));
  auto* sizes = const_cast<std::size_t*>(reinterpret_cast<const std::size_t*>(bytes));
  const CUresult result =
      driver().cuMemcpyBatchAsync(to, from, sizes, count, &attributes, &first, 1, &failed, stream.handle);
  if (result != CUDA_SUCCESS)
    fail_call(result, "cuMemcpyBatchAsync", text(count, " copies, at the one of index ", failed));
}

void CudaDevice::fill(const Stream& stream, void* dst, std::uint8_t value, std::uint64_t bytes) {
  const Current current(stream.context);
  const CUresult result = driver().cuMemsetD8Async(address(dst), value, bytes, stream.handle);
  if (result != CUDA_SUCCESS) fail_call(result, "cuMemsetD8Async", text(bytes, " bytes at ", dst));
}

void CudaDevice::host_function(const Stream& stream, hoist_host_fn_t function, void* user_data, double) {
  if (function == nullptr) fail(HOIST_ERROR_INVALID_ARGUMENT, "function is NULL");
  const Current current(stream.context);
  check(driver().cuLaunchHostFunc(stream.handle, function, user_data), "cuLaunchHostFunc", "");
}

}  // namespace hoist_backend::cuda
