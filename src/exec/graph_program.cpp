// SPDX-License-Identifier: Apache-2.0
#include "exec/graph_program.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace hoist {
namespace {

class GraphCompiler {
 public:
  GraphCompiler(const Program& program, const std::vector<std::vector<UnitUse>>& uses, const Residency& residency,
                bool trust)
      : program_(program),
        uses_(uses),
        residency_(residency),
        trust_(trust),
        where_(residency.items().size()),
        written_(residency.items().size(), false) {}

  std::shared_ptr<const GraphProgram> run() {
    const auto count = static_cast<std::uint32_t>(program_.positions.size());
    for (std::uint32_t p = 0; p < count; ++p) {
      const std::uint32_t last = program_.last_loads[p];
      graph_->ready.push_back(last == no_index || last >= program_.positions[p].ops.first);  // by the step before
    }
    for (const ResidentItem& resident : program_.initial) where_[resident.item] = resident.place;
    for (std::uint32_t p = 0; p < count; ++p) {
      graph_->order.push_back(program_.positions[p].unit);
      view(program_.positions[p].unit);
      end(p);
    }
    for (std::uint32_t item = 0; item < written_.size(); ++item) {
      if (written_[item]) graph_->written.push_back(item);
    }
    for (const ResidentItem& resident : program_.initial) {
      if (!written_[resident.item]) add_copy(graph_->initial, resident.item, resident.place);
    }
    return std::move(graph_);
  }

 private:
  [[nodiscard]] void* address(std::uint32_t item, const Place& place) const {
    ItemState at;
    at.fixed = residency_.items()[item].fixed;
    at.place = place;
    return residency_.address(at);
  }

  void view(std::uint32_t unit) {
    Range range{static_cast<std::uint32_t>(graph_->addresses.size()), 0};
    for (const UnitUse& use : uses_[unit]) {
      if (!where_[use.item].set) where_[use.item] = program_.births[use.item];
      graph_->addresses.push_back(where_[use.item].set ? address(use.item, where_[use.item]) : nullptr);
      written_[use.item] = written_[use.item] || plan::writes(use.mode);
    }
    range.last = static_cast<std::uint32_t>(graph_->addresses.size());
    graph_->views.push_back(range);
  }

  void end(std::uint32_t p) {
    const Position& position = program_.positions[p];
    graph_->step.push_back({GraphAction::Kind::await, p, nullptr, nullptr, 0});
    for (std::uint32_t index = position.expiring.first; index < position.expiring.last; ++index) {
      where_[program_.expiring[index].item] = Place{};
    }
    if (program_.last_loads[p] == no_index) tell(p);
    for (std::uint32_t index = position.ops.first; index < position.ops.last; ++index) run(program_.ops[index]);
  }

  void run(const ProgramOp& op) {
    const ItemState& state = residency_.items()[op.item];
    switch (op.kind) {
      case plan::OpKind::store:
        fail(HOIST_ERROR_UNSUPPORTED, text("the plan stores tensor \"", state.name, "\", which a captured step cannot"),
             "give a budget under which what units write stays on the device, or place tensors in slots");
      case plan::OpKind::drop:
        if (trust_ && where_[op.item].set && state.bytes != 0) {
          graph_->step.push_back(
              {GraphAction::Kind::poison, 0, address(op.item, where_[op.item]), nullptr, state.bytes});
        }
        where_[op.item] = Place{};
        return;
      case plan::OpKind::load:
        where_[op.item] = op.place;
        add_copy(graph_->step, op.item, op.place);
        graph_->bytes += state.bytes;
        if (op.completes) tell(static_cast<std::uint32_t>(op.before));
        return;
    }
  }

  void add_copy(std::vector<GraphAction>& to, std::uint32_t item, const Place& place) {
    const ItemState& state = residency_.items()[item];
    if (state.bytes == 0) return;
    const JoinedCopy copy{address(item, place), state.host_bytes()};
    if (!to.empty() && to.back().kind == GraphAction::Kind::copy && last_.join(copy.to, copy.from)) {
      to.back().bytes = last_.from.bytes;
      return;
    }
    last_ = copy;
    to.push_back({GraphAction::Kind::copy, 0, copy.to, state.host, state.bytes});
  }

  void tell(std::uint32_t p) { graph_->step.push_back({GraphAction::Kind::tell, p, nullptr, nullptr, 0}); }

  const Program& program_;
  const std::vector<std::vector<UnitUse>>& uses_;
  const Residency& residency_;
  const bool trust_;
  std::vector<Place> where_;
  std::vector<bool> written_;
  JoinedCopy last_;  // the last copy that was added
  std::shared_ptr<GraphProgram> graph_ = std::make_shared<GraphProgram>();
};

}  // namespace

std::shared_ptr<const GraphProgram> compile_graph(const Program& program, const std::vector<std::vector<UnitUse>>& uses,
                                                  const Residency& residency, bool trust) {
  return GraphCompiler(program, uses, residency, trust).run();
}

}  // namespace hoist
