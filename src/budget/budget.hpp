// SPDX-License-Identifier: Apache-2.0
// The one budget: one sequence of units, one arena, one problem, one plan. Managers, state sets and
// pools join it. Lifecycle: building, discovery, profiling, serving; suspended in between on request.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "budget/catalog.hpp"
#include "budget/measure.hpp"
#include "budget/options.hpp"
#include "exec/executor.hpp"
#include "exec/graph_runner.hpp"
#include "memory/pinned_arena.hpp"
#include "memory/slot_arena.hpp"
#include "plan/planner.hpp"
#include "plan/slots.hpp"
#include "trace/recorder.hpp"
#include "transfer/measure.hpp"

namespace hoist {

enum class Phase : std::uint8_t { building, discovery, profiling, serving, suspended };
enum class ReplanState : std::uint8_t { none, pending, applied, failed };

// Who has joined. Numbers change when another member leaves.
class BudgetMember {
 public:
  virtual ~BudgetMember() = default;
  [[nodiscard]] virtual bool committed() const noexcept = 0;
  // Whether it can live on after its owner has given it up, until a step ends: nothing of it is the owner's.
  [[nodiscard]] virtual bool may_go_later() const noexcept = 0;
  // By old number: the new one.
  virtual void renumber(const std::vector<std::uint32_t>& units, const std::vector<std::uint32_t>& items) = 0;
};

struct GraphSession;

struct ReplayStatus {
  GraphRunner::Status runner;
  std::uint64_t captures = 0;
  Placement placement = Placement::arena;
};

struct BudgetStatus {
  Phase phase = Phase::building;
  std::uint64_t budget_bytes = 0;
  std::uint64_t reserved_bytes = 0;
  std::uint64_t arena_bytes = 0;
  std::uint64_t peak_bytes = 0;
  std::uint64_t replans = 0;
  std::uint64_t last_step_h2d_bytes = 0;
  std::uint64_t last_step_d2h_bytes = 0;
  double last_step_us = 0;
  double last_stall_us = 0;
  std::uint64_t steps_before_serving = 0;
  plan::Predicted predicted;
  ExecutorCounters counters;
  std::uint64_t h2d_bytes = 0;  // of all steps, for whatever reason
  std::uint64_t d2h_bytes = 0;
};

class Budget {
 public:
  Budget(std::shared_ptr<Device> device, const BudgetOptions& options);
  ~Budget();
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  [[nodiscard]] const std::shared_ptr<Device>& device() const noexcept { return device_; }
  [[nodiscard]] Catalog& catalog() noexcept { return catalog_; }
  [[nodiscard]] const Catalog& catalog() const noexcept { return catalog_; }
  [[nodiscard]] PinnedArena& pinned() noexcept { return pinned_; }
  [[nodiscard]] Phase phase() const noexcept { return phase_; }
  [[nodiscard]] BudgetStatus status();
  [[nodiscard]] std::atomic<bool>& busy() noexcept { return busy_; }

  // How many have joined before: names of later ones get a prefix. Throws Error(INVALID_STATE) once steps run.
  std::size_t join(BudgetMember* member);
  // A call names a stream. The one that units are on is kept until they go on on another: its owner may give it back
  // while a unit is open.
  void* keep(const std::shared_ptr<void>& stream);
  // Destroys a member: now, or with the end of a step that is open and that others can end.
  void end(std::unique_ptr<BudgetMember> member);
  // Of a member's destruction. Stores what is dirty, forgets the member's units and items; the others go on. Never
  // throws for want of a plan.
  void leave(BudgetMember* member, const std::vector<bool>& units, const std::vector<bool>& items);

  // Throws Error(INFEASIBLE) where no plan fits, before anything is pinned.
  void require_feasible();
  // A member has packed its host bytes: `hosts` by item, null where there are none yet.
  void commit(const std::vector<void*>& hosts);
  void set_budget(std::uint64_t bytes, double share);
  // Bytes that lie outside of hoist count against a budget of bytes; all that was reserved adds up.
  void reserve(std::uint64_t bytes);
  void release(std::uint64_t bytes);  // from any thread, also while another one is inside; plans nothing
  void plan_with_released();
  void drain();
  void suspend();
  void resume();

  void step_begin(void* stream);
  void unit_begin(std::uint32_t unit, void* stream);
  void unit_end(std::uint32_t unit, void* stream);
  void step_end();
  void step_abort(void* stream);

