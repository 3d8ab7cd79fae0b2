// SPDX-License-Identifier: Apache-2.0
// A stand-in for the driver's libcuda.so.1, so that the cuda device's code runs on machines without a GPU:
// device memory is host memory, everything runs when it is submitted. STAND_IN_CUDA makes it worse:
// "no-devices", "no-batches", "lacks=NAME", "refuses-pinning", "allocated" (by the driver: host memory), "capturing",
// "sticky" (every copy fails as after a broken kernel). Built with STAND_IN_OLD it has the entry of CUDA 11.3, with
// STAND_IN_ANCIENT none.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

namespace {

using Result = int;
constexpr std::uint64_t total_bytes = std::uint64_t{256} << 20;
constexpr std::uint64_t page = 4096;

std::string_view mood() {
  const char* given = std::getenv("STAND_IN_CUDA");
  return given == nullptr ? "" : given;
}

struct Machine {
  std::mutex mutex;
  std::map<std::uintptr_t, std::uint64_t> blocks;
  std::map<std::uintptr_t, std::uint64_t> pinned;
  std::uint64_t used = 0;
};
Machine& machine() {
  static auto* instance = new Machine;
  return *instance;
}

struct Event {
  double us = 0;
};

thread_local void* current = nullptr;
char context;

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// As the driver: a call that needs a context and has none is refused.
Result in_context() { return current == &context ? 0 : 201; }
Result broken() { return mood() == "sticky" ? 700 : in_context(); }

Result init(unsigned) { return mood() == "no-devices" ? 100 : 0; }
Result version(int* out) {
  *out = mood() == "no-batches" ? 12040 : 13000;
  return 0;
}
Result error_name(Result code, const char** out) {
  *out = code == 100 ? "CUDA_ERROR_NO_DEVICE" : code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR";
  return 0;
}
Result error_words(Result, const char** out) {
  *out = "the stand-in says so";
  return 0;
}
Result device_count(int* out) {
  *out = 1;
  return 0;
}
Result device_get(int* out, int ordinal) {
  *out = ordinal;
  return ordinal == 0 ? 0 : 101;
}
Result device_name(char* out, int length, int) {
  std::snprintf(out, static_cast<std::size_t>(length), "stand-in for a GPU");
  return 0;
}
Result attribute(int* out, int, int) {
  *out = 1;
  return 0;
}
Result total_memory(std::size_t* out, int) {
  *out = total_bytes;
  return 0;
}
Result retain(void** out, int) {
  *out = &context;
  return 0;
}
Result release(int) { return 0; }
Result get_current(void** out) {
  *out = current;
  return 0;
}
Result set_current(void* given) {
  current = given;
  return 0;
}
Result memory_info(std::size_t* free, std::size_t* total) {
  std::lock_guard lock(machine().mutex);
  *free = total_bytes - machine().used;
  *total = total_bytes;
  return in_context();
}
Result allocate(unsigned long long* out, std::size_t bytes) {
  std::lock_guard lock(machine().mutex);
  if (bytes > total_bytes - machine().used) return 2;
  void* memory = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  *out = reinterpret_cast<std::uintptr_t>(memory);
  machine().blocks[*out] = bytes;
  machine().used += bytes;
  return in_context();
}
Result release_memory(unsigned long long memory) {
  std::lock_guard lock(machine().mutex);
  const auto found = machine().blocks.find(memory);
  if (found == machine().blocks.end()) return 1;
  machine().used -= found->second;
  machine().blocks.erase(found);
  std::free(reinterpret_cast<void*>(memory));
  return in_context();
}
Result host_register(void* memory, std::size_t bytes, unsigned) {
  if (mood() == "refuses-pinning") return 2;
  if (mood() == "allocated") return 1;  // what the driver says of memory that it allocated itself
  std::lock_guard lock(machine().mutex);
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(memory) / page * page;
  const std::uintptr_t last = (reinterpret_cast<std::uintptr_t>(memory) + bytes + page - 1) / page * page;
  for (const auto& [begin, length] : machine().pinned) {
    if (begin < last && first < begin + length) return 712;
  }
  machine().pinned[first] = last - first;
  return in_context();
}
Result host_unregister(void* memory) {
  std::lock_guard lock(machine().mutex);
  return machine().pinned.erase(reinterpret_cast<std::uintptr_t>(memory) / page * page) == 1 ? in_context() : 713;
}
Result pointer_attribute(void* out, int, unsigned long long memory) {
  if (mood() != "allocated" || memory == 0) return 1;
  *static_cast<unsigned*>(out) = 1;
  return 0;
}
thread_local int capture_mode = 0;
Result exchange_mode(int* mode) {
  std::swap(*mode, capture_mode);
  return 0;
}
Result known(std::uintptr_t memory, std::size_t bytes) {
  std::lock_guard lock(machine().mutex);
  auto found = machine().blocks.upper_bound(memory);
  if (found == machine().blocks.begin()) return 1;
  --found;
  return memory + bytes <= found->first + found->second ? 0 : 1;
}
Result move(std::uintptr_t dst, std::uintptr_t src, std::size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(dst), reinterpret_cast<const void*>(src), bytes);
  return broken();
}
Result pci_address(char* out, int bytes, int) {
  std::snprintf(out, static_cast<std::size_t>(bytes), "0000:3B:00.0");
  return 0;
}
Result copy_up(unsigned long long dst, const void* src, std::size_t bytes, void*) {
  const Result result = known(dst, bytes);
  return result != 0 ? result : move(dst, reinterpret_cast<std::uintptr_t>(src), bytes);
}
Result copy_down(void* dst, unsigned long long src, std::size_t bytes, void*) {
  const Result result = known(src, bytes);
  return result != 0 ? result : move(reinterpret_cast<std::uintptr_t>(dst), src, bytes);
}
Result copy_any(unsigned long long dst, unsigned long long src, std::size_t bytes, void*) {
  return move(dst, src, bytes);
}
Result copy_batch(unsigned long long* dst, unsigned long long* src, std::size_t* bytes, std::size_t count, void*,
                  std::size_t* first, std::size_t attributes, std::size_t* failed, void* stream) {
  if (stream == nullptr || attributes != 1 || first[0] != 0) return 1;
  for (std::size_t i = 0; i < count; ++i) {
    *failed = i;
    if (bytes[i] == 0 || dst[i] == 0 || src[i] == 0) return 1;
    if (const Result result = move(dst[i], src[i], bytes[i]); result != 0) return result;
  }
  return 0;
}
Result fill(unsigned long long dst, unsigned char value, std::size_t bytes, void*) {
  if (const Result result = known(dst, bytes); result != 0) return result;
  std::memset(reinterpret_cast<void*>(dst), value, bytes);
  return broken();
}
Result host_function(void*, void (*function)(void*), void* data) {
  function(data);
  return in_context();
}
Result stream_create(void** out, unsigned flags) {
  *out = new char;
  return flags == 1 ? in_context() : 1;  // no stream of hoist's may wait for the legacy one
}
Result stream_destroy(void* stream) {
  delete static_cast<char*>(stream);
  return in_context();
}
// In a mode other than relaxed a wait would break whatever is being captured.
Result stream_wait(void*) { return capture_mode == 2 ? broken() : 900; }
Result stream_wait_event(void*, void*, unsigned) { return in_context(); }
Result stream_context(void*, void** out) {
  *out = current;
  return 0;
}
Result is_capturing(void*, int* out) {
  *out = mood() == "capturing" ? 1 : 0;
  return in_context();
}
Result event_create(void** out, unsigned) {
  *out = new Event;
  return in_context();
}
Result event_destroy(void* event) {
  delete static_cast<Event*>(event);
  return in_context();
}
Result event_record(void* event, void*) {
  static_cast<Event*>(event)->us = now_us();
  return in_context();
}
Result event_query(void*) { return capture_mode == 2 ? in_context() : 900; }
Result event_elapsed(float* out, void* begin, void* end) {
  *out = static_cast<float>((static_cast<Event*>(end)->us - static_cast<Event*>(begin)->us) / 1000);
  return in_context();
}

