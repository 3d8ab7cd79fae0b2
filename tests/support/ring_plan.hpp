// SPDX-License-Identifier: Apache-2.0
// The plan of a slot ring over a rig's problem: unit i's tensors live in slot i mod s.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "plan/planner.hpp"
#include "plan/problem.hpp"

namespace hoist::test {

class Ring {
 public:
  Ring(const plan::Problem& problem, std::uint32_t slots)
      : problem_(problem), units_(static_cast<std::uint32_t>(problem.units.size())), slots_(slots) {
    for (std::uint32_t item = 0; item < problem.items.size(); ++item) ids_[problem.items[item].name] = item;
    tensor_ = round_up(problem.items[0].bytes);
    slot_ = tensor_ * (has("u0.state") ? 2 : 1);
  }

  // Slots, and two places in which transients alternate.
  static std::uint64_t budget(std::uint64_t tensor_bytes, std::uint32_t slots, bool states, bool transients) {
    const std::uint64_t tensor = (tensor_bytes + 511) / 512 * 512;
    return tensor * ((states ? 2 : 1) * slots + (transients ? 2 : 0));
  }

  plan::Plan plan() {
    plan_.problem_digest = plan::problem_digest(problem_);
    for (std::uint32_t unit = 0; unit < units_; ++unit) place_unit(unit);
    for (std::uint32_t unit = 0; unit < units_; ++unit) end_unit(unit);
    sort(plan_.initial_resident);
    sort(plan_.births);
    sort(plan_.homes);
    plan_.predicted.step_us = plan::simulate(problem_, plan_).step_us;
    return plan_;
  }

 private:
  [[nodiscard]] std::uint64_t round_up(std::uint64_t bytes) const {
    return (bytes + problem_.alignment - 1) / problem_.alignment * problem_.alignment;
  }
  [[nodiscard]] bool has(const std::string& name) const { return ids_.count(name) != 0; }
  [[nodiscard]] std::uint64_t slot_of(std::uint32_t unit) const { return unit % slots_ * slot_; }
  // The next unit in that unit's slot, in this step or the next.
  [[nodiscard]] std::uint32_t next_in_slot(std::uint32_t unit) const {
    return unit + slots_ < units_ ? unit + slots_ : unit % slots_;
  }
  static std::string name(std::uint32_t unit, const char* what) { return "u" + std::to_string(unit) + what; }

  void place(const std::string& item, std::uint64_t offset, bool initial) {
    if (!has(item)) return;
    plan_.homes.push_back({ids_.at(item), offset});
    if (initial) plan_.initial_resident.push_back({ids_.at(item), offset});
  }

  void place_unit(std::uint32_t unit) {
    place(name(unit, ".weight"), slot_of(unit), unit < slots_);
    place(name(unit, ".state"), slot_of(unit) + tensor_, unit < slots_);
    const std::string act = name(unit, ".act");
    if (!has(act)) return;
    const std::uint64_t offset = std::min(slots_, units_) * slot_ + unit % 2 * tensor_;
    place(act, offset, false);
    plan_.births.push_back({ids_.at(act), offset});
  }

  void op(plan::OpKind kind, std::uint32_t after, std::uint32_t unit, const char* what, std::uint64_t offset = 0) {
    const std::string item = name(unit, what);
    if (!has(item)) return;
    plan::Op it;
    it.kind = kind;
    it.item = ids_.at(item);
    it.after = static_cast<std::int32_t>(after);
    it.before = static_cast<std::int32_t>(unit);
    it.offset = offset;
    plan_.ops.push_back(it);
  }

  void end_unit(std::uint32_t unit) {
    const std::uint32_t next = next_in_slot(unit);
    op(plan::OpKind::store, unit, unit, ".state");  // a state that stays is stored too
    if (next == unit) return;
    op(plan::OpKind::drop, unit, unit, ".weight");
    op(plan::OpKind::drop, unit, unit, ".state");
    op(plan::OpKind::load, unit, next, ".weight", slot_of(next));
    op(plan::OpKind::load, unit, next, ".state", slot_of(next) + tensor_);
  }

  void sort(std::vector<plan::Place>& places) const {
    std::sort(places.begin(), places.end(), [this](const plan::Place& a, const plan::Place& b) {
      return problem_.items[a.item].name < problem_.items[b.item].name;
    });
  }

  const plan::Problem& problem_;
  std::uint32_t units_;
  std::uint32_t slots_;
  std::map<std::string, std::uint32_t> ids_;
  std::uint64_t tensor_ = 0;
  std::uint64_t slot_ = 0;
  plan::Plan plan_;
};

}  // namespace hoist::test
