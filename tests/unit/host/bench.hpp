// SPDX-License-Identifier: Apache-2.0
// What tests of a device need: an open one with streams and events that go by themselves, failures by code.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "device/device.hpp"

namespace hoist {

class Bench {
 public:
  explicit Bench(const std::string& options, int index = 0)
      : device_(Device::open("host:" + std::to_string(index) + "?" + options)) {}
  ~Bench() {
    for (void* stream : streams_) device_->stream_destroy(stream);
    for (void* event : events_) device_->event_destroy(event);
    for (void* memory : memory_) device_->memory_destroy(memory);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  Device* operator->() const { return device_.get(); }
  Device& operator*() const { return *device_; }
  [[nodiscard]] std::shared_ptr<Device> shared() const { return device_; }

  void* stream() { return streams_.emplace_back(device_->stream_create()); }
  void* event() { return events_.emplace_back(device_->event_create()); }
  void* memory(std::uint64_t bytes) { return memory_.emplace_back(device_->memory_create(bytes)); }

  // In stream order; the function lives as long as the bench.
  void call(void* stream, std::function<void()> function, double modelled_us = 0) {
    auto& kept = functions_.emplace_back(std::move(function));
    device_->host_function(
        stream, [](void* user) { (*static_cast<std::function<void()>*>(user))(); }, &kept, modelled_us);
  }
  // The modelled or measured time from the bench's begin event to here would need a wait; this records one.
  void* mark(void* stream) {
    void* event = this->event();
    device_->event_record(event, stream);
    return event;
  }
  double wait_us(void* event) {
    device_->event_wait(event);
    return device_->time_us();
  }

 private:
  std::shared_ptr<Device> device_;
  std::vector<void*> streams_;
  std::vector<void*> events_;
  std::vector<void*> memory_;
  std::deque<std::function<void()>> functions_;
};

// HOIST_OK where nothing was thrown; the message in *message.
template <typename Body>
hoist_status_t status_of(Body&& body, std::string* message = nullptr) {
  try {
    body();
    return HOIST_OK;
  } catch (const Error& error) {
    if (message != nullptr) *message = std::string(error.what()) + " | " + error.hint();
    return error.code();
  }
}

inline const char* const every_mode[] = {"inline", "threaded", "guarded", "virtual"};

// A test over all modes of the host device.
class EachMode : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] std::string mode() const { return GetParam(); }
  [[nodiscard]] std::string options(const std::string& more = {}) const {
    return "mode=" + mode() + (more.empty() ? "" : "&" + more);
  }
  [[nodiscard]] bool asynchronous() const { return mode() == "threaded" || mode() == "virtual"; }
};

inline std::string mode_of(const testing::TestParamInfo<const char*>& info) { return info.param; }

#define HOIST_EACH_MODE(Suite) \
  INSTANTIATE_TEST_SUITE_P(Modes, Suite, testing::ValuesIn(hoist::every_mode), hoist::mode_of)

}  // namespace hoist
