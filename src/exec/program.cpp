// SPDX-License-Identifier: Apache-2.0
#include "exec/program.hpp"

#include <algorithm>
#include <utility>

namespace hoist {
namespace {

class Compiler {
 public:
  Compiler(const plan::Problem& problem, const plan::Plan& plan, const std::vector<std::uint32_t>& order,
           const std::vector<std::vector<UnitUse>>& uses, bool fixed_places)
      : problem_(problem), plan_(plan), order_(order), uses_(uses), fixed_places_(fixed_places) {}

  Program run() {
    program_.births.resize(problem_.items.size());
    collect_offsets();
    cut();
    resolve();
    build_positions();
    find_last_loads();
    return std::move(program_);
  }

 private:
  [[nodiscard]] std::uint64_t size(std::uint32_t item) const {
    return round_up(problem_.items[item].bytes, problem_.alignment);
  }

  static Place at(std::uint64_t offset) {
    Place place;
    place.offset = offset;
    place.set = true;
    return place;
  }

  void add_cut(std::uint32_t item, const Place& place) {
    cuts_.push_back(place.offset);
    cuts_.push_back(place.offset + size(item));
  }

  // Places by offset alone; piece numbers follow when all cuts are known.
  void collect_offsets() {
    for (const plan::Place& place : plan_.initial_resident) {
      program_.initial.push_back({place.item, at(place.offset)});
      add_cut(place.item, program_.initial.back().place);
    }
    for (const plan::Place& place : plan_.births) {
      program_.births[place.item] = at(place.offset);
      add_cut(place.item, program_.births[place.item]);
    }
    for (const plan::Op& op : plan_.ops) {
      program_.ops.push_back(
          {op.kind, false, op.item, op.before, op.kind == plan::OpKind::load ? at(op.offset) : Place{}});
      if (op.kind == plan::OpKind::load) add_cut(op.item, program_.ops.back().place);
      program_.loads += op.kind == plan::OpKind::load ? 1 : 0;
      program_.stores += op.kind == plan::OpKind::store ? 1 : 0;
    }
    collect_demand();
  }

  void collect_demand() {
    std::vector<Place> homes(problem_.items.size());
    for (const plan::Place& place : plan_.homes) homes[place.item] = at(place.offset);
    std::vector<bool> planned(uses_.size(), false);
    for (std::uint32_t unit : order_) planned[unit] = true;
    for (std::size_t unit = 0; unit < uses_.size(); ++unit) {
      Range range{static_cast<std::uint32_t>(program_.demand.size()), 0};
      std::uint64_t packed = 0;
      for (const UnitUse& use : uses_[unit]) {
        program_.demand.push_back(planned[unit] || fixed_places_ ? homes[use.item] : at(packed));
        packed += size(use.item);
        add_cut(use.item, program_.demand.back());
      }
      range.last = static_cast<std::uint32_t>(program_.demand.size());
      program_.unit_demand.push_back(range);
    }
  }

  void cut() {
    cuts_.push_back(0);
    std::sort(cuts_.begin(), cuts_.end());
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
    program_.arena_bytes = cuts_.back();
    program_.cuts = std::move(cuts_);
  }

  void resolve(std::uint32_t item, Place& place) const {
    if (!place.set) return;
    const auto& cuts = program_.cuts;
    const auto index = [&](std::uint64_t offset) {
      return static_cast<std::uint32_t>(std::lower_bound(cuts.begin(), cuts.end(), offset) - cuts.begin());
    };
    place.first_piece = index(place.offset);
    place.last_piece = index(place.offset + size(item));
  }

  void resolve() {
    for (ResidentItem& resident : program_.initial) resolve(resident.item, resident.place);
    for (std::uint32_t item = 0; item < program_.births.size(); ++item) resolve(item, program_.births[item]);
    for (ProgramOp& op : program_.ops) resolve(op.item, op.place);
    for (std::size_t unit = 0; unit < uses_.size(); ++unit) {
      for (std::size_t use = 0; use < uses_[unit].size(); ++use) {
        resolve(uses_[unit][use].item, program_.demand[program_.unit_demand[unit].first + use]);
      }
    }
  }

