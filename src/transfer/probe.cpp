// SPDX-License-Identifier: Apache-2.0
#include "transfer/probe.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"

namespace hoist {
namespace {

constexpr std::uint64_t page = 4096;
constexpr double patience_us = 40e3;

}  // namespace

Probe::Probe(Device& device, std::uint64_t bytes) : device_(device), bytes_((std::max(bytes, page) / page) * page) {
  std::uint64_t free = 0;
  std::uint64_t total = 0;
  device_.query_memory(free, total);
  while (bytes_ > page && 4 * bytes_ > free) bytes_ = bytes_ / 2 / page * page;
  try {
    for (Direction& direction : directions_) take(direction);
    warm_up();
  } catch (...) {
    for (Direction& direction : directions_) give_back(direction);
    throw;
  }
}

Probe::~Probe() {
  for (Direction& direction : directions_) give_back(direction);
}

void Probe::take(Direction& direction) {
  direction.device_memory = device_.memory_create(bytes_);
  void* host = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (host == MAP_FAILED) fail(HOIST_ERROR_OUT_OF_MEMORY, text("no ", bytes_, " bytes of host memory to measure with"));
  direction.host_memory = host;
  device_.host_register(host, bytes_);
  direction.registered = true;
  direction.stream = device_.stream_create();
  direction.begin = device_.event_create();
  direction.end = device_.event_create();
}

void Probe::give_back(Direction& direction) noexcept {
  if (direction.stream != nullptr) device_.stream_destroy(direction.stream);
  if (direction.begin != nullptr) device_.event_destroy(direction.begin);
  if (direction.end != nullptr) device_.event_destroy(direction.end);
  if (direction.registered) device_.host_unregister(direction.host_memory, bytes_);
  if (direction.host_memory != nullptr) munmap(direction.host_memory, bytes_);
  if (direction.device_memory != nullptr) device_.memory_destroy(direction.device_memory);
  direction = {};
}

// First touches are no property of a link. A small copy first: its time says whether the whole can be had.
void Probe::warm_up() {
  const double small = time_us(HOIST_COPY_H2D, std::min<std::uint64_t>(bytes_, 16 * page));
  const double pieces = static_cast<double>(bytes_) / static_cast<double>(16 * page);
  if (exact() || small * pieces > patience_us / 8) return;
  for (Direction& direction : directions_) {
    device_.copy(direction.stream, HOIST_COPY_H2D, direction.device_memory, direction.host_memory, bytes_);
    device_.stream_wait(direction.stream);
  }
}

void Probe::submit(Direction& direction, hoist_copy_kind_t kind, std::uint64_t bytes) {
  const bool down = kind == HOIST_COPY_D2H;
  device_.copy(direction.stream, kind, down ? direction.host_memory : direction.device_memory,
               down ? direction.device_memory : direction.host_memory, bytes);
}

double Probe::time_us(hoist_copy_kind_t kind, std::uint64_t bytes) {
  Direction& direction = directions_[kind == HOIST_COPY_D2H ? 1 : 0];
  device_.event_record(direction.begin, direction.stream);
  submit(direction, kind, bytes);
  device_.event_record(direction.end, direction.stream);
  device_.event_wait(direction.end);
  return device_.event_elapsed_us(direction.begin, direction.end);
}

double Probe::median_us(hoist_copy_kind_t kind, std::uint64_t bytes) {
  constexpr std::size_t most = 7;
  std::array<double, most> times{};
  std::size_t count = 0;
  while (count < most) {
    const double us = time_us(kind, bytes);
    times[count++] = us;
    const bool enough = count >= 3 && us * static_cast<double>(count) > 3000;
    if (enough || exact() || !has_time_for(us)) break;
  }
  std::sort(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(count));
  return times[count / 2];
}

double Probe::both_us(std::uint64_t bytes) {
  Direction& up = directions_[0];
  Direction& down = directions_[1];
  device_.event_record(up.begin, up.stream);
  device_.stream_wait_event(down.stream, up.begin);
  submit(up, HOIST_COPY_H2D, bytes);
  submit(down, HOIST_COPY_D2H, bytes);
  device_.event_record(up.end, up.stream);
  device_.event_record(down.end, down.stream);
  device_.event_wait(up.end);
  device_.event_wait(down.end);
  return std::max(device_.event_elapsed_us(up.begin, up.end), device_.event_elapsed_us(up.begin, down.end));
}

bool Probe::exact() const { return device_.has(HOIST_CAPABILITY_VIRTUAL_CLOCK); }

bool Probe::has_time_for(double us) const {
  if (exact()) return true;  // modelled times are nobody's waiting
  const auto spent = std::chrono::steady_clock::now() - started_;
  return std::chrono::duration<double, std::micro>(spent).count() + us < patience_us;
}

}  // namespace hoist
