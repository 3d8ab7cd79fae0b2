// SPDX-License-Identifier: Apache-2.0
// The streams that replays were launched on, each with an event behind the newest launch: a stream whose work has
// failed runs nothing more, and the event says so without a wait.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace hoist {

class ReplayMarks {
 public:
  explicit ReplayMarks(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  ~ReplayMarks();
  ReplayMarks(const ReplayMarks&) = delete;
  ReplayMarks& operator=(const ReplayMarks&) = delete;

  // Something was launched on the stream, by whom it belongs to; lost: it is known to have failed.
  void note(void* stream, const std::string& lost) noexcept;
  [[nodiscard]] bool has(void* stream) const;
  // What failed on one of the streams, but for one; "" for nothing. Waits for none.
  [[nodiscard]] std::string failure(void* but_for = nullptr) noexcept;
  // Whether what was launched on one that has not failed is still to run.
  [[nodiscard]] bool pending() noexcept;
  // Of streams that have failed, since nobody waits for them any more.
  void forget_failed() noexcept;

 private:
  struct Mark {
    void* stream;
    void* event;       // nullptr: it could not be had
    std::string lost;  // "" where the event says
  };
  [[nodiscard]] std::string failure_of(const Mark& mark, bool* reached = nullptr) noexcept;
  void record(Mark& mark) noexcept;

  std::shared_ptr<Device> device_;
  mutable std::mutex mutex_;
  std::vector<Mark> marks_;
};

}  // namespace hoist
