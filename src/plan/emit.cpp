// SPDX-License-Identifier: Apache-2.0
// From a draft with places to a plan: the ops of each `after` in one order, stores, drops, then loads by deadline.
#include <algorithm>
#include <tuple>

#include "plan/model.hpp"

namespace hoist::plan {
namespace {

struct Keyed {
  std::uint64_t key = 0;  // after, then kind, then urgency
  std::uint64_t rank = 0;
  Op op;
};

class Emitter {
 public:
  Emitter(const Model& model, const Draft& draft, bool by_offset)
      : model_(model), draft_(draft), by_offset_(by_offset), born_(model.problem.items.size(), 0) {}

  Plan run(const std::vector<Stay>& stays) {
    for (const Stay& stay : stays) add(stay);
    sort();
    plan_.ops.reserve(ops_.size());
    for (const Keyed& keyed : ops_) plan_.ops.push_back(keyed.op);
    return std::move(plan_);
  }

 private:
  // Stores by offset; of loads as urgent as each other first those whose places no store of their row frees, then in
  // the order in which stores free them: a load that waits for its place holds up those behind it. The others come by
  // offset, so that copies to neighbouring places can be one.
  void sort() {
    const auto before = [](const Keyed& a, const Keyed& b) { return a.key != b.key ? a.key < b.key : a.rank < b.rank; };
    std::stable_sort(ops_.begin(), ops_.end(), before);
    if (!by_offset_) return;
    std::int32_t row = -2;
    for (Keyed& it : ops_) {
      if (it.op.after != row) freed_.clear();
      row = it.op.after;
      if (it.op.kind == OpKind::store) freed_.push_back({it.rank, it.rank + model_.size[it.op.item]});
      if (it.op.kind == OpKind::load) it.rank = last_freed(it.op);
    }
    std::stable_sort(ops_.begin(), ops_.end(), [](const Keyed& a, const Keyed& b) {
      return std::tie(a.key, a.rank, a.op.offset) < std::tie(b.key, b.rank, b.op.offset);
    });
  }

  // Which of the row's stores frees the last of the load's place, from 1; 0 for none.
  [[nodiscard]] std::uint64_t last_freed(const Op& load) const {
    const std::uint64_t end = load.offset + model_.size[load.item];
    for (std::size_t n = freed_.size(); n > 0; --n) {
      if (freed_[n - 1].first < end && load.offset < freed_[n - 1].second) return n;
    }
    return 0;
  }

  void add(const Stay& stay) {
    const std::uint32_t first_gap = model_.gaps_begin[stay.item];
    if (stay.in == none) {
      plan_.initial_resident.push_back({stay.item, draft_.offset[first_gap]});
      return;
    }
    const Gap& in = model_.gaps[stay.in];
    const std::uint64_t offset = draft_.offset[stay.in];
    const bool wraps = model_.problem.cyclic && stay.start + stay.length > model_.units;
    if (in.loads) {
      const bool at_boundary = model_.problem.cyclic && stay.start == 0;
      const std::int32_t after =
          at_boundary ? static_cast<std::int32_t>(model_.units) - 1 : static_cast<std::int32_t>(stay.start) - 1;
      if (wraps || at_boundary) plan_.initial_resident.push_back({stay.item, offset});
      push(after, 2, draft_.ahead[stay.in], {OpKind::load, stay.item, after, static_cast<std::int32_t>(in.to), offset});
    } else {
      if (wraps) plan_.initial_resident.push_back({stay.item, offset});
      if (born_[stay.item] == 0) plan_.births.push_back({stay.item, offset});
      born_[stay.item] = 1;
    }
    leave(stay);
  }

  void leave(const Stay& stay) {
    const Gap& out = model_.gaps[stay.out];
    if (model_.problem.items[stay.item].transient && out.outside) return;  // it leaves by itself
    const auto after = static_cast<std::int32_t>(model_.wrap(std::int64_t{out.from} + draft_.late[stay.out]));
    if (stay.written >= 0) {
      const auto store = static_cast<std::int32_t>(store_after(model_, draft_, stay));
      push(store, 0, 0, {OpKind::store, stay.item, store, 0, 0}, by_offset_ ? draft_.offset[stay.in] : 0);
    }
    push(after, 1, 0, {OpKind::drop, stay.item, after, 0, 0});
  }

  void push(std::int32_t after, std::uint64_t kind, std::uint64_t urgency, const Op& op, std::uint64_t rank = 0) {
    ops_.push_back({static_cast<std::uint64_t>(after + 1) << 34 | kind << 32 | urgency, rank, op});
  }

  const Model& model_;
  const Draft& draft_;
  const bool by_offset_;
  std::vector<char> born_;
  std::vector<Keyed> ops_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> freed_;  // by the stores of one row, by offset
  Plan plan_;
};

}  // namespace

Plan emit(const Model& model, const Draft& draft, const std::vector<Stay>& stays, bool by_offset) {
  return Emitter(model, draft, by_offset).run(stays);
}

}  // namespace hoist::plan
