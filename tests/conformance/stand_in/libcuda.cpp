// SPDX-License-Identifier: Apache-2.0
// A stand-in for the driver's libcuda.so.1, so that the cuda device's code runs on machines without a GPU: device
// memory is host memory, each stream has a thread, what the driver refuses is refused. STAND_IN_CUDA makes it worse, a
// list with commas between: "no-devices", "no-batches" (a driver of before 12.8), "lacks=NAME", "refuses=NAME:CODE",
// "no-remap" (the attribute), "full" (other processes have the memory), "refuses-pinning", "allocated" (by the driver:
// host memory), "capturing", "slow" (copies take a while), "sticky" (every copy fails as after a broken kernel).
// stand_in_break(N, all) breaks the primary context, or all, at the N-th op from now on; with 0 all is as new. Built
// with STAND_IN_OLD it has the entry of CUDA 11.3, with STAND_IN_ANCIENT none.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "driver.hpp"

namespace stand_in {

thread_local Context* current = nullptr;
thread_local Context* running = nullptr;
thread_local int capture_mode = 0;
thread_local bool in_a_host_function = false;

namespace {

std::string_view moods() {
  const char* given = std::getenv("STAND_IN_CUDA");
  return given == nullptr ? "" : given;
}

template <typename Found>
bool any_mood(Found&& found) {
  std::string_view rest = moods();
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    if (found(rest.substr(0, end))) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

std::atomic<int> breaks_at{0};
std::atomic<bool> breaks_all{false};

struct Contexts {
  std::mutex mutex;
  std::set<Context*> live{primary()};
};
Contexts& contexts() {
  static auto* instance = new Contexts;
  return *instance;
}

Result init(unsigned) { return mood("no-devices") ? no_device : success; }
Result version(int* out) {
  *out = mood("no-batches") ? 12040 : 13000;
  return success;
}
Result error_name(Result code, const char** out) {
  static const std::map<Result, const char*> names = {{invalid_value, "CUDA_ERROR_INVALID_VALUE"},
                                                      {out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                      {no_device, "CUDA_ERROR_NO_DEVICE"},
                                                      {illegal_address, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                      {not_supported, "CUDA_ERROR_NOT_SUPPORTED"}};
  const auto found = names.find(code);
  *out = found == names.end() ? "CUDA_ERROR" : found->second;
  return success;
}
Result error_words(Result, const char** out) {
  *out = "the stand-in says so";
  return success;
}
Result device_count(int* out) {
  *out = 1;
  return success;
}
Result device_get(int* out, int ordinal) {
  *out = ordinal;
  return ordinal == 0 ? success : invalid_device;
}
Result device_name(char* out, int length, int) {
  std::snprintf(out, static_cast<std::size_t>(length), "stand-in for a GPU");
  return success;
}
Result attribute(int* out, int which, int) {
  constexpr int virtual_memory_management = 102;
  *out = which == virtual_memory_management && mood("no-remap") ? 0 : 1;
  return success;
}
Result pci_address(char* out, int bytes, int) {
  std::snprintf(out, static_cast<std::size_t>(bytes), "0000:3B:00.0");
  return success;
}
Result total_memory(std::size_t* out, int) {
  *out = total_bytes;
  return success;
}

Result retain(void** out, int) {
  *out = primary();
  return success;
}
Result release(int) { return success; }
Result get_current(void** out) {
  *out = current;
  return success;
}
Result set_current(void* given) {
  current = static_cast<Context*>(given);
  return success;
}
Result context_create(void** out, unsigned, int) {
  current = new Context;
  *out = current;
  std::lock_guard lock(contexts().mutex);
  contexts().live.insert(current);
  return success;
}
Result context_destroy(void* given) {
  auto* gone = static_cast<Context*>(given);
  std::lock_guard lock(contexts().mutex);
  if (gone == primary() || contexts().live.erase(gone) == 0) return invalid_context;
  if (current == gone) current = nullptr;
  delete gone;
  return success;
}
Result exchange_mode(int* mode) {
  std::swap(*mode, capture_mode);
  return success;
}

// For NAME in "refuses=NAME:CODE": nothing of the call's happens, whatever it is given.
Result refusal() {
  const std::string_view what = mood_value("refuses");
  return static_cast<Result>(std::atoi(std::string(what.substr(what.find(':') + 1)).c_str()));
}

void* own_symbol(std::string_view name) {
  static const std::map<std::string_view, void*> symbols = {{"cuInit", any(init)},
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
                                                            {"cuCtxCreate", any(context_create)},
                                                            {"cuCtxDestroy", any(context_destroy)},
                                                            {"cuThreadExchangeStreamCaptureMode", any(exchange_mode)}};
  const auto found = symbols.find(name);
  return found == symbols.end() ? nullptr : found->second;
}

[[maybe_unused]] Result find(std::string_view name, void** out) {
  if (lacks(name) || (mood("no-batches") && name == "cuMemcpyBatchAsync")) return not_found;
  const std::string_view refused = mood_value("refuses");
  if (refused.substr(0, refused.find(':')) == name) return *out = any(refusal), success;
  for (void* address : {own_symbol(name), memory_symbol(name), work_symbol(name)}) {
    if (address != nullptr) return *out = address, success;
  }
  return not_found;
}

}  // namespace

bool mood(std::string_view word) {
  return any_mood([&](std::string_view each) { return each == word; });
}

std::string_view mood_value(std::string_view key) {
  std::string_view value;
  any_mood([&](std::string_view each) {
    if (each.size() <= key.size() || each.substr(0, key.size()) != key || each[key.size()] != '=') return false;
    value = each.substr(key.size() + 1);
    return true;
  });
  return value;
}

bool lacks(std::string_view symbol) {
  return any_mood([&](std::string_view each) { return each.substr(0, 6) == "lacks=" && each.substr(6) == symbol; });
}

Context* primary() {
  static auto* context = new Context;
  return context;
}

Result in_context() {
  if (in_a_host_function) return not_permitted;
  std::lock_guard lock(contexts().mutex);
  if (contexts().live.count(current) != 1) return invalid_context;
  return current->broken ? illegal_address : success;
}

bool may_run() {
  if (running == primary() && breaks_at > 0 && --breaks_at == 0) break_context(breaks_all ? nullptr : primary());
  return !running->broken;
}

void break_context(Context* context) {
  std::lock_guard lock(contexts().mutex);
  for (Context* each : contexts().live) {
    if (context == nullptr || each == context) each->broken = true;
  }
}

Result apart_from_captures() { return capture_mode == 2 ? in_context() : capture_unsupported; }

Result broken() { return mood("sticky") ? illegal_address : in_context(); }

void arrange_break(int nth, bool all) {
  breaks_all = all;
  breaks_at = nth;
  if (nth != 0) return;
  {
    std::lock_guard lock(contexts().mutex);
    for (Context* each : contexts().live) each->broken = false;
  }
  reset_memory();
}

}  // namespace stand_in

extern "C" __attribute__((visibility("default"))) void stand_in_break(int nth, int all) {
  stand_in::arrange_break(nth, all != 0);
}

#ifndef STAND_IN_ANCIENT
extern "C" __attribute__((visibility("default"))) int cuGetProcAddress(const char* name, void** out, int,
                                                                       std::uint64_t) {
  return stand_in::find(name, out);
}
#ifndef STAND_IN_OLD
extern "C" __attribute__((visibility("default"))) int cuGetProcAddress_v2(const char* name, void** out, int,
                                                                          std::uint64_t, int*) {
  return stand_in::find(name, out);
}
#endif
#endif