  void update(std::uint32_t item, const void* src);
  void read(std::uint32_t item, void* dst);
  [[nodiscard]] const ItemState& item(std::uint32_t item) const;
  // The host copy is the live one, to the last byte.
  [[nodiscard]] bool host_complete(std::uint32_t item) const;
  [[nodiscard]] void* address(std::uint32_t item) const;
  [[nodiscard]] bool running() const noexcept { return executor_ != nullptr; }
  [[nodiscard]] Executor& executor() noexcept { return *executor_; }

  [[nodiscard]] std::shared_ptr<const plan::Problem> problem() const;
  [[nodiscard]] std::shared_ptr<const plan::Plan> plan() const;
  // Each of the next steps is timed; 0: as many as medians are of. See hoist_replan_prepare.
  void prepare_replan(std::uint32_t steps);
  // Null and null: plan anew from what was measured. See hoist_replan_request.
  void request_replan(const plan::Problem* problem, const plan::Plan* plan);
  [[nodiscard]] ReplanState replan_state() const noexcept { return replan_state_; }
  [[nodiscard]] const std::string& replan_reason() const noexcept { return replan_reason_; }
  // Of those requested, swapped in.
  [[nodiscard]] std::uint64_t requests_applied() const noexcept { return requests_applied_; }
  [[nodiscard]] bool can_replan() const noexcept;

  [[nodiscard]] ReplayStatus replay_status();
  // From any thread, also while another one is inside.
  void abort_replays();
  void forget_replays();
  // Words that a caller reads after the call.
  void keep_reason(std::string reason) { kept_reason_ = std::move(reason); }
  [[nodiscard]] const std::string& kept_reason() const noexcept { return kept_reason_; }

  void trace_begin(std::uint64_t limit);
  void trace_end(const char* path);

  void timing_begin(std::size_t step_limit);
  void timing_update();
  [[nodiscard]] UnitTimes timing(std::uint32_t unit) const;
  void timing_end();

 private:
  // A plan that is ready to be swapped in.
  struct Ready {
    std::shared_ptr<const plan::Problem> problem;
    std::shared_ptr<const plan::Plan> plan;
    std::shared_ptr<const Program> program;
    std::shared_ptr<const SlotMapping> mapping;  // placement in slots
    std::vector<std::uint32_t> order;
    std::shared_ptr<DeviceArena> arena;  // null: the present one, or one taken at the swap
    std::uint64_t arena_bytes = 0;
    std::uint64_t budget_bytes = 0;
    Phase phase = Phase::discovery;
    bool requested = false;  // by the user; the lifecycle's own plans are not told as replans
  };
  // What the next step runs: a request builds on it, and does not undo the one before.
  [[nodiscard]] const Ready& coming() const noexcept { return pending_ ? *pending_ : present_; }

  [[nodiscard]] std::uint64_t steps_before_serving() const noexcept;
  [[nodiscard]] std::uint64_t wanted_bytes() const;
  void require_feasible(std::uint64_t budget_bytes) const;
  void require_between_steps(const char* what) const;
  [[nodiscard]] plan::Problem make_problem(const std::vector<std::uint32_t>& order, std::uint64_t budget_bytes) const;
  [[nodiscard]] Ready prepare(const std::vector<std::uint32_t>& order, std::uint64_t budget_bytes, Phase phase) const;
  [[nodiscard]] Ready make_ready(plan::Problem problem, plan::Plan plan, const std::vector<std::uint32_t>& order,
                                 std::uint64_t budget_bytes, Phase phase) const;
  // graphs.cpp
  // While it lives, replays are held and nothing of theirs is in flight.
  class ReplaysPaused {
   public:
    explicit ReplaysPaused(Budget& budget);
    ~ReplaysPaused();
    ReplaysPaused(const ReplaysPaused&) = delete;
    ReplaysPaused& operator=(const ReplaysPaused&) = delete;

   private:
    Budget& budget_;
  };
  [[nodiscard]] bool is_capturing() const noexcept;
  void require_no_capture(const char* what) const;
  void require_replaceable(const std::vector<std::uint32_t>& order) const;
  void require_capturable() const;
  void capture_step_begin(void* stream);
  void begin_session();
  void capture_unit_begin(std::uint32_t unit);
  void capture_unit_end(std::uint32_t unit);
  void capture_step_end();
  void capture_abort();
  [[nodiscard]] void* captured_address(std::uint32_t item) const;
  void pause_replays();
  void count_replays(bool written);
  void go_on_with_replays() noexcept;
  void step_begins_beside(void* stream);
  void apply_to_replays();
  void end_replays() noexcept;

