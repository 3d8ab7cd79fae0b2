// SPDX-License-Identifier: Apache-2.0
// What a unit's begin and end cost on the host in the steady state, and how much of it is hoist's own: the device's
// table is registered once more with a clock around every slot. Usage: units_bench [kind of device, such as cuda]
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdio>
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
double ticks() { return static_cast<double>(__rdtsc()); }
#else
double ticks() { return system_us(); }
#endif

double ticks_per_us() {
  const double begin_us = system_us();
  const double begin = ticks();
  while (system_us() - begin_us < 50000) {
  }
  return (ticks() - begin) / (system_us() - begin_us);
}

double now_us() {
  static const double rate = ticks_per_us();
  return ticks() / rate;
}

hoist_device_ops_t inner;  // the device's own table
double inside_us = 0;      // spent in it
std::uint64_t calls = 0;

struct Inside {
  const double began = now_us();
  ~Inside() {
    inside_us += now_us() - began;
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
#define TIMED(slot)             \
  ops.slot = [](auto... args) { \
    const Inside inside;        \
    return inner.slot(args...); \
  }
  TIMED(event_record);
  TIMED(event_poll);
  TIMED(event_wait);
  TIMED(event_get_elapsed);
  TIMED(stream_wait_event);
  TIMED(copy);
  if (inner.copy_batch != nullptr) TIMED(copy_batch);
  TIMED(fill);
#undef TIMED
  static_cast<void>(register_device(ops));
}

// Of a clock read: every call above adds one outside of its own span. The least of several: others want the core too.
double clock_us() {
  constexpr int reads = 10000;
  double least = 1e9;
  for (int round = 0; round < 20; ++round) {
    const double begin = now_us();
    for (int i = 1; i < reads; ++i) static_cast<void>(now_us());
    least = std::min(least, (now_us() - begin) / reads);
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
};

Pair run_step(Budget& budget, Manager& manager, void* stream, double clock) {
  budget.step_begin(stream);
  inside_us = 0;
  calls = 0;
  double pairs = 0;
  for (std::uint32_t unit = 0; unit < units; ++unit) {
    const double begin = now_us();
    manager.unit_begin(unit, stream);
    manager.unit_end(unit, stream);
    pairs += now_us() - begin - clock;
  }
  const double own = pairs - inside_us - static_cast<double>(calls) * clock;
  const Pair pair = {pairs / units, own / units, static_cast<double>(calls) / units};
  budget.step_end();
  return pair;
}

void measure(const std::shared_ptr<Device>& device, double share) {
  void* stream = device->stream_create();
  std::vector<char> host(512, 1);
  {
    BudgetOptions options;
    options.share = share;
    const auto budget = std::make_shared<Budget>(device, options);
    Manager manager(budget);
    add_units(manager, host);
    const double clock = clock_us();
    std::vector<Pair> pairs;
    for (int step = 0; step < 110; ++step) {
      const Pair pair = run_step(*budget, manager, stream, clock);
      device->stream_wait(stream);
      if (step >= 10) pairs.push_back(pair);
    }
    std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.own_us < b.own_us; });
    const Pair& median = pairs[pairs.size() / 2];
    const double loads = static_cast<double>(budget->status().last_step_h2d_bytes / host.size()) / units;
    std::printf(
        "budget %3.0f %%: %5.1f copies a unit; a pair %6.2f us with %5.1f calls of the device, of it hoist %5.2f us\n",
        100 * share, loads, median.all_us, median.calls, median.own_us);
  }
  device->stream_destroy(stream);
}

void run(const std::string& kind) {
  register_timed(kind);
  const auto device = Device::open("timed:0");
  std::printf("%s: %s, %u units of %u tensors\n", kind.c_str(), device->properties().description, units, tensors);
  for (double share : {1.0, 0.75, 0.5, 0.25}) measure(device, share);
}

}  // namespace
}  // namespace hoist

int main(int argc, char** argv) {
  try {
    hoist::run(argc > 1 ? argv[1] : "cuda");
    return 0;
  } catch (const hoist::Error& error) {
    std::printf("units: nothing was measured: %s; %s\n", error.what(), error.hint().c_str());
    return error.code() == HOIST_ERROR_NOT_FOUND ? 0 : 1;
  }
}
