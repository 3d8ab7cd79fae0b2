// SPDX-License-Identifier: Apache-2.0
#include "bench_links.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

namespace tool {
namespace {

constexpr std::uint64_t smallest = 4096;
constexpr std::uint64_t large_bytes = std::uint64_t{256} << 20;

bool is_modelled(const hoist_device_properties_t& facts) {
  return (facts.capabilities & static_cast<std::uint64_t>(HOIST_CAPABILITY_VIRTUAL_CLOCK)) != 0;
}

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Memory on both sides, a stream each way, and events.
class Bench {
 public:
  Bench(const hoist::Device& device, std::uint64_t bytes)
      : bytes_(bytes),
        exact_(is_modelled(device.query())),
        device_memory_{hoist::Memory(device, bytes), hoist::Memory(device, bytes)},
        host_memory_{hoist::HostMemory(device, bytes), hoist::HostMemory(device, bytes)},
        streams_{hoist::Stream(device), hoist::Stream(device), hoist::Stream(device)},
        begin_(device),
        ends_{hoist::Event(device), hoist::Event(device)} {}

  [[nodiscard]] bool pinned() const { return host_memory_[0].pinned() && host_memory_[1].pinned(); }

  double one_way(hoist_copy_kind_t kind, std::uint64_t bytes) {
    return median(bytes, [&] {
      begin_.record(streams_[0]);
      submit(kind, streams_[0], bytes);
      return end_us();
    });
  }

  // From the common begin to the later end.
  double both() {
    return median(bytes_, [&] {
      begin_.record(streams_[0]);
      streams_[1].wait_event(begin_);
      submit(HOIST_COPY_H2D, streams_[0], bytes_);
      submit(HOIST_COPY_D2H, streams_[1], bytes_);
      ends_[1].record(streams_[1]);
      const double up = end_us();
      ends_[1].wait();
      return std::max(up, hoist::elapsed_us(begin_, ends_[1]));
    });
  }

  // Fills go on for longer than the copy takes; they write into memory that no copy of this kind reads.
  double under_load(hoist_copy_kind_t kind) {
    hoist::Memory& idle = device_memory_[kind == HOIST_COPY_H2D ? 1 : 0];
    const double fill_us = median(bytes_, [&] {
      begin_.record(streams_[0]);
      streams_[0].submit_fill(idle.data(), 0x5a, bytes_);
      return end_us();
    });
    const double fills = std::clamp(2 * one_way(kind, bytes_) / std::max(fill_us, 1e-3), 1.0, 500.0);
    return median(bytes_, [&] {
      for (int i = 0; i < static_cast<int>(fills); ++i) streams_[2].submit_fill(idle.data(), 0x5a, bytes_);
      begin_.record(streams_[0]);
      submit(kind, streams_[0], bytes_);
      const double us = end_us();
      streams_[2].wait();
      return us;
    });
  }

  double within() {
    return median(bytes_, [&] {
      begin_.record(streams_[0]);
      streams_[0].submit_copy(HOIST_COPY_D2D, device_memory_[1].data(), device_memory_[0].data(), bytes_);
      return end_us();
    });
  }

  double pageable() {
    const std::vector<char> source(bytes_, 1);
    return median(bytes_, [&] {
      begin_.record(streams_[0]);
      streams_[0].submit_copy(HOIST_COPY_H2D, device_memory_[0].data(), source.data(), bytes_);
      return end_us();
    });
  }

 private:
  void submit(hoist_copy_kind_t kind, hoist::Stream& stream, std::uint64_t bytes) {
    if (kind == HOIST_COPY_H2D) {
      stream.submit_copy(kind, device_memory_[0].data(), host_memory_[0].data(), bytes);
    } else {
      stream.submit_copy(kind, host_memory_[1].data(), device_memory_[1].data(), bytes);
    }
  }
  double end_us() {
    ends_[0].record(streams_[0]);
    ends_[0].wait();
    return hoist::elapsed_us(begin_, ends_[0]);
  }
  // After two that warm up. Modelled times are the same every time.
  template <typename Once>
  double median(std::uint64_t bytes, Once&& once) {
    const int count = exact_ ? 1 : bytes >= (std::uint64_t{64} << 20) ? 5 : 25;
    std::vector<double> times;
    for (int i = exact_ ? 2 : 0; i < count + 2; ++i) {
      const double us = once();
      if (i >= 2 || exact_) times.push_back(us);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

  std::uint64_t bytes_;
  bool exact_;
  hoist::Memory device_memory_[2];
  hoist::HostMemory host_memory_[2];
  hoist::Stream streams_[3];
  hoist::Event begin_;
  hoist::Event ends_[2];
};

std::uint64_t fitting(const hoist::Device& device, std::uint64_t largest) {
  const std::uint64_t most = std::min(largest, device.query_memory().free_bytes / 4);
  std::uint64_t bytes = smallest;
  while (bytes * 2 <= most) bytes *= 2;
  return bytes;
}

double pinning_us(const hoist::Device& device, std::uint64_t bytes) {
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    const double begin = now_us();
    const hoist::HostMemory memory(device, bytes);
    const double us = now_us() - begin;
    best = i == 0 ? us : std::min(best, us);
  }
  return best;
}

}  // namespace

LinkReport measure_links_of(const hoist::Device& device, std::uint64_t largest) {
  LinkReport report;
  report.facts = device.query();
  const std::uint64_t most = fitting(device, largest);
  report.large = std::min(most, large_bytes);
  {
    Bench curve(device, most);
    report.pinned = curve.pinned();
    for (std::uint64_t bytes = smallest; bytes <= most; bytes *= 2) {
      report.curve.push_back({bytes, curve.one_way(HOIST_COPY_H2D, bytes), curve.one_way(HOIST_COPY_D2H, bytes)});
    }
  }
  report.pinning_us = pinning_us(device, most);
  Bench bench(device, report.large);
  report.both_us = bench.both();
  report.h2d_under_load_us = bench.under_load(HOIST_COPY_H2D);
  report.d2h_under_load_us = bench.under_load(HOIST_COPY_D2H);
  report.d2d_us = bench.within();
  report.pageable_us = bench.pageable();
  return report;
}

PeerReport measure_peer(const hoist::Device& from, const hoist::Device& to, std::uint64_t largest) {
  PeerReport report{from.query().name, to.query().name, std::min(fitting(from, largest), fitting(to, largest)), 0, ""};
  try {
    const hoist::Memory source(from, report.bytes);
    const hoist::Memory target(to, report.bytes);
    hoist::Stream stream(to);
    hoist::Event begin(to), end(to);
    std::vector<double> times;
    for (int i = 0; i < 7; ++i) {
      begin.record(stream);
      stream.submit_copy(HOIST_COPY_D2D, target.data(), source.data(), report.bytes);
      end.record(stream);
      end.wait();
      if (i >= 2) times.push_back(hoist::elapsed_us(begin, end));
    }
    std::sort(times.begin(), times.end());
    report.us = times[times.size() / 2];
  } catch (const hoist::Exception& error) {
    report.refusal = error.message();
  }
  return report;
}

}  // namespace tool
