// SPDX-License-Identifier: Apache-2.0
// Feeds graphs that were captured. A graph holds, for each unit, a wait for its bytes and a word that it has ended, and
// at its head a host function that says that a replay begins. A thread here then submits that step's copies to a stream
// aside, where each waits for the end of the unit whose memory it takes. doc/design/graphs.md says why this cannot
// hang, and what becomes of replays when work fails. graph_feed.cpp submits, graph_rescue.cpp lets go.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "device/device.hpp"
#include "exec/graph_program.hpp"
#include "exec/replay_marks.hpp"

namespace hoist {

// Held by a shared_ptr.
class GraphRunner final : public LaunchListener, public std::enable_shared_from_this<GraphRunner> {
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
  ~GraphRunner() override;
  GraphRunner(const GraphRunner&) = delete;
  GraphRunner& operator=(const GraphRunner&) = delete;

  // Into the graph that is being captured on a stream.
  void capture_head(void* stream);
  void capture_begin(void* stream, std::uint32_t position);
  void capture_end(void* stream, std::uint32_t position);

  // Replays that have begun run to their end, later ones are held at their head. Throws Error(DEVICE), and holds none,
  // where one has failed since that was told last, and where the device refuses bytes for longer than a second.
  void pause();
  // The same at the end: replays whose bytes are refused are let go, and what failed is told to the log.
  void pause_for_good() noexcept;
  // Everything is where the program has it as a step begins, and nothing is in flight: replays go on.
  void go_on(std::shared_ptr<const GraphProgram> program);
  // As go_on, where not everything is: the next replay tries to bring it.
  void go_on_broken(std::shared_ptr<const GraphProgram> program, std::string why);

  // From any thread: replays that wait for bytes that do not come go on without; returns when they have ended.
  void abort();
  // Throws Error(DEVICE) where the replays starve for longer than a second.
  void require_fed() const;

  void before_launch(void* stream) override;
  void after_launch(void* stream, const std::string& lost) noexcept override;
  void after_wait(void* stream) override;

  [[nodiscard]] Status status() const;
  [[nodiscard]] std::uint64_t begun() const;

 private:
  using Clock = std::chrono::steady_clock;
  // What will never run any more.
  struct Loss {
    bool replay = false;  // the replay, or all of the device
    bool copies = false;  // the stream aside
    std::string why;
    explicit operator bool() const noexcept { return replay || copies; }
  };

  static void on_head(void* self);
  void await_quiet(bool for_good);
  [[nodiscard]] bool is_quiet() const noexcept;  // under the lock: all copies of all replays that have begun have run
  [[nodiscard]] std::uint64_t ended() const noexcept;
  [[nodiscard]] bool starves() const noexcept;
  [[noreturn]] void fail_starved() const;
  void let_heads_go();
  void clear_failed(const std::string& why);
  void tell();
  void serve();

  // graph_feed.cpp
  void run_step(const GraphProgram& program, std::uint64_t number);
  bool submit_step(const GraphProgram& program, std::uint64_t number);
  std::size_t submit_some(const GraphProgram& program, std::size_t from);
  std::size_t submit_words(const std::vector<GraphAction>& actions, std::size_t from);
  std::size_t submit_copies(const std::vector<GraphAction>& actions, std::size_t from);
  void refused(const std::string& why);
  void prime(const GraphProgram& program);

  // graph_rescue.cpp
  [[nodiscard]] Loss find_loss() noexcept;
  [[nodiscard]] bool look();
  void release(const GraphProgram& program, bool forced);
  void run_dry(bool forced);
  void end_replay();
  void renew_aside() noexcept;
  bool bring_back(const GraphProgram& program);
  std::string try_to_bring_back(const GraphProgram& program) noexcept;
  [[nodiscard]] std::uint64_t hold_heads();
  void set_words(std::uint32_t ready, std::uint32_t done) noexcept;

  static std::uint32_t load(std::uint32_t* word) noexcept {
    return std::atomic_ref(*word).load(std::memory_order_acquire);
  }
  static void store(std::uint32_t* word, std::uint32_t value) noexcept {
    std::atomic_ref(*word).store(value, std::memory_order_release);
  }
  [[nodiscard]] std::uint32_t* ready(std::uint32_t position) const noexcept { return words_ + 2 * position; }
  [[nodiscard]] std::uint32_t* done(std::uint32_t position) const noexcept { return words_ + 2 * position + 1; }
  // The step whose copies have run, by the stream aside; whether the newest replay's last unit has ended, by the
  // replay.
  [[nodiscard]] std::uint32_t* finished() const noexcept { return words_ + 2 * positions_; }
  [[nodiscard]] std::uint32_t* over() const noexcept { return words_ + 2 * positions_ + 1; }

  std::shared_ptr<Device> device_;
  const std::uint32_t positions_;
  std::uint32_t* words_ = nullptr;
  void* aside_ = nullptr;  // of the thread alone, and of whoever holds replays that are quiet
  ReplayMarks marks_;

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
  std::string failure_;  // why bytes do not come
  Clock::time_point starving_since_;
  std::string untold_;  // what failed

  // Of the thread alone.
  std::size_t next_ = 0;  // of the step's actions, what has not been submitted
  Loss loss_;
  Clock::time_point looked_;
  std::vector<hoist_word_op_t> ops_;
  std::vector<void*> to_;
  std::vector<const void*> from_;
  std::vector<std::uint64_t> bytes_;
  std::thread thread_;
};

}  // namespace hoist