  // By item: whether a unit that is in no position reads it.
  [[nodiscard]] std::vector<bool> readers_left_out() const {
    std::vector<bool> left_out(problem_.items.size(), false);
    std::vector<bool> planned(uses_.size(), false);
    for (std::uint32_t unit : order_) planned[unit] = true;
    for (std::size_t unit = 0; unit < uses_.size(); ++unit) {
      if (planned[unit]) continue;
      for (const UnitUse& use : uses_[unit]) left_out[use.item] = left_out[use.item] || plan::reads(use.mode);
    }
    return left_out;
  }

  [[nodiscard]] std::vector<std::vector<Expiry>> expiries() {
    const std::vector<bool> left_out = readers_left_out();
    std::vector<std::vector<Expiry>> expiring(order_.size());
    for (std::uint32_t item = 0; item < problem_.items.size(); ++item) {
      const plan::Item& it = problem_.items[item];
      if (!it.transient || it.uses.empty()) continue;
      expiring[it.uses.back().unit].push_back({item, left_out[item]});
      program_.lingers = program_.lingers || left_out[item];
    }
    return expiring;
  }

  [[nodiscard]] std::uint32_t small_loads(const Range& ops) const {
    std::uint32_t count = 0;
    for (std::uint32_t index = ops.first; index < ops.last; ++index) {
      const ProgramOp& op = program_.ops[index];
      if (op.kind == plan::OpKind::load && problem_.items[op.item].bytes <= small_load) ++count;
    }
    return count;
  }

  void build_positions() {
    program_.positions.resize(order_.size());
    const std::vector<std::vector<Expiry>> expiring = expiries();
    std::uint32_t op = 0;
    for (std::uint32_t p = 0; p < order_.size(); ++p) {
      Position& position = program_.positions[p];
      position.unit = order_[p];
      position.ops.first = op;
      while (op < plan_.ops.size() && plan_.ops[op].after <= static_cast<std::int32_t>(p)) ++op;
      position.ops.last = op;
      position.batches = small_loads(position.ops) >= batch_of_loads;
      position.expiring.first = static_cast<std::uint32_t>(program_.expiring.size());
      program_.expiring.insert(program_.expiring.end(), expiring[p].begin(), expiring[p].end());
      position.expiring.last = static_cast<std::uint32_t>(program_.expiring.size());
    }
  }

  // Of the loads for a position the last of this step that comes before it, else the last one of the step before.
  void find_last_loads() {
    program_.last_loads.assign(order_.size(), no_index);
    for (const bool this_step : {false, true}) {
      for (std::uint32_t p = 0; p < order_.size(); ++p) {
        const Range& ops = program_.positions[p].ops;
        for (std::uint32_t index = ops.first; index < ops.last; ++index) {
          const ProgramOp& op = program_.ops[index];
          const auto before = static_cast<std::uint32_t>(op.before);
          if (op.kind == plan::OpKind::load && (p < before) == this_step) program_.last_loads[before] = index;
        }
      }
    }
    for (const std::uint32_t index : program_.last_loads) {
      if (index != no_index) program_.ops[index].completes = true;
    }
  }

  const plan::Problem& problem_;
  const plan::Plan& plan_;
  const std::vector<std::uint32_t>& order_;
  const std::vector<std::vector<UnitUse>>& uses_;
  const bool fixed_places_;
  std::vector<std::uint64_t> cuts_;
  Program program_;
};

}  // namespace

Program compile(const plan::Problem& problem, const plan::Plan& plan, const std::vector<std::uint32_t>& order,
                const std::vector<std::vector<UnitUse>>& uses, bool fixed_places) {
  return Compiler(problem, plan, order, uses, fixed_places).run();
}

}  // namespace hoist
