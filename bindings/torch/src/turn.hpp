// SPDX-License-Identifier: Apache-2.0
// Whose turn it is to be inside a step: one thread's at a time, from the forward's begin to the backward's end. Models
// on one budget share their turns as they share its steps.
#pragma once

#include <bitset>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace hoist_torch {

class Model;

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
  // The one of all models with this number, which is their budget's.
  static std::shared_ptr<Turn> of(std::int64_t budget);
  static std::size_t count();  // of those that are kept by their number

  // For a forward, or for work between steps. Waits while another thread is inside, and for a while where a step of
  // another thread waits for its backward, which may still come.
  Left take(Model* model);
  // For a forward, where this thread has another model's step that waits for its backward: goes on in it.
  bool join(Model* model);
  // For a forward inside of a backward that this thread runs, or of another model's forward: part of its step.
  bool nest(Model* model);
  bool end_nested(const Model* model);  // whether it was one
  // Whether this thread is inside a step that another model's forward has begun, and this model has no part in.
  [[nodiscard]] bool is_within_another(const Model* model);
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
  Joined go_back(Model* model, std::uint64_t step, std::uint64_t asker);
  // A backward is over; whether the step is over with it.
  bool end_backward(std::uint64_t step, bool failed);
  // Whether any backward in the step has failed.
  [[nodiscard]] bool failed() const { return failed_; }

  // Nobody can go back through the forward that was in `step` any more.
  void drop(std::uint64_t step);

  // The models whose forwards or backwards are part of the step; for whoever has the turn.
  [[nodiscard]] const std::vector<Model*>& members() const { return members_; }
  [[nodiscard]] const std::vector<Model*>& left_members() const { return left_members_; }  // of the step before
  void forget(const Model* model);
  // Whose unit is open, of all of them; nullptr for none.
  [[nodiscard]] const Model* opener() const { return opener_; }
  void set_opener(const Model* model) { opener_ = model; }

  // After a step, with the budget's count so far of units in another order than planned: whether half of the last steps
  // that served had some, which is told once.
  bool note_step(std::uint64_t mispredictions, bool serving);
  [[nodiscard]] std::uint64_t mispredicted();  // of the last 16 steps that served

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

  [[nodiscard]] bool is_member(const Model* model) const;

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
  std::vector<Model*> members_, left_members_;
  const Model* opener_ = nullptr;
  std::uint64_t mispredictions_ = 0;
  std::bitset<16> lately_;  // steps that had some, the last one first
  bool told_ = false;
  std::uint32_t joined_ = 0;  // backwards that are inside
  std::uint32_t nested_ = 0;  // forwards inside of a backward
  Clock::time_point since_;   // the phase, or the turn
  std::deque<std::uint64_t> queue_;
};

}  // namespace hoist_torch
