// SPDX-License-Identifier: Apache-2.0
// Feeds graphs that were captured. A graph holds, for each unit, a wait for its bytes and a word that it has ended, and
// at its head a host function that says that a replay begins. A thread here then submits that step's copies to a stream
// aside, where each waits for the end of the unit whose memory it takes. doc/design/graphs.md says why this cannot
// hang.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "device/device.hpp"
#include "exec/graph_program.hpp"

namespace hoist {

class GraphRunner {
 public:
  struct Status {
    std::uint64_t begun = 0;    // replays
    std::uint64_t ended = 0;    // of these, whose copies have all run
    std::uint64_t aborted = 0;  // let go without their bytes
    double last_us = 0;         // from one replay's begin to the next one's
    bool held = false;
    std::string failure;  // why replays wait or were let go; "": all is well
  };

  GraphRunner(std::shared_ptr<Device> device, std::uint32_t positions);
  // No replay is under way, and none begins any more.
  ~GraphRunner();
  GraphRunner(const GraphRunner&) = delete;
  GraphRunner& operator=(const GraphRunner&) = delete;

  // Into the graph that is being captured on a stream.
  void capture_head(void* stream);
  void capture_begin(void* stream, std::uint32_t position);
  void capture_end(void* stream, std::uint32_t position);

  // Replays that have begun run to their end, later ones are held at their head.
  void pause();
  // Everything is where the program has it as a step begins, and nothing is in flight: replays go on.
  void go_on(std::shared_ptr<const GraphProgram> program);
  // As go_on, where not everything is: the next replay tries to bring it.
  void go_on_broken(std::shared_ptr<const GraphProgram> program, std::string why);

  // From any thread: replays that wait for bytes that do not come go on without; returns when they have ended.
  void abort();

  [[nodiscard]] Status status() const;
  [[nodiscard]] std::uint64_t begun() const;

 private:
  static void on_head(void* self);
  void serve();
  void run_step(const GraphProgram& program, std::uint64_t number);
  bool submit_step(const GraphProgram& program, std::uint64_t number);
  std::size_t submit_some(const GraphProgram& program, std::size_t from);
  std::size_t submit_words(const std::vector<GraphAction>& actions, std::size_t from);
  std::size_t submit_copies(const std::vector<GraphAction>& actions, std::size_t from);
  void refused(const std::string& why);
  void run_dry();
  void release_step(const GraphProgram& program);
  void let_go(std::uint64_t number);
  bool bring_back(const GraphProgram& program);
  void prime(const GraphProgram& program);
  void set_words(std::uint32_t ready, std::uint32_t done) noexcept;
  void hold(bool on);
  [[nodiscard]] bool stopping() const;
  [[nodiscard]] std::uint32_t load(std::uint32_t index) const noexcept {
    return std::atomic_ref(words_[index]).load(std::memory_order_acquire);
  }
  void store(std::uint32_t index, std::uint32_t value) noexcept {
    std::atomic_ref(words_[index]).store(value, std::memory_order_release);
  }
  [[nodiscard]] std::uint32_t* ready(std::uint32_t position) noexcept { return words_ + 2 * position; }
  [[nodiscard]] std::uint32_t* done(std::uint32_t position) noexcept { return words_ + 2 * position + 1; }
  [[nodiscard]] std::uint32_t* finished() noexcept { return words_ + 2 * positions_; }
  [[nodiscard]] std::uint32_t* dry() noexcept { return words_ + 2 * positions_ + 1; }

  std::shared_ptr<Device> device_;
  const std::uint32_t positions_;
  std::uint32_t* words_ = nullptr;
  void* aside_ = nullptr;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::shared_ptr<const GraphProgram> program_;
  std::uint64_t begun_ = 0;
  std::uint64_t submitted_ = 0;
  std::uint64_t aborted_ = 0;
  double head_us_ = 0;
  double last_us_ = 0;
  bool held_ = true;        // from outside
  bool releasing_ = false;  // words are in disorder
  bool broken_ = false;     // bytes are missing as a step begins
  bool stopping_ = false;
  std::atomic<bool> abort_wanted_{false};
  std::string failure_;

  // Of the thread alone.
  std::size_t next_ = 0;       // of the step's actions, what has not been submitted
  std::uint64_t drained_ = 0;  // how often the stream aside was asked to run dry
  std::vector<hoist_word_op_t> ops_;
  std::vector<void*> to_;
  std::vector<const void*> from_;
  std::vector<std::uint64_t> bytes_;
  std::thread thread_;
};

}  // namespace hoist
