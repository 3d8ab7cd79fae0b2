// SPDX-License-Identifier: Apache-2.0
// What a machine's links give through hoist's devices: copies by size, both ways at once, small pieces one by one
// and in batches, and host memory pinned and packed at commit. Usage: links_bench [device, such as cuda:0]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "budget/budget.hpp"
#include "memory/device_arena.hpp"
#include "memory/pinned_arena.hpp"
#include "offload/manager.hpp"
#include "transfer/measure.hpp"

namespace hoist {
namespace {

constexpr std::uint64_t largest = std::uint64_t{1} << 30;
constexpr std::uint64_t model_units = 8;
constexpr std::uint64_t unit_bytes = std::uint64_t{660} << 20;

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Links {
 public:
  explicit Links(const std::shared_ptr<Device>& device)
      : device_(device), pinned_(device, 0), up_memory_(device, largest), down_memory_(device, largest) {
    up_host_ = pinned_.allocate(largest);
    down_host_ = pinned_.allocate(largest);
    for (void*& stream : streams_) stream = device_->stream_create();
    for (void*& event : events_) event = device_->event_create();
  }
  ~Links() {
    for (void* stream : streams_) device_->stream_destroy(stream);
    for (void* event : events_) device_->event_destroy(event);
  }
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;

  void curve() {
    std::printf("%-10s %12s %12s %12s %12s\n", "bytes", "h2d us", "h2d GB/s", "d2h us", "d2h GB/s");
    for (std::uint64_t bytes = 4096; bytes <= largest; bytes *= 4) {
      const double up = median([&] { copy(HOIST_COPY_H2D, streams_[0], bytes); }, bytes);
      const double down = median([&] { copy(HOIST_COPY_D2H, streams_[0], bytes); }, bytes);
      std::printf("%-10llu %12.2f %12.2f %12.2f %12.2f\n", static_cast<unsigned long long>(bytes), up,
                  static_cast<double>(bytes) / up / 1e3, down, static_cast<double>(bytes) / down / 1e3);
    }
  }

  void duplex() {
    std::vector<double> times;
    for (int i = 0; i < 5; ++i) {
      device_->event_record(events_[0], streams_[0]);
      device_->stream_wait_event(streams_[1], events_[0]);
      copy(HOIST_COPY_H2D, streams_[0], largest);
      copy(HOIST_COPY_D2H, streams_[1], largest);
      device_->event_record(events_[1], streams_[0]);
      device_->event_record(events_[2], streams_[1]);
      device_->event_wait(events_[1]);
      device_->event_wait(events_[2]);
      times.push_back(std::max(device_->event_elapsed_us(events_[0], events_[1]),
                               device_->event_elapsed_us(events_[0], events_[2])));
    }
    std::sort(times.begin(), times.end());
    std::printf("both ways at once, 1 GiB each: %.1f GB/s in sum\n", 2 * static_cast<double>(largest) / times[2] / 1e3);
  }

  void batches() {
    constexpr std::uint64_t count = 256;
    std::printf("%-10s %16s %16s\n", "256 of", "one by one GB/s", "one batch GB/s");
    for (std::uint64_t bytes : {std::uint64_t{16} << 10, std::uint64_t{256} << 10, std::uint64_t{2} << 20}) {
      std::vector<void*> dst;
      std::vector<const void*> src;
      const std::vector<std::uint64_t> sizes(count, bytes);
      for (std::uint64_t i = 0; i < count; ++i) {
        dst.push_back(static_cast<char*>(up_memory_.base()) + i * bytes);
        src.push_back(static_cast<const char*>(up_host_) + i * bytes);
      }
      const double single = median(
          [&] {
            for (std::uint64_t i = 0; i < count; ++i) device_->copy(streams_[0], HOIST_COPY_H2D, dst[i], src[i], bytes);
          },
          count * bytes);
      const double batch =
          median([&] { device_->copy_batch(streams_[0], HOIST_COPY_H2D, count, dst.data(), src.data(), sizes.data()); },
                 count * bytes);
      std::printf("%-10llu %16.2f %16.2f\n", static_cast<unsigned long long>(bytes),
                  static_cast<double>(count * bytes) / single / 1e3, static_cast<double>(count * bytes) / batch / 1e3);
    }
  }

 private:
  void copy(hoist_copy_kind_t kind, void* stream, std::uint64_t bytes) {
    const bool up = kind == HOIST_COPY_H2D;
    device_->copy(stream, kind, up ? up_memory_.base() : down_host_, up ? up_host_ : down_memory_.base(), bytes);
  }

  // From an empty stream to the end of what `submit` puts there.
  template <typename Submit>
  double median(Submit&& submit, std::uint64_t bytes) {
    std::vector<double> times;
    const int repeats = bytes > (std::uint64_t{64} << 20) ? 7 : 25;
    for (int i = 0; i < repeats + 2; ++i) {
      device_->event_record(events_[0], streams_[0]);
      submit();
      device_->event_record(events_[1], streams_[0]);
      device_->event_wait(events_[1]);
      if (i >= 2) times.push_back(device_->event_elapsed_us(events_[0], events_[1]));
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

  std::shared_ptr<Device> device_;
  PinnedArena pinned_;
  DeviceArena up_memory_;
  DeviceArena down_memory_;
  void* up_host_ = nullptr;
  void* down_host_ = nullptr;
  void* streams_[2] = {};
  void* events_[3] = {};
};

void pin(const std::shared_ptr<Device>& device) {
  PinnedArena arena(device, 0);
  for (int i = 0; i < 3; ++i) {
    const double begin = now_us();
    void* memory = arena.allocate(largest);
    std::printf("pinned arena: 1 GiB in %.1f ms, %.1f GB/s\n", (now_us() - begin) / 1e3,
                static_cast<double>(largest) / (now_us() - begin) / 1e3);
    arena.release(memory);
  }
}

// As a model's weights come: touched host memory, copied by hoist at commit.
void commit(const std::shared_ptr<Device>& device, std::vector<std::vector<char>>& model) {
  BudgetOptions options;
  options.bytes = 2 * unit_bytes;
  auto budget = std::make_shared<Budget>(device, options);
  Manager manager(budget);
  for (std::uint32_t unit = 0; unit < model_units; ++unit) {
    manager.add_unit("u" + std::to_string(unit));
    TensorSpec spec;
    spec.name = "w" + std::to_string(unit);
    spec.bytes = unit_bytes;
    spec.host = model[unit].data();
    spec.flags = HOIST_TENSOR_COPY;
    manager.add_tensor(unit, spec);
  }
  const double begin = now_us();
  manager.commit();
  const double took = now_us() - begin;
  std::printf("commit: %llu units of 660 MiB in %.0f ms, %.1f GB/s\n", static_cast<unsigned long long>(model_units),
              took / 1e3, static_cast<double>(model_units * unit_bytes) / took / 1e3);
}

int run(const char* name) {
  const auto device = Device::open(name);
  std::printf("%s: %s\n", device->name().c_str(), device->properties().description);
  {
    Links links(device);
    links.curve();
    links.duplex();
    links.batches();
  }
  const LinkCurve measured = measure_links(*device);
  std::printf("the planner's: h2d %.2f us + %.1f GB/s, d2h %.2f us + %.1f GB/s, duplex %.3f\n", measured.h2d.latency_us,
              measured.h2d.bytes_per_us / 1e3, measured.d2h.latency_us, measured.d2h.bytes_per_us / 1e3,
              measured.duplex_factor);
  pin(device);
  std::vector<std::vector<char>> model;
  for (std::uint64_t unit = 0; unit < model_units; ++unit) model.emplace_back(unit_bytes, static_cast<char>(unit + 1));
  for (int i = 0; i < 3; ++i) commit(device, model);
  return 0;
}

}  // namespace
}  // namespace hoist

int main(int argc, char** argv) {
  try {
    return hoist::run(argc > 1 ? argv[1] : "cuda:0");
  } catch (const hoist::Error& error) {
    std::printf("links: nothing was measured: %s; %s\n", error.what(), error.hint().c_str());
    return error.code() == HOIST_ERROR_NOT_FOUND ? 0 : 1;
  }
}
