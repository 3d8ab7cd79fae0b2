// SPDX-License-Identifier: Apache-2.0
// What a unit's begin and end cost on the host in the steady state, and how much of it is hoist's own: the device's
// table is registered once more with a clock around every slot. Usage: units_bench [kind of device, such as cuda] [KiB]
// [fence]. With KiB, every call of the device reads and executes so much besides: a driver leaves cold caches behind.
// With fence, a call is over when its writes have left the core: a doorbell's takes long, and delays what comes after
// it.
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "budget/budget.hpp"
#include "device/registry.hpp"
#include "device/services.hpp"
#include "offload/manager.hpp"

extern "C" hoist_status_t hoist_host_plugin_init(std::uint32_t, const hoist_device_services_t*, hoist_device_ops_t*);
extern "C" hoist_status_t hoist_cuda_plugin_init(std::uint32_t, const hoist_device_services_t*, hoist_device_ops_t*);

namespace hoist {
namespace {

constexpr std::uint32_t units = 64;
constexpr std::uint32_t tensors = 9;

double system_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// In some virtual machines a read of the system's clock takes 0.4 us, as long as what is measured.
#if defined(__x86_64__)
std::uint64_t ticks() { return __rdtsc(); }
#else
std::uint64_t ticks() { return static_cast<std::uint64_t>(system_us() * 1000); }
#endif

double ticks_per_us() {
  const double begin_us = system_us();
  const std::uint64_t begin = ticks();
  while (system_us() - begin_us < 50000) {
  }
  return static_cast<double>(ticks() - begin) / (system_us() - begin_us);
}

hoist_device_ops_t inner;  // the device's own table
std::uint64_t inside = 0;  // ticks spent in it
std::uint64_t calls = 0;
std::uint64_t copies = 0;   // calls that copy
std::uint64_t records = 0;  // events recorded
std::uint64_t waits = 0;    // streams told to wait
std::uint64_t others = 0;
std::vector<std::uint64_t> evicting;
volatile std::uint64_t sink = 0;
bool fences = false;

// Code that does nothing, so long: what ran before must be fetched anew.
void (*code_of(std::size_t bytes))() {
#if defined(__x86_64__)
  constexpr unsigned char nop[] = {0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0};
  void* memory = mmap(nullptr, bytes + 8, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* at = static_cast<unsigned char*>(memory);
  for (std::size_t i = 0; i < bytes; i += sizeof nop) std::memcpy(at + i, nop, sizeof nop);
  at[bytes] = 0xc3;
  return reinterpret_cast<void (*)()>(memory);
#else
  return bytes == 0 ? nullptr : nullptr;
#endif
}
void (*code)() = nullptr;

void evict() {
  if (code != nullptr) code();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < evicting.size(); i += 8) sum += evicting[i];
  sink = sum;
}

struct Inside {
  const std::uint64_t began = ticks();
  ~Inside() {
    if (!evicting.empty()) evict();
    if (fences) std::atomic_thread_fence(std::memory_order_seq_cst);
    inside += ticks() - began;
    ++calls;
  }
};

void register_timed(const std::string& kind) {
  const auto init = kind == "cuda" ? hoist_cuda_plugin_init : hoist_host_plugin_init;
  inner.struct_size = sizeof inner;
  if (init(HOIST_DEVICE_ABI_VERSION, &device_services(), &inner) != HOIST_OK) {
    fail(HOIST_ERROR_UNSUPPORTED, "the kind does not offer its table");
  }
  hoist_device_ops_t ops = inner;
  ops.name = "timed";
#define TIMED(slot, count)      \
  ops.slot = [](auto... args) { \
    const Inside timed;         \
    ++count;                    \
    return inner.slot(args...); \
  }
  TIMED(event_record, records);
  TIMED(event_poll, others);
  TIMED(event_wait, others);
  TIMED(event_get_elapsed, others);
  TIMED(stream_wait_event, waits);
  TIMED(copy, copies);
  if (inner.copy_batch != nullptr) TIMED(copy_batch, copies);
  TIMED(fill, others);
#undef TIMED
  static_cast<void>(register_device(ops));
}

// Of a read of the clock, in ticks: every call above adds one outside of its own span. The least of several: others
// want the core too.
double clock_ticks() {
  constexpr int reads = 10000;
  double least = 1e9;
  for (int round = 0; round < 20; ++round) {
    const std::uint64_t begin = ticks();
    for (int i = 1; i < reads; ++i) static_cast<void>(ticks());
    least = std::min(least, static_cast<double>(ticks() - begin) / reads);
  }
  return least;
}

void add_units(Manager& manager, std::vector<char>& host) {
  for (std::uint32_t unit = 0; unit < units; ++unit) {
    manager.add_unit("u" + std::to_string(unit));
    for (std::uint32_t tensor = 0; tensor < tensors; ++tensor) {
      TensorSpec spec;
      spec.name = "u" + std::to_string(unit) + "." + std::to_string(tensor);
      spec.bytes = host.size();
      spec.host = host.data();
      spec.flags = HOIST_TENSOR_COPY;
      manager.add_tensor(unit, spec);
    }
  }
  manager.commit();
}

struct Pair {
  double all_us = 0;
  double own_us = 0;
  double calls = 0;
  double copies = 0;
  double records = 0;
  double waits = 0;
};

Pair run_step(Budget& budget, Manager& manager, void* stream, double clock, double rate) {
  budget.step_begin(stream);
  inside = calls = copies = records = waits = 0;
  std::uint64_t pairs = 0;
  for (std::uint32_t unit = 0; unit < units; ++unit) {
    const std::uint64_t begin = ticks();
    manager.unit_begin(unit, stream);
    manager.unit_end(unit, stream);
    pairs += ticks() - begin;
  }
  const double all = static_cast<double>(pairs) - units * clock;
  const double own = all - static_cast<double>(inside) - static_cast<double>(calls) * clock;
  const auto a_unit = [](std::uint64_t count) { return static_cast<double>(count) / units; };
  const Pair pair = {all / rate / units, own / rate / units, a_unit(calls),
                     a_unit(copies),     a_unit(records),    a_unit(waits)};
  budget.step_end();
  return pair;
}

void measure(const std::shared_ptr<Device>& device, double share, double rate) {
  void* stream = device->stream_create();
  std::vector<char> host(512, 1);
  {
    BudgetOptions options;
    options.share = share;
    const auto budget = std::make_shared<Budget>(device, options);
    Manager manager(budget);
    add_units(manager, host);
    const double clock = clock_ticks();
    std::vector<Pair> pairs;
    for (int step = 0; step < 110; ++step) {
      const Pair pair = run_step(*budget, manager, stream, clock, rate);
      device->stream_wait(stream);
      if (step >= 10) pairs.push_back(pair);
    }
    std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.own_us < b.own_us; });
    const Pair& median = pairs[pairs.size() / 2];
    const double loads = static_cast<double>(budget->status().last_step_h2d_bytes / host.size()) / units;
    std::printf(
        "budget %3.0f %%: %4.1f loads a unit; a pair %6.2f us with %4.1f calls of the device (%.1f copy, %.1f record, "
        "%.1f "
        "wait), of it hoist %5.2f us\n",
        100 * share, loads, median.all_us, median.calls, median.copies, median.records, median.waits, median.own_us);
  }
  device->stream_destroy(stream);
}

void run(const std::string& kind) {
  register_timed(kind);
  const auto device = Device::open("timed:0");
  std::printf("%s: %s, %u units of %u tensors\n", kind.c_str(), device->properties().description, units, tensors);
  const double rate = ticks_per_us();
  for (double share : {1.0, 0.75, 0.5, 0.25}) measure(device, share, rate);
}

}  // namespace
}  // namespace hoist

int main(int argc, char** argv) {
  try {
    if (argc > 2) hoist::evicting.resize(std::stoul(argv[2]) * 128);
    if (!hoist::evicting.empty()) hoist::code = hoist::code_of(hoist::evicting.size() * 8);
    hoist::fences = argc > 3 && std::string("fence") == argv[3];
    hoist::run(argc > 1 ? argv[1] : "cuda");
    return 0;
  } catch (const hoist::Error& error) {
    std::printf("units: nothing was measured: %s; %s\n", error.what(), error.hint().c_str());
    return error.code() == HOIST_ERROR_NOT_FOUND ? 0 : 1;
  }
}
