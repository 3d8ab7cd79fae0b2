// SPDX-License-Identifier: Apache-2.0
#include "plan/program.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "plan/sizes.hpp"

namespace hoist::plan {
namespace {

constexpr std::uint64_t nowhere = UINT64_MAX;

constexpr const char* op_name(OpKind kind) {
  return kind == OpKind::drop ? "drop" : kind == OpKind::load ? "load" : "store";
}

// Walks the list in its order, twice where the step repeats: what an earlier step left decides the waits.
class Compiler {
 public:
  Compiler(const Problem& problem, const Rows<UnitUse>& uses, const Plan& plan)
      : problem_(problem), uses_(uses), plan_(plan), arena_(arena_of(problem)) {}

  Program run() {
    check_list();
    declare();
    place_permanent();
    begin_first_step();
    walk(0);
    if (problem_.cyclic) walk(1);
    finish();
    return std::move(program_);
  }

 private:
  struct Stay {  // a residency that began in a pass
    std::uint32_t residency = none;
    int pass = 0;
  };
  struct Piece {  // bytes and who held them last
    std::uint64_t end = 0;
    Stay last;
  };

  struct What {  // what takes a place, for errors: an op, a birth in a unit, or the step's begin
    std::uint32_t op = none;
    std::uint32_t unit = none;
  };

  [[nodiscard]] std::string words(What what) const {
    if (what.op != none) return text(op_text(what.op), ": ");
    return what.unit != none ? text("unit ", what.unit, ", birth of ") : std::string("initial_resident: ");
  }

  [[noreturn]] void refuse(const std::string& message) const { fail(HOIST_ERROR_INVALID_PLAN, message); }
  [[nodiscard]] std::string quoted(std::uint32_t item) const { return text("\"", problem_.items[item].name, "\""); }
  [[nodiscard]] std::string op_text(std::size_t index) const {
    const Op& op = plan_.ops[index];
    return text("op ", index, " (", op_name(op.kind), " ", quoted(op.item), " after ", op.after, ")");
  }

  void check_list() const {
    const auto units = static_cast<std::int64_t>(problem_.units.size());
    for (std::size_t i = 0; i < plan_.ops.size(); ++i) {
      const Op& op = plan_.ops[i];
      if (op.item >= problem_.items.size()) refuse(text("op ", i, " names item ", op.item, " of none"));
      if (op.after >= units || op.after < (problem_.cyclic ? 0 : -1)) {
        refuse(text(op_text(i), ": no such unit", problem_.cyclic ? " in a cyclic plan" : ""));
      }
      if (i > 0 && op.after < plan_.ops[i - 1].after) refuse(text(op_text(i), " stands after a later one"));
      if (op.kind == OpKind::load) check_load(i);
    }
    for (const auto* places : {&plan_.initial_resident, &plan_.births}) {
      for (const Place& place : *places) {
        if (place.item >= problem_.items.size()) refuse(text("a place names item ", place.item, " of none"));
      }
    }
  }

  void check_load(std::size_t index) const {
    const Op& op = plan_.ops[index];
    const auto& uses = problem_.items[op.item].uses;
    const auto next = std::upper_bound(uses.begin(), uses.end(), std::int64_t{op.after},
                                       [](std::int64_t unit, const Use& use) { return unit < use.unit; });
    if (next == uses.end() && (!problem_.cyclic || uses.empty()))
      refuse(text(op_text(index), ": it is not used again"));
    const std::uint32_t unit = next == uses.end() ? uses.front().unit : next->unit;
    if (op.before < 0 || static_cast<std::uint32_t>(op.before) != unit) {
      refuse(text(op_text(index), ": before is ", op.before, ", but its next use is by unit ", unit));
    }
  }

  // Gives each load and each stay that a step begins with its number; births get theirs as they happen.
  void declare() {
    first_.assign(problem_.items.size(), none);
    birth_.assign(problem_.items.size(), nowhere);
    born_.assign(uses_.values.size(), none);
    was_born_.assign(problem_.items.size(), 0);
    load_.assign(plan_.ops.size(), none);
    std::vector<char> dropped(problem_.items.size(), 0);
    for (const Place& place : plan_.births) {
      const auto& uses = problem_.items[place.item].uses;
      const bool written = std::any_of(uses.begin(), uses.end(), [](const Use& use) { return !reads(use.mode); });
      if (!written) refuse(text("births: no use of ", quoted(place.item), " has mode w"));
      if (birth_[place.item] != nowhere) refuse(text("births: ", quoted(place.item), " stands twice"));
      birth_[place.item] = place.offset;
    }
    for (std::size_t i = 0; i < plan_.ops.size(); ++i) {
      const Op& op = plan_.ops[i];
      if (op.kind == OpKind::load) load_[i] = add(op.item, op.offset, "load of ");
      if (op.kind == OpKind::drop) dropped[op.item] = 1;
    }
    declare_initial(dropped);
  }

