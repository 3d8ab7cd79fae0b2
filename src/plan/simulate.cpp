// SPDX-License-Identifier: Apache-2.0
// The rules of execution. "Rule n" is the rule of that number in doc/design/planner.md.
#include "plan/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "plan/sizes.hpp"

namespace hoist::plan {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr std::uint32_t most_steps = 64;
constexpr std::size_t mean_of = 8;
constexpr double same_step = 1e-6;

struct Copy {  // what a link is doing and where it stands in its queue
  bool busy = false;
  std::uint32_t next = 0;       // in the queue
  std::uint32_t step = 0;       // of the next op
  std::uint32_t free_seen = 0;  // waits of the next load that are over
  std::uint32_t op = 0;
  double begun_us = 0;  // work of all ops that have begun
  double begin = 0;
  double end = never;
};

class Machine {
 public:
  Machine(const Problem& problem, const Program& program, const SimulateOptions& options)
      : problem_(problem), program_(program), options_(options), units_(problem.units.size()) {
    const std::size_t residencies = program.residencies.size();
    loaded_.assign(residencies, 0);
    freed_.assign(residencies, 0);
    leaving_.assign(residencies, 0);
    stores_.assign(problem.items.size(), 0);
    for (std::uint32_t id = 0; id < residencies; ++id) {  // rule 7: taken as loaded for the first step
      if (!program.residencies[id].initial) continue;
      loaded_[id] = 1;
      on_device_ += program.residencies[id].size;
    }
    peak_ = on_device_;
    double_rate_ = problem.duplex_factor;
    for (std::size_t link = 0; link < link_count; ++link) {
      for (const std::uint32_t op : program.queues[link]) work_us_[link] += program.ops[op].work_us;
    }
    stalls_.assign(units_, 0);
  }

  Simulation run() {
    if (!problem_.cyclic) submit(0);  // `after` -1: the start
    while (!finished_) {
      settle();
      if (finished_) break;
      now_ = std::min({unit_end_, links_[0].end, links_[1].end, links_[2].end});
      if (now_ == never) refuse_stuck();
    }
    return result();
  }

 private:
  // Rule 6, at one instant: ends, drops, a unit's start, starts on h2d, d2h, peer; again while anything ends now.
  void settle() {
    do {
      for (std::size_t link = 0; link < link_count; ++link) {
        if (links_[link].busy && links_[link].end <= now_) end_copy(link);
      }
      if (running_ && unit_end_ <= now_) end_unit();
      if (finished_) return;
      if (!running_ && can_start_unit()) start_unit();
      for (std::size_t link = 0; link < link_count; ++link) {
        if (can_start_copy(link)) start_copy(link);
      }
    } while ((running_ && unit_end_ <= now_) || links_[0].end <= now_ || links_[1].end <= now_ ||
             links_[2].end <= now_);
    if (!problem_.cyclic && step_ > 0 && is_idle()) finished_ = true;
  }

  // Whether a residency's instance, as seen from a step, has been counted.
  [[nodiscard]] bool reached(const std::vector<std::uint32_t>& counts, Ref ref, std::uint32_t step) const {
    return counts[ref.residency] + ref.earlier >= step + 1 + (program_.residencies[ref.residency].initial ? 1 : 0);
  }

  bool can_start_unit() {  // rule 1
    if (step_ > 0 && !problem_.cyclic) return false;
    const auto& needs = program_.needs;
    const auto& writes = program_.writes;
    for (; need_ < needs.begin[unit_ + 1]; ++need_) {
      if (!reached(loaded_, needs.values[need_], step_)) return false;
    }
    for (; write_ < writes.begin[unit_ + 1]; ++write_) {
      if (stores_[writes.values[write_]] > 0) return false;
    }
    for (; birth_ < program_.births.begin[unit_ + 1]; ++birth_) {
      if (!is_free(program_.births.values[birth_], step_)) return false;
    }
    return true;
  }

  [[nodiscard]] bool is_free(std::uint32_t id, std::uint32_t step) const {
    for (std::uint32_t i = program_.frees.begin[id]; i < program_.frees.begin[id + 1]; ++i) {
      if (!reached(freed_, program_.frees.values[i], step)) return false;
    }
    return true;
  }

  void start_unit() {
    const auto& births = program_.births;
    for (std::uint32_t i = births.begin[unit_]; i < births.begin[unit_ + 1]; ++i) {
      arrive(births.values[i]);
      ++loaded_[births.values[i]];
    }
    running_ = true;
    const double compute = options_.compute_us ? options_.compute_us(step_, unit_) : problem_.units[unit_].compute_us;
    compute_ += compute;
    stalls_[unit_] = now_ - unit_ready_;
    if (options_.timeline && now_ > unit_ready_) record(Interval::Kind::stall, unit_, unit_ready_, now_);
    unit_begin_ = now_;
    unit_end_ = now_ + compute;
  }

