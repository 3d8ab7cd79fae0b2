// SPDX-License-Identifier: Apache-2.0
// From a draft with places to a plan: the ops of each `after` in one order, stores, drops, then loads by deadline.
#include <algorithm>

#include "plan/model.hpp"

namespace hoist::plan {
namespace {

struct Keyed {
  std::uint64_t key = 0;  // after, then kind, then urgency
  Op op;
};

class Emitter {
 public:
  Emitter(const Model& model, const Draft& draft)
      : model_(model), draft_(draft), born_(model.problem.items.size(), 0) {}

  Plan run(const std::vector<Stay>& stays) {
    for (const Stay& stay : stays) add(stay);
    std::stable_sort(ops_.begin(), ops_.end(), [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
    plan_.ops.reserve(ops_.size());
    for (const Keyed& keyed : ops_) plan_.ops.push_back(keyed.op);
    return std::move(plan_);
  }

 private:
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
    const std::int32_t after = static_cast<std::int32_t>(model_.wrap(std::int64_t{out.from} + draft_.late[stay.out]));
    if (stay.written >= 0) {
      const std::int32_t store = draft_.late[stay.out] == 0 ? stay.written : after;
      push(store, 0, 0, {OpKind::store, stay.item, store, 0, 0});
    }
    push(after, 1, 0, {OpKind::drop, stay.item, after, 0, 0});
  }

  void push(std::int32_t after, std::uint64_t kind, std::uint64_t urgency, const Op& op) {
    ops_.push_back({static_cast<std::uint64_t>(after + 1) << 34 | kind << 32 | urgency, op});
  }

  const Model& model_;
  const Draft& draft_;
  std::vector<char> born_;
  std::vector<Keyed> ops_;
  Plan plan_;
};

}  // namespace

Plan emit(const Model& model, const Draft& draft, const std::vector<Stay>& stays) {
  return Emitter(model, draft).run(stays);
}

}  // namespace hoist::plan