  void declare_initial(const std::vector<char>& dropped) {
    if (!problem_.cyclic && !plan_.initial_resident.empty()) {
      refuse(text("initial_resident: ", quoted(plan_.initial_resident.front().item), " in a single-shot plan"));
    }
    for (const Place& place : plan_.initial_resident) {
      if (first_[place.item] != none) refuse(text("initial_resident: ", quoted(place.item), " stands twice"));
      if (problem_.items[place.item].transient) {
        refuse(text("initial_resident: ", quoted(place.item), " is transient and does not exist between steps"));
      }
      const std::uint32_t id = add(place.item, place.offset, "initial_resident: ");
      program_.residencies[id].permanent = dropped[place.item] == 0;
      first_[place.item] = id;
    }
  }

  std::uint32_t add(std::uint32_t item, std::uint64_t offset, const char* what) {
    const std::uint64_t size = size_of(problem_, item);
    if (offset > arena_ || size > arena_ - offset) {
      refuse(text(what, quoted(item), ": ", size, " bytes at ", offset, " lie outside the arena of ", arena_));
    }
    if (offset % problem_.alignment != 0) {
      refuse(text(what, quoted(item), ": the offset ", offset, " is not a multiple of ", problem_.alignment));
    }
    program_.residencies.push_back({item, offset, size, false, false});
    return static_cast<std::uint32_t>(program_.residencies.size() - 1);
  }

