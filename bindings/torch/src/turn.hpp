// SPDX-License-Identifier: Apache-2.0
// Whose turn it is to be inside a model's step: one thread's at a time, from the forward's begin to the backward's end.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>

namespace hoist_torch {

// What whoever gets the turn finds of the step before.
enum class Left : std::uint8_t {
  nothing,
  waiting,  // for a backward that has not come: to be ended
  broken,   // an exception has left it: to be given up
};

// A number for the calling thread, never 0.
std::uint64_t this_thread();

class Turn {
 public:
  // For a forward, or for work between steps. Waits while another thread is inside, and for a while where a step of
  // another thread waits for its backward, which may still come.
  Left take();
  // For a forward inside of a backward that this thread runs: part of its step.
  bool nest();
  bool end_nested();             // whether it was one
  [[nodiscard]] bool taken();    // by this thread, without a step yet
  [[nodiscard]] bool is_mine();  // whether this thread is inside
  void begin();                  // a step, in the turn that was taken
  // The forward is over, its step is not.
  void await_backward();
  void leave();

  struct Joined {
    std::uint64_t step;
    bool begins;  // the turn is taken, and a step is to be begun in it
    Left left;
  };
  // For a backward of the forward that was in `step` (0: whichever of the asker's waits), for the thread that has asked
  // for it (0: not known). Joins the step where it waits, or where the asker is inside already, else takes a turn of
  // its own.
  Joined go_back(std::uint64_t step, std::uint64_t asker);
  // A backward is over; whether the step is over with it.
  bool end_backward(std::uint64_t step, bool failed);
  // Whether any backward in the step has failed.
  [[nodiscard]] bool failed() const { return failed_; }

  // Nobody can go back through the forward that was in `step` any more.
  void drop(std::uint64_t step);

  [[nodiscard]] bool begun() const { return begun_; }
  [[nodiscard]] bool awaits_backward();
  [[nodiscard]] std::uint64_t step() const { return step_; }

 private:
  enum class Phase : std::uint8_t { none, forward, waiting, backward };
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool is_inside(std::uint64_t actor) const;
  [[nodiscard]] bool may_take(std::uint64_t actor) const;
  [[nodiscard]] bool is_next(std::uint64_t actor, std::uint64_t ticket) const;
  void wait_for(std::unique_lock<std::mutex>& lock, std::uint64_t actor, std::uint64_t ticket);
  void clear(Phase phase);
  Left enter(std::unique_lock<std::mutex>& lock, std::uint64_t actor, Phase phase);

  std::mutex mutex_;
  std::condition_variable changed_;
  Phase phase_ = Phase::none;
  bool begun_ = false;
  bool dropped_ = false;  // the step that waits
  bool failed_ = false;
  std::uint64_t step_ = 0;    // no other step of any model has the number
  std::uint64_t owner_ = 0;   // the thread that took the turn, or that has asked for the backward that did
  std::uint64_t runner_ = 0;  // the thread that the backward runs in
  std::uint64_t first_ = 0;   // the thread that was inside first, while there was no other
  bool several_ = false;
  std::uint32_t joined_ = 0;  // backwards that are inside
  std::uint32_t nested_ = 0;  // forwards inside of a backward
  Clock::time_point since_;   // the phase, or the turn
  std::deque<std::uint64_t> queue_;
};

}  // namespace hoist_torch
