// SPDX-License-Identifier: Apache-2.0
// What a unit's begin and end cost on the host in the steady state, beside the device's own calls, which are counted
// and timed by replaying them. Usage: units_bench [device, such as cuda:0]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "budget/budget.hpp"
#include "offload/manager.hpp"

namespace hoist {
namespace {

constexpr std::uint32_t units = 64;
constexpr std::uint32_t tensors = 9;

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::shared_ptr<Budget> make_budget(const std::shared_ptr<Device>& device, double share) {
  BudgetOptions options;
  options.share = share;
  return std::make_shared<Budget>(device, options);
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

double pair_us(Budget& budget, Manager& manager, void* stream) {
  double pairs = 0;
  budget.step_begin(stream);
  for (std::uint32_t unit = 0; unit < units; ++unit) {
    const double begin = now_us();
    manager.unit_begin(unit, stream);
    manager.unit_end(unit, stream);
    pairs += now_us() - begin;
  }
  budget.step_end();
  return pairs / units;
}

// The calls of a pair: three records and two waits, and with streaming a record of the loads and their copies.
double calls_us(Device& device, void* stream, void* other, std::uint64_t copies) {
  std::vector<void*> events;
  for (int i = 0; i < 4; ++i) events.push_back(device.event_create());
  void* memory = device.memory_create(512);
  std::vector<char> host(512);
  device.host_register(host.data(), host.size());
  device.event_record(events[3], other);
  std::vector<double> times;
  for (int round = 0; round < 50; ++round) {
    const double begin = now_us();
    for (std::uint32_t unit = 0; unit < units; ++unit) {
      device.event_record(events[0], stream);
      if (copies != 0) device.stream_wait_event(stream, events[3]);
      device.event_record(events[1], stream);
      device.event_record(events[2], stream);
      if (copies == 0) continue;
      device.stream_wait_event(other, events[2]);
      for (std::uint64_t i = 0; i < copies; ++i) {
        device.copy(other, HOIST_COPY_H2D, memory, host.data(), 512);
      }
      device.event_record(events[3], other);
    }
    times.push_back((now_us() - begin) / units);
    device.stream_wait(other);
    device.stream_wait(stream);
  }
  device.host_unregister(host.data(), host.size());
  device.memory_destroy(memory);
  for (void* event : events) device.event_destroy(event);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void measure(const std::shared_ptr<Device>& device, double share) {
  void* stream = device->stream_create();
  void* other = device->stream_create();
  std::vector<char> host(512, 1);
  {
    auto budget = make_budget(device, share);
    Manager manager(budget);
    add_units(manager, host);
    std::vector<double> times;
    for (int step = 0; step < 60; ++step) {
      const double us = pair_us(*budget, manager, stream);
      device->stream_wait(stream);
      if (step >= 10) times.push_back(us);
    }
    std::sort(times.begin(), times.end());
    const std::uint64_t loads = budget->status().last_step_h2d_bytes / host.size();
    std::printf("budget %3.0f %%: a pair %.2f us on the host, %.1f copies in it; its device calls alone %.2f us\n",
                100 * share, times[times.size() / 2], static_cast<double>(loads) / units,
                calls_us(*device, stream, other, (loads + units / 2) / units));
  }
  device->stream_destroy(stream);
  device->stream_destroy(other);
}

int run(const char* name) {
  const auto device = Device::open(name);
  std::printf("%s: %s, %u units of %u tensors\n", device->name().c_str(), device->properties().description, units,
              tensors);
  for (double share : {1.0, 0.75, 0.5, 0.25}) measure(device, share);
  return 0;
}

}  // namespace
}  // namespace hoist

int main(int argc, char** argv) {
  try {
    return hoist::run(argc > 1 ? argv[1] : "cuda:0");
  } catch (const hoist::Error& error) {
    std::printf("units: nothing was measured: %s; %s\n", error.what(), error.hint().c_str());
    return error.code() == HOIST_ERROR_NOT_FOUND ? 0 : 1;
  }
}