  void end_unit() {
    if (options_.timeline) record(Interval::Kind::compute, unit_, unit_begin_, now_);
    running_ = false;
    unit_end_ = never;
    unit_ready_ = now_;
    ++units_done_;
    const auto& ends = program_.ends;  // rule 4: a transient item leaves at the end of its last use
    for (std::uint32_t i = ends.begin[unit_]; i < ends.begin[unit_ + 1]; ++i) leave(ends.values[i]);
    submit(unit_ + 1);
    if (++unit_ == units_) end_step();
    need_ = program_.needs.begin[unit_];
    write_ = program_.writes.begin[unit_];
    birth_ = program_.births.begin[unit_];
  }

  // The ops of one `after` become eligible: a store keeps writers and its item's place, a drop is under way.
  void submit(std::uint32_t row) {
    for (std::uint32_t i = program_.ops_begin[row]; i < program_.ops_begin[row + 1]; ++i) {
      const ProgramOp& op = program_.ops[i];
      if (op.kind == OpKind::store) ++stores_[op.item];
      if (op.kind == OpKind::drop && op.residency != none) leave(op.residency);
    }
  }

  void leave(std::uint32_t id) {  // rule 4
    leaving_[id] = 1;
    free_if_quiet(id);
  }

  void free_if_quiet(std::uint32_t id) {
    const Residency& it = program_.residencies[id];
    const bool loading = loaded_[id] <= freed_[id];
    if (leaving_[id] == 0 || loading || stores_[it.item] > 0) return;
    leaving_[id] = 0;
    ++freed_[id];
    on_device_ -= it.size;
  }

  void arrive(std::uint32_t id) {
    on_device_ += program_.residencies[id].size;
    peak_ = std::max(peak_, on_device_);
  }

  bool can_start_copy(std::size_t index) {  // rule 2
    Copy& link = links_[index];
    const auto& queue = program_.queues[index];
    if (link.busy || queue.empty() || (link.step > 0 && !problem_.cyclic)) return false;
    const ProgramOp& op = program_.ops[queue[link.next]];
    const std::uint64_t due = std::uint64_t{link.step} * units_ + static_cast<std::uint64_t>(op.after + 1);
    if (due > units_done_) return false;
    if (op.kind == OpKind::store) return true;
    const std::uint32_t begin = program_.frees.begin[op.residency];
    for (; begin + link.free_seen < program_.frees.begin[op.residency + 1]; ++link.free_seen) {
      if (!reached(freed_, program_.frees.values[begin + link.free_seen], link.step)) return false;
    }
    return true;
  }

  void start_copy(std::size_t index) {
    Copy& link = links_[index];
    link.op = program_.queues[index][link.next];
    const ProgramOp& op = program_.ops[link.op];
    if (op.kind == OpKind::load) arrive(op.residency);
    link.busy = true;
    link.begun_us += op.work_us;
    link.begin = now_;
    link.free_seen = 0;
    if (++link.next == program_.queues[index].size()) {
      link.next = 0;
      ++link.step;
    }
    Copy* other = index == 0 ? &links_[1] : &links_[0];
    if (index == 2 || !other->busy) {
      link.end = now_ + op.work_us;
      return;
    }
    link.end = now_ + op.work_us / double_rate_;  // rule 5: both host links slow down
    other->end = now_ + (other->end - now_) / double_rate_;
  }

  void end_copy(std::size_t index) {
    Copy& link = links_[index];
    const ProgramOp& op = program_.ops[link.op];
    link.busy = false;
    link.end = never;
    Copy& other = links_[index == 0 ? 1 : 0];
    if (index != 2 && other.busy) other.end = now_ + (other.end - now_) * double_rate_;
    if (op.kind == OpKind::load) {
      ++loaded_[op.residency];
    } else {
      --stores_[op.item];
    }
    free_if_quiet(op.residency);
    if (options_.timeline) {
      record(op.kind == OpKind::load ? Interval::Kind::load : Interval::Kind::store, op.item, link.begin, now_);
    }
  }

  void end_step() {  // rule 7
    unit_ = 0;
    ++step_;
    times_.push_back(now_ - step_begin_);
    computes_.push_back(compute_);
    compute_ = 0;
    const bool even = options_.brief || links_are_even();
    if (problem_.cyclic && ((even && repeats()) || step_ == most_steps)) {
      finished_ = true;
      return;
    }
    if (!problem_.cyclic) return;
    step_begin_ = now_;
    const auto over = [&](const Interval& interval) { return interval.end_us <= step_begin_; };
    timeline_.erase(std::remove_if(timeline_.begin(), timeline_.end(), over), timeline_.end());
  }

  // Whether every link has as much left of the ops that are eligible as it had a step earlier: no backlog grows.
  bool links_are_even() {
    bool even = true;
    for (std::size_t i = 0; i < link_count; ++i) {
      const Copy& link = links_[i];
      const double rate = i != 2 && links_[0].busy && links_[1].busy ? double_rate_ : 1;
      const double left = step_ * work_us_[i] - link.begun_us + (link.busy ? (link.end - now_) * rate : 0);
      const double before = std::exchange(left_us_[i], left);
      even = even && std::abs(left - before) <= same_step * times_.back();
    }
    return even;
  }

