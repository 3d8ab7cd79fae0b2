// SPDX-License-Identifier: Apache-2.0
// Which graphs of a device hold steps, and of whom: whoever feeds their replays hears of each launch, and so of the
// streams whose failures end a replay.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace hoist {

class LaunchListener {
 public:
  virtual ~LaunchListener() = default;
  // In the launching thread. Throws Error(DEVICE) where an earlier replay failed, once.
  virtual void before_launch(void* stream) = 0;
  // What was launched, be it in part, is on the stream; lost says why it will not run, "" where it will.
  virtual void after_launch(void* stream, const std::string& lost) noexcept = 0;
  // A wait for the stream has ended. Throws as before_launch, for replays on that stream.
  virtual void after_wait(void* stream) = 0;
};

class Launches {
 public:
  using Listeners = std::vector<std::weak_ptr<LaunchListener>>;

  void begin_capture(void* stream);
  // A step of the listener's goes into what is being captured on the stream; nothing where others began the capture.
  void expect(void* stream, std::weak_ptr<LaunchListener> listener);
  // The capture has ended. A graph of NULL: nothing came of it.
  void end_capture(void* stream, void* graph);
  void forget(void* graph);
  [[nodiscard]] std::shared_ptr<const Listeners> of(void* graph) const;  // or nullptr
  [[nodiscard]] Listeners all() const;

 private:
  mutable std::mutex mutex_;
  std::map<void*, Listeners> captures_;                         // by stream
  std::map<void*, std::shared_ptr<const Listeners>> by_graph_;  // that hold any
};

}  // namespace hoist
