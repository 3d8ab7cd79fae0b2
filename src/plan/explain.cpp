// SPDX-License-Identifier: Apache-2.0
// One line an item: why it stays or moves.
#include <algorithm>
#include <cstdio>

#include "base/error.hpp"
#include "plan/planner.hpp"
#include "plan/program.hpp"
#include "plan/sizes.hpp"

namespace hoist::plan {
namespace {

std::string microseconds(double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.1f us", value);
  return buffer;
}

// A name in one line: what a hostile file may have in its names must not break the lines.
std::string shown(std::string name) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  std::replace_if(name.begin(), name.end(), control, '?');
  return name;
}

class Explainer {
 public:
  Explainer(const Problem& problem, const Plan& plan)
      : problem_(problem), plan_(plan), ops_(problem.items.size()), initial_(problem.items.size(), 0) {
    for (const Op& op : plan.ops) ops_[op.item].push_back(op);
    for (const Place& place : plan.initial_resident) initial_[place.item] = 1;
    count_bytes();
  }

  std::string run() const {
    std::string out;
    for (std::uint32_t item = 0; item < problem_.items.size(); ++item) {
      out += text(shown(problem_.items[item].name), ": ", line(item), "\n");
    }
    return out;
  }

 private:
  // A unit as people know it. Its number too: a step can have one unit twice.
  template <typename Number>
  [[nodiscard]] std::string unit(Number number) const {
    if (number < Number{}) return "the start";
    const auto index = static_cast<std::size_t>(number);
    return text("unit ", index, " (\"", shown(problem_.units[index].name), "\")");
  }

  [[nodiscard]] bool leaves(std::uint32_t item) const {
    return std::any_of(ops_[item].begin(), ops_[item].end(), [](const Op& op) { return op.kind == OpKind::drop; });
  }

  // Bytes of items during each unit. Between two drops and loads nothing changes, so differences do.
  void count_bytes() {
    const std::size_t units = problem_.units.size();
    std::vector<std::int64_t> change(units + 1, 0);
    for (std::uint32_t item = 0; item < problem_.items.size(); ++item) {
      const auto size = static_cast<std::int64_t>(size_of(problem_, item));
      if (initial_[item] != 0) change[0] += size;
      const auto& uses = problem_.items[item].uses;
      const bool born = !uses.empty() && starts_with_write(problem_.items[item]) && is_born(item);
      if (born) change[uses.front().unit] += size;
      if (problem_.items[item].transient && !uses.empty()) change[uses.back().unit + 1] -= size;
      for (const Op& op : ops_[item]) {
        const auto at = static_cast<std::size_t>(op.after + 1);
        if (op.kind == OpKind::load) change[at] += size;
        if (op.kind == OpKind::drop && !is_gone(item, op)) change[at] -= size;
      }
    }
    bytes_.assign(units, 0);
    std::int64_t sum = 0;
    for (std::size_t unit = 0; unit < units; ++unit) bytes_[unit] = sum += change[unit];
  }

  [[nodiscard]] bool is_born(std::uint32_t item) const {
    return std::any_of(plan_.births.begin(), plan_.births.end(), [&](const Place& p) { return p.item == item; });
  }

  [[nodiscard]] bool is_gone(std::uint32_t item, const Op& op) const {
    const Item& it = problem_.items[item];
    return it.transient && op.after >= static_cast<std::int32_t>(it.uses.back().unit);
  }

  [[nodiscard]] std::string line(std::uint32_t index) const {
    const Item& item = problem_.items[index];
    if (item.uses.empty()) return "stays on the host: no unit uses it";
    if (size_of(problem_, index) == 0 && !leaves(index)) return "stays: it has no bytes";
    if (item.transient && !leaves(index)) {
      return text("lives on the device from ", unit(item.uses.front().unit), " to ", unit(item.uses.back().unit),
                  ": keeping it saves ", microseconds(load_us(problem_, item) + store_us(problem_, item)));
    }
    if (leaves(index)) return text("moves: ", moves(index));
    if (!problem_.cyclic) return text("comes once and stays from its first use on: a single shot", loads(index));
    const double saved = load_us(problem_, item) + (is_written(item) ? store_us(problem_, item) : 0);
    return text("stays: keeping its ", size_of(problem_, index), " bytes saves ", microseconds(saved),
                " of copies a step");
  }

  [[nodiscard]] std::string loads(std::uint32_t index) const {
    std::string out;
    for (const Op& op : ops_[index]) {
      if (op.kind != OpKind::load) continue;
      const auto units = static_cast<std::int32_t>(problem_.units.size());
      const std::int32_t ahead = op.before > op.after ? op.before - op.after : op.before + units - op.after;
      out += text("; loaded for ", unit(op.before), " after ", unit(op.after), ", ", ahead,
                  ahead == 1 ? " unit" : " units", " ahead, ", microseconds(load_us(problem_, problem_.items[index])));
    }
    return out;
  }

  // A move makes room: name the fullest unit while the item is away, and what it would need with the item there.
  [[nodiscard]] std::string moves(std::uint32_t index) const {
    std::string out;
    for (const Op& op : ops_[index]) {
      if (op.kind != OpKind::drop) continue;
      out += text(out.empty() ? "" : "; ", "leaves after ", unit(op.after), room_made(index, op));
    }
    const auto stores =
        std::count_if(ops_[index].begin(), ops_[index].end(), [](const Op& op) { return op.kind == OpKind::store; });
    if (stores > 0) out += text("; stored ", microseconds(store_us(problem_, problem_.items[index])));
    return out + loads(index);
  }

  [[nodiscard]] std::string room_made(std::uint32_t index, const Op& drop) const {
    const std::size_t units = problem_.units.size();
    std::size_t fullest = units;
    for (std::size_t k = 1; k <= units; ++k) {
      const std::size_t unit = (static_cast<std::size_t>(drop.after) + k) % units;
      if (!problem_.cyclic && unit <= static_cast<std::size_t>(drop.after)) break;
      const auto& uses = problem_.items[index].uses;
      if (std::any_of(uses.begin(), uses.end(), [&](const Use& use) { return use.unit == unit; })) break;
      if (fullest == units || bytes_[unit] > bytes_[fullest]) fullest = unit;
      if (comes_back_after(index, unit)) break;  // what is held from there on has the item in it
    }
    if (fullest == units) return "";
    const std::int64_t with = bytes_[fullest] + static_cast<std::int64_t>(size_of(problem_, index));
    const bool fits = with <= static_cast<std::int64_t>(arena_of(problem_));
    return text(fits ? " to free its place, by bytes it could stay: " : " to make room: ", unit(fullest),
                " would hold ", with, " of ", arena_of(problem_), " bytes with it");
  }

  [[nodiscard]] bool comes_back_after(std::uint32_t index, std::size_t unit) const {
    return std::any_of(ops_[index].begin(), ops_[index].end(), [&](const Op& op) {
      return op.kind == OpKind::load && op.after == static_cast<std::int32_t>(unit);
    });
  }

  const Problem& problem_;
  const Plan& plan_;
  std::vector<std::vector<Op>> ops_;  // by item
  std::vector<char> initial_;         // by item
  std::vector<std::int64_t> bytes_;   // by unit
};

}  // namespace

std::string explain(const Problem& problem, const Plan& plan) {
  validate(problem);
  (void)compile(problem, uses_by_unit(problem), plan);
  return Explainer(problem, plan).run();
}

}  // namespace hoist::plan