  // Permanent stays are checked against each other here and kept as few merged stretches.
  void place_permanent() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t id = 0; id < program_.residencies.size(); ++id) {
      if (program_.residencies[id].permanent && program_.residencies[id].size > 0) order.push_back(id);
    }
    const auto& all = program_.residencies;
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return all[a].offset != all[b].offset ? all[a].offset < all[b].offset : a < b;
    });
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Residency& it = all[order[i]];
      if (!permanent_.empty() && permanent_.back().second > it.offset) {
        refuse(text("initial_resident: ", quoted(all[order[i - 1]].item), " and ", quoted(it.item), " overlap"));
      }
      if (permanent_.empty() || permanent_.back().second < it.offset) permanent_.push_back({it.offset, it.offset});
      permanent_.back().second = it.offset + it.size;
    }
  }

  void begin_first_step() {
    current_.assign(problem_.items.size(), none);
    live_.assign(program_.residencies.size(), 0);
    began_.assign(program_.residencies.size(), -1);
    frees_.assign(program_.residencies.size(), {0, 0});
    previous_.assign(problem_.items.size(), {none, 0});
    dirty_.assign(problem_.items.size(), 0);
    for (const Place& place : plan_.initial_resident) {
      current_[place.item] = first_[place.item];
      if (!program_.residencies[first_[place.item]].permanent) take(first_[place.item], -1, {});
    }
    for (std::uint32_t i = 0; i < problem_.items.size(); ++i) dirty_[i] = problem_.items[i].transient ? 1 : 0;
  }

  // The residency takes its bytes; what held them before must have left in the list's order.
  void take(std::uint32_t id, int pass, What what) {
    const Residency& it = program_.residencies[id];
    live_[id] = 1;
    began_[id] = pass;
    const auto begin = static_cast<std::uint32_t>(waits_.size());
    const Stay before = previous_[it.item];
    if (before.residency != none) wait_for(begin, before, pass);
    if (it.size > 0) take_bytes(id, pass, begin, what);
    frees_[id] = {begin, static_cast<std::uint32_t>(waits_.size())};
  }

  void take_bytes(std::uint32_t id, int pass, std::uint32_t begin, What what) {
    const Residency& it = program_.residencies[id];
    const std::uint64_t end = it.offset + it.size;
    check_permanent(it, what);
    auto piece = pieces_.upper_bound(it.offset);
    if (piece != pieces_.begin() && std::prev(piece)->second.end > it.offset) --piece;
    while (piece != pieces_.end() && piece->first < end) {
      const std::uint64_t from = piece->first;
      const Piece held = piece->second;
      const std::uint32_t owner = held.last.residency;
      if (live_[owner] != 0 && owner != id) {
        const Residency& other = program_.residencies[owner];
        refuse(text(words(what), quoted(it.item), " at ", it.offset, " overlaps ", quoted(other.item), " at ",
                    other.offset));
      }
      wait_for(begin, held.last, pass);
      piece = pieces_.erase(piece);
      if (from < it.offset) pieces_.emplace(from, Piece{it.offset, held.last});
      if (held.end > end) piece = pieces_.emplace(end, Piece{held.end, held.last}).first;
    }
    pieces_.emplace(it.offset, Piece{end, {id, pass}});
  }

  void wait_for(std::uint32_t begin, Stay stay, int pass) {
    const Ref ref{stay.residency, stay.pass == pass ? 0U : 1U};
    for (std::size_t i = begin; i < waits_.size(); ++i) {
      if (waits_[i].residency == ref.residency && waits_[i].earlier <= ref.earlier) return;
    }
    waits_.push_back(ref);
  }

  void check_permanent(const Residency& it, What what) const {
    auto next = std::upper_bound(permanent_.begin(), permanent_.end(), it.offset,
                                 [](std::uint64_t offset, const auto& stretch) { return offset < stretch.second; });
    if (next != permanent_.end() && next->first < it.offset + it.size) {
      refuse(text(words(what), quoted(it.item), " at ", it.offset, " overlaps an item that never leaves"));
    }
  }

  void walk(int pass) {
    program_.needs.clear();
    program_.writes.clear();
    program_.births.clear();
    program_.ends.clear();
    program_.ops.clear();
    waits_.clear();
    program_.ops_begin.assign(1, 0);
    std::size_t op = 0;
    const auto submit = [&](std::int32_t unit) {
      for (; op < plan_.ops.size() && plan_.ops[op].after == unit; ++op) step_op(op, pass);
      program_.ops_begin.push_back(static_cast<std::uint32_t>(op));
    };
    submit(-1);
    for (std::uint32_t unit = 0; unit < problem_.units.size(); ++unit) {
      step_unit(unit, pass);
      submit(static_cast<std::int32_t>(unit));
    }
    check_end(pass);
  }

  void step_unit(std::uint32_t unit, int pass) {
    for (std::uint32_t i = uses_.begin[unit]; i < uses_.begin[unit + 1]; ++i) {
      const UnitUse& use = uses_.values[i];
      const Mode mode = problem_.items[use.item].uses[use.nth].mode;
      const bool brings = current_[use.item] == none;
      if (brings) born(unit, i, mode, pass);
      const std::uint32_t id = current_[use.item];
      const bool waits = !brings && !program_.residencies[id].permanent;
      if (waits) program_.needs.values.push_back({id, began_[id] == pass ? 0U : 1U});
      if (writes(mode)) program_.writes.values.push_back(use.item);
      if (writes(mode)) dirty_[use.item] = 1;
    }
    leave_at_end(unit);
    program_.needs.close_row();
    program_.writes.close_row();
    program_.births.close_row();
    program_.ends.close_row();
  }

  // A write of an absent item brings it into being, at its place in births.
  void born(std::uint32_t unit, std::uint32_t row, Mode mode, int pass) {
    const std::uint32_t item = uses_.values[row].item;
    if (reads(mode) || birth_[item] == nowhere) {
      refuse(text("unit ", unit, " (\"", problem_.units[unit].name, "\") uses ", quoted(item),
                  ", which is not on the device"));
    }
    if (born_[row] == none) {
      born_[row] = add(item, birth_[item], "birth of ");
      live_.push_back(0);
      began_.push_back(pass);
      frees_.emplace_back(0, 0);
    }
    take(born_[row], pass, {none, unit});
    current_[item] = born_[row];
    was_born_[item] = 1;
    program_.births.values.push_back(born_[row]);
  }

  void leave_at_end(std::uint32_t unit) {
    for (std::uint32_t i = uses_.begin[unit]; i < uses_.begin[unit + 1]; ++i) {
      const UnitUse& use = uses_.values[i];
      const Item& item = problem_.items[use.item];
      if (!item.transient || use.nth + 1 != item.uses.size()) continue;
      program_.ends.values.push_back(current_[use.item]);
      leave(use.item);
      dirty_[use.item] = 1;  // the next step's is another
    }
  }

  void leave(std::uint32_t item) {
    previous_[item] = {current_[item], began_[current_[item]]};
    live_[current_[item]] = 0;
    current_[item] = none;
  }

  void step_op(std::size_t index, int pass) {
    const Op& op = plan_.ops[index];
    const Item& item = problem_.items[op.item];
    ProgramOp out{op.kind, current_[op.item], op.item, op.after, 0};
    if (op.kind == OpKind::load) {
      if (current_[op.item] != none) refuse(text(op_text(index), ": it is on the device already"));
      if (dirty_[op.item] != 0) refuse(text(op_text(index), ": the host has no valid copy of it"));
      out.residency = current_[op.item] = load_[index];
      out.work_us = load_us(problem_, item);
      take(load_[index], pass, {static_cast<std::uint32_t>(index), none});
    } else if (current_[op.item] == none) {
      const bool gone = op.kind == OpKind::drop && item.transient && !item.uses.empty() &&
                        op.after >= static_cast<std::int32_t>(item.uses.back().unit);
      if (!gone) refuse(text(op_text(index), ": it is not on the device"));
    } else if (op.kind == OpKind::store) {
      dirty_[op.item] = 0;
      out.work_us = store_us(problem_, item);
    } else {
      if (dirty_[op.item] != 0) refuse(text(op_text(index), ": it is dirty and no store of it stands before"));
      leave(op.item);
    }
    program_.ops.push_back(out);
  }

  // What is on the device must be what the next step begins with.
  void check_end(int pass) {
    for (std::uint32_t i = 0; i < problem_.items.size(); ++i) {
      if (problem_.cyclic && (current_[i] == none) != (first_[i] == none)) {
        refuse(text(quoted(i), " is ", current_[i] == none ? "absent" : "on the device", " at the end of the step and ",
                    first_[i] == none ? "not in" : "in", " initial_resident"));
      }
      if (problem_.cyclic && pass == 0 && current_[i] != none) begin_with(i);
      if (!problem_.cyclic && !problem_.items[i].transient && dirty_[i] != 0) {
        refuse(text(quoted(i), " is dirty at the end: no store of it follows the last write"));
      }
    }
  }

  // The stay that the step leaves is the one that the next begins with.
  void begin_with(std::uint32_t item) {
    const std::uint64_t at = program_.residencies[first_[item]].offset;
    Residency& last = program_.residencies[current_[item]];
    if (last.offset != at) {
      refuse(text("initial_resident: ", quoted(item), " at ", at, ", but the step leaves it at ", last.offset));
    }
    last.initial = true;
    first_[item] = current_[item];
  }

  void finish() {
    for (const Place& place : plan_.births) {
      if (was_born_[place.item] != 0) continue;
      refuse(text("births: ", quoted(place.item), " is on the device whenever a unit writes it"));
    }
    for (const auto& [begin, end] : frees_) {
      program_.frees.values.insert(program_.frees.values.end(), waits_.begin() + begin, waits_.begin() + end);
      program_.frees.close_row();
    }
    for (std::uint32_t i = 0; i < program_.ops.size(); ++i) {
      const ProgramOp& op = program_.ops[i];
      if (op.kind == OpKind::drop) continue;
      const Item& item = problem_.items[op.item];
      const auto link = static_cast<std::size_t>(op.kind == OpKind::load ? item.link : LinkId::d2h);
      program_.queues[link].push_back(i);
      program_.link_bytes[link] += item.bytes;
    }
  }

  const Problem& problem_;
  const Rows<UnitUse>& uses_;
  const Plan& plan_;
  const std::uint64_t arena_;
  Program program_;
  std::vector<std::uint32_t> first_;                            // by item: what a step begins with
  std::vector<std::uint64_t> birth_;                            // by item: where it is born
  std::vector<std::uint32_t> born_;                             // by use: the residency of its birth
  std::vector<char> was_born_;                                  // by item
  std::vector<std::uint32_t> load_;                             // by op
  std::vector<std::uint32_t> current_;                          // by item: where it is at this point of the list
  std::vector<Stay> previous_;                                  // by item: its stay before
  std::vector<char> dirty_;                                     // by item: the host's copy is not valid
  std::vector<char> live_;                                      // by residency
  std::vector<int> began_;                                      // by residency: the pass
  std::vector<std::pair<std::uint32_t, std::uint32_t>> frees_;  // by residency: its part of waits_
  std::vector<Ref> waits_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> permanent_;
  std::map<std::uint64_t, Piece> pieces_;
};

}  // namespace

Program compile(const Problem& problem, const Rows<UnitUse>& uses, const Plan& plan) {
  return Compiler(problem, uses, plan).run();
}

}  // namespace hoist::plan