struct Symbol {
  std::string_view name;
  void* address;
};

template <typename Function>
void* any(Function* function) {
  return reinterpret_cast<void*>(function);
}

[[maybe_unused]] Result find(std::string_view name, void** out) {
  static const Symbol symbols[] = {{"cuInit", any(init)},
                                   {"cuDriverGetVersion", any(version)},
                                   {"cuGetErrorName", any(error_name)},
                                   {"cuGetErrorString", any(error_words)},
                                   {"cuDeviceGetCount", any(device_count)},
                                   {"cuDeviceGet", any(device_get)},
                                   {"cuDeviceGetName", any(device_name)},
                                   {"cuDeviceGetAttribute", any(attribute)},
                                   {"cuDeviceGetPCIBusId", any(pci_address)},
                                   {"cuDeviceTotalMem", any(total_memory)},
                                   {"cuDevicePrimaryCtxRetain", any(retain)},
                                   {"cuDevicePrimaryCtxRelease", any(release)},
                                   {"cuCtxGetCurrent", any(get_current)},
                                   {"cuCtxSetCurrent", any(set_current)},
                                   {"cuMemGetInfo", any(memory_info)},
                                   {"cuMemAlloc", any(allocate)},
                                   {"cuMemFree", any(release_memory)},
                                   {"cuMemHostRegister", any(host_register)},
                                   {"cuMemHostUnregister", any(host_unregister)},
                                   {"cuMemcpyHtoDAsync", any(copy_up)},
                                   {"cuMemcpyDtoHAsync", any(copy_down)},
                                   {"cuMemcpyAsync", any(copy_any)},
                                   {"cuMemcpyBatchAsync", any(copy_batch)},
                                   {"cuMemsetD8Async", any(fill)},
                                   {"cuLaunchHostFunc", any(host_function)},
                                   {"cuStreamCreate", any(stream_create)},
                                   {"cuStreamDestroy", any(stream_destroy)},
                                   {"cuStreamSynchronize", any(stream_wait)},
                                   {"cuStreamWaitEvent", any(stream_wait_event)},
                                   {"cuStreamGetCtx", any(stream_context)},
                                   {"cuStreamIsCapturing", any(is_capturing)},
                                   {"cuPointerGetAttribute", any(pointer_attribute)},
                                   {"cuThreadExchangeStreamCaptureMode", any(exchange_mode)},
                                   {"cuEventCreate", any(event_create)},
                                   {"cuEventDestroy", any(event_destroy)},
                                   {"cuEventRecord", any(event_record)},
                                   {"cuEventQuery", any(event_query)},
                                   {"cuEventSynchronize", any(event_query)},
                                   {"cuEventElapsedTime", any(event_elapsed)}};
  if (mood().substr(0, 6) == "lacks=" && mood().substr(6) == name) return 500;
  if (mood() == "no-batches" && name == "cuMemcpyBatchAsync") return 500;
  for (const Symbol& symbol : symbols) {
    if (symbol.name != name) continue;
    *out = symbol.address;
    return 0;
  }
  return 500;
}

}  // namespace

#ifndef STAND_IN_ANCIENT
extern "C" __attribute__((visibility("default"))) Result cuGetProcAddress(const char* name, void** out, int,
                                                                          std::uint64_t) {
  return find(name, out);
}
#ifndef STAND_IN_OLD
extern "C" __attribute__((visibility("default"))) Result cuGetProcAddress_v2(const char* name, void** out, int,
                                                                             std::uint64_t, int*) {
  return find(name, out);
}
#endif
#endif