  [[nodiscard]] bool repeats() const {
    if (times_.size() < 3) return false;
    const auto [least, most] = std::minmax({times_[step_ - 1], times_[step_ - 2], times_[step_ - 3]});
    return most - least <= same_step * most;
  }

  [[nodiscard]] bool is_idle() const { return !links_[0].busy && !links_[1].busy && !links_[2].busy && drained(); }

  [[nodiscard]] bool drained() const {
    for (std::size_t link = 0; link < link_count; ++link) {
      if (!program_.queues[link].empty() && links_[link].step == 0) return false;
    }
    return true;
  }

  // Rule 8: nothing runs and nothing can start.
  [[noreturn]] void refuse_stuck() const {
    for (std::size_t link = 0; link < link_count; ++link) {
      const auto& queue = program_.queues[link];
      if (queue.empty() || (!problem_.cyclic && links_[link].step > 0)) continue;
      const ProgramOp& op = program_.ops[queue[links_[link].next]];
      if (std::uint64_t{links_[link].step} * units_ + static_cast<std::uint64_t>(op.after + 1) > units_done_) continue;
      fail(HOIST_ERROR_INVALID_PLAN, text("nothing can go on: op ", queue[links_[link].next], " (load \"",
                                          problem_.items[op.item].name, "\") waits for its place for ever"));
    }
    fail(HOIST_ERROR_INVALID_PLAN,
         text("nothing can go on: unit ", unit_, " (\"", problem_.units[unit_].name, "\") waits for ever"));
  }

  void record(Interval::Kind kind, std::uint32_t index, double begin, double end) {
    timeline_.push_back({kind, index, begin, end});
  }

  Simulation result() {
    Simulation out;
    const std::size_t last = times_.size() >= 3 && repeats() ? 1 : std::min(mean_of, times_.size());
    double compute = 0;
    for (std::size_t i = times_.size() - last; i < times_.size(); ++i) {
      out.step_us += times_[i] / static_cast<double>(last);
      compute += computes_[i] / static_cast<double>(last);
    }
    if (!problem_.cyclic) out.step_us = now_;
    out.unit_stall_us = std::move(stalls_);
    out.stall_us = std::max(0.0, out.step_us - compute);
    out.peak_bytes = peak_ + largest_workspace(problem_);
    for (std::size_t i = 0; i < link_count; ++i) out.link_bytes[i] = program_.link_bytes[i];
    if (options_.timeline) out.timeline = timeline();
    return out;
  }

  // Relative to the step's begin, copies still under way with the end that is due.
  std::vector<Interval> timeline() {
    for (const Copy& link : links_) {
      if (!link.busy) continue;
      const ProgramOp& op = program_.ops[link.op];
      record(op.kind == OpKind::load ? Interval::Kind::load : Interval::Kind::store, op.item, link.begin, link.end);
    }
    for (Interval& interval : timeline_) {
      interval.begin_us -= step_begin_;
      interval.end_us -= step_begin_;
    }
    std::stable_sort(timeline_.begin(), timeline_.end(),
                     [](const Interval& a, const Interval& b) { return a.begin_us < b.begin_us; });
    return std::move(timeline_);
  }

  const Problem& problem_;
  const Program& program_;
  const SimulateOptions& options_;
  const std::size_t units_;
  double double_rate_ = 1;
  double now_ = 0;
  bool finished_ = false;
  bool running_ = false;
  std::uint32_t unit_ = 0;
  std::uint32_t step_ = 0;
  std::uint64_t units_done_ = 0;
  std::uint32_t need_ = 0, write_ = 0, birth_ = 0;  // waits of the next unit that are over
  double unit_begin_ = 0, unit_end_ = never, unit_ready_ = 0;
  std::array<Copy, link_count> links_;
  std::vector<std::uint32_t> loaded_, freed_;  // by residency: how often
  std::vector<char> leaving_;                  // by residency
  std::vector<std::uint32_t> stores_;          // by item: eligible and not ended
  std::uint64_t on_device_ = 0, peak_ = 0;
  double step_begin_ = 0, compute_ = 0;
  std::vector<double> times_, computes_, stalls_;
  std::array<double, link_count> work_us_{};  // by link, of a step
  std::array<double, link_count> left_us_{};  // by link, at the end of the step before
  std::vector<Interval> timeline_;
};

}  // namespace

Simulation simulate(const Problem& problem, const Program& program, const SimulateOptions& options) {
  return Machine(problem, program, options).run();
}

Simulation simulate(const Problem& problem, const Plan& plan, const SimulateOptions& options) {
  validate(problem);
  return simulate(problem, compile(problem, uses_by_unit(problem), plan), options);
}

}  // namespace hoist::plan