  // slots.cpp
  [[nodiscard]] bool in_slots() const noexcept { return placement_ == Placement::slots; }
  void lay_out();
  void reserve_addresses();
  void fix_addresses(std::vector<ItemState>& items) const;
  [[nodiscard]] std::uint64_t all_bytes() const;
  void change_budget(std::uint64_t bytes, double share);
  [[nodiscard]] std::uint64_t smallest_bytes(std::string* unit) const;
  [[nodiscard]] Ready prepare_slots(plan::Problem problem, const std::vector<std::uint32_t>& order,
                                    std::uint64_t budget_bytes, Phase phase) const;
  [[nodiscard]] std::shared_ptr<DeviceArena> make_arena(const Ready& ready) const;
  [[nodiscard]] std::function<void()> remapping(const Ready& ready);

  void take_arena(Ready& ready) const;
  void take_arena_in_place_of_pending(Ready& ready);
  void reserve_hosts(const Ready& ready);
  void go_back();
  void fall_asleep();
  void propose(Ready ready);
  void swap(void* stream);
  void swap_arena_first(Ready& ready, void* stream);
  void replan(const std::vector<std::uint32_t>& order, Phase phase, const char* why);
  void look_for_news() noexcept;
  void advance() noexcept;
  void next_phase();
  void learn();
  void finish_step();
  void give_up_step();
  void rebuild_executor();
  // leaving.cpp
  [[nodiscard]] bool stays_for_step(const BudgetMember* member) const;
  void let_go() noexcept;
  void forget(const std::vector<bool>& units, const std::vector<bool>& items);
  void observe();
  void observe_links(bool on);
  void require_timing(const char* what) const;
  void start_epoch();
  [[nodiscard]] std::unique_ptr<UnitTiming> new_timing(std::size_t step_limit) const;
  void collect_watched();
  void name_recorded();
  void bring_home() noexcept;
  void carry(const std::vector<ItemState>& states, const std::vector<std::uint32_t>& item_ids);
  void recommit();
  [[nodiscard]] std::uint64_t arena_for(const plan::Problem& problem) const;

  std::shared_ptr<Device> device_;
  BudgetOptions options_;
  std::atomic<std::uint64_t> reserved_bytes_{0};
  Placement placement_ = Placement::arena;
  plan::SlotLayout layout_;
  std::shared_ptr<SlotAddresses> addresses_;
  Catalog catalog_;
  PinnedArena pinned_;
  Measure measure_;
  std::vector<BudgetMember*> members_;
  std::vector<std::unique_ptr<BudgetMember>> leaving_;  // when the step ends; each keeps the budget until then
  std::size_t joins_ = 0;
  std::atomic<bool> busy_{false};

  LinkCurve links_{};
  bool links_measured_ = false;
  Phase phase_ = Phase::building;
  Phase resumed_phase_ = Phase::discovery;
  std::unique_ptr<Executor> executor_;
  // What goes on in the next executor while there is none.
  std::vector<ItemState> carried_;  // by item
  ExecutorCounters carried_counters_;
  Ledger carried_ledger_;
  Ready present_;
  std::unique_ptr<Ready> pending_;
  bool asleep_ = false;                   // suspended when a member left: the next executor is, too
  bool swapped_ = false;                  // a program is in place
  std::vector<std::uint32_t> candidate_;  // an order that differs from the planned one, seen once
  std::uint32_t profiled_ = 0;
  std::uint64_t replans_ = 0;
  std::uint64_t requests_applied_ = 0;
  ReplanState replan_state_ = ReplanState::none;
  std::string replan_reason_;
  std::uint64_t step_h2d_ = 0;
  std::uint64_t step_d2h_ = 0;
  std::uint64_t last_step_h2d_ = 0;
  std::uint64_t last_step_d2h_ = 0;

  std::unique_ptr<GraphSession> graphs_;  // steps that were captured
  bool uncounted_writes_ = false;         // of replays
  std::string kept_reason_;
  std::shared_ptr<void> idle_stream_;  // stands for compute between captures and replays

  std::shared_ptr<void> stream_;  // that units are on
  std::shared_ptr<void> named_;   // by the last call: the next stream_, where units went on on it
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<UnitTiming> timing_;
  std::unique_ptr<LoadedLinks> loaded_links_;  // while profiling
  std::size_t timing_limit_ = 0;
  std::uint64_t timed_ = 0;  // steps before this one are known
  void* epoch_ = nullptr;
};

}  // namespace hoist
