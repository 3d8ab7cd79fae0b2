// SPDX-License-Identifier: Apache-2.0
// Runs a program step after step, and serves what it did not foresee: units out of order are loaded on
// demand and the planned residency is restored at their end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "exec/program.hpp"
#include "exec/residency.hpp"
#include "exec/sampling.hpp"
#include "exec/step_clock.hpp"
#include "exec/unit_clock.hpp"

namespace hoist {

struct ExecutorOptions {
  bool trust = false;
  std::uint32_t run_ahead_steps = 2;
};

struct ExecutorCounters {
  std::uint64_t steps = 0;
  std::uint64_t aborted_steps = 0;
  std::uint64_t mispredictions = 0;
  std::uint64_t demand_loads = 0;
  std::uint64_t refused_ops = 0;  // ops of a plan that the device refused, and that were made up for later
};

class Executor {
 public:
  // `uses` has the uses of every unit; it and `sink` outlive the executor.
  Executor(std::shared_ptr<Device> device, PinnedArena& pinned, const ExecutorOptions& options,
           const std::vector<std::vector<UnitUse>>& uses, UnitSink& sink);

  [[nodiscard]] Residency& residency() noexcept { return residency_; }
  [[nodiscard]] const Residency& residency() const noexcept { return residency_; }
  [[nodiscard]] const ExecutorCounters& counters() const noexcept { return counters_; }
  // Counting goes on from there, in a new executor of the same budget.
  void set_counters(const ExecutorCounters& counters) noexcept { counters_ = counters; }
  [[nodiscard]] UnitClock& unit_clock() noexcept { return unit_clock_; }
  // Units are timed in each step; else where something is new, and in one step of several.
  void time_all(bool on) noexcept { sampling_.all(on); }
  void time_next(std::uint32_t steps = Sampling::whole) noexcept { sampling_.next_steps(steps); }
  [[nodiscard]] double last_step_us() { return step_clock_.last_us(); }
  // The units of the present or last step, in the order in which they began.
  [[nodiscard]] const std::vector<std::uint32_t>& sequence() const noexcept { return sequence_; }
  [[nodiscard]] bool in_step() const noexcept { return in_step_; }
  [[nodiscard]] std::uint32_t open_unit() const noexcept { return open_unit_; }
  // Out-of-order units are counted only where an order is known.
  void count_mispredictions(bool on) noexcept { counting_ = on; }

  // Between steps, whole or not at all: on failure the old program goes on. A null arena keeps the present one.
  // With fixed places `remap` puts the program's memory behind them, when nothing runs.
  void swap(std::shared_ptr<const Program> program, std::shared_ptr<DeviceArena> arena, void* stream,
            const std::function<void()>& remap = {});
  // Between steps: dirty bytes to the host, everything off the device, the arena given back.
  void evacuate();
  // After evacuate: the same program goes on in this arena.
  void resume(std::shared_ptr<DeviceArena> arena);

  void step_begin(void* stream);
  void unit_begin(std::uint32_t unit, void* stream);
  void unit_end(void* stream);
  // Ends the open unit on its own stream; its times say nothing.
  void unit_abort();
  void step_end(bool aborted);
  void update(std::uint32_t item, const void* src);

  // Between steps, for graphs that run beside: everything to where the program has it, and nothing in flight. False
  // where the device refuses something.
  bool settle_down();
  // Replays of a graph have run so many steps that wrote these items.
  void count_replays(std::uint64_t steps, const std::vector<std::uint32_t>& written);
  [[nodiscard]] const Program& program() const noexcept { return *program_; }

 private:
  void seek(std::uint32_t unit);
  void require_readable(std::uint32_t unit) const;
  void fetch(std::uint32_t unit);
  [[nodiscard]] const Place* planned_place(const UnitUse& use) const;
  void bring(const UnitUse& use, const Place& demand);
  void undo_births() noexcept;
  void wait_for_bytes(std::uint32_t unit);
  void open_access(std::uint32_t unit, void* stream);
  void close_access(void* stream) noexcept;
  void let_go(const Position& position, bool ran);
  template <typename Op>
  void attempt(std::uint32_t item, const Op& op);
  void finish(const Position& position, bool ran);
  void submit(const ProgramOp& op);
  void make_up_for_refused();
  void prefetch(std::uint32_t index) const noexcept;  // what that op looks at
  void reconcile(Reason reason);
  bool settle(std::uint32_t item, Reason reason, bool loads);
  void deviates(std::uint32_t item);
  void check_trust();
  void check_resident();
  void adopt(std::shared_ptr<const Program> program);
  void reserve(const Program& program);
  void clear_for(const Program& program, bool arena_changes);
  [[nodiscard]] bool stays(const Program& program, std::uint32_t item, const Place& next) const;
  void end_transients();

  struct Accessed {
    void* memory;
    std::uint64_t bytes;
  };

  std::shared_ptr<Device> device_;
  ExecutorOptions options_;
  const std::vector<std::vector<UnitUse>>& uses_;
  Residency residency_;
  UnitClock unit_clock_;
  Sampling sampling_;
  bool timed_ = true;  // the units of this step
  StepClock step_clock_;
  std::shared_ptr<const Program> program_;
  ExecutorCounters counters_;

  std::vector<Place> planned_;  // by item: where the plan says that it is at this point
  std::vector<std::uint32_t> deviants_;
  std::vector<bool> is_deviant_;
  std::vector<std::uint32_t> born_;  // of the unit that is being begun
  std::vector<Accessed> accessed_;   // pages that the open unit's host functions may touch
  std::vector<std::uint32_t> sequence_;
  std::uint32_t next_ = 0;  // position that the plan expects
  std::uint32_t open_unit_ = no_index;
  bool on_plan_ = true;
  bool clean_step_ = true;  // no unit out of the planned order so far
  bool in_step_ = false;
  bool counting_ = false;
  std::uint32_t next_check_ = 0;
};

}  // namespace hoist
