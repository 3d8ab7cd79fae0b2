// SPDX-License-Identifier: Apache-2.0
// Placement in slots: every tensor has one address from commit to destroy, a plan says what memory is behind it.
#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "budget/budget.hpp"

namespace hoist {

// A pure function of the catalog: the same until a manager commits or leaves.
void Budget::lay_out() {
  if (in_slots() && !device_->has(HOIST_CAPABILITY_REMAP)) {
    log(HOIST_LOG_WARNING, device_->name(), " maps no addresses: tensors are placed in an arena");
    placement_ = Placement::arena;
  }
  if (!in_slots()) return;
  std::vector<std::uint32_t> order(catalog_.units().size());
  for (std::uint32_t unit = 0; unit < order.size(); ++unit) order[unit] = unit;
  layout_ = plan::lay_out_slots(catalog_.problem(order), device_->properties().granularity);
}

// Those of an executor that is about to go are given back: nobody has seen them.
void Budget::reserve_addresses() {
  if (!in_slots()) return;
  std::vector<SlotAddresses::Part> spans;
  for (const plan::SlotPart& part : layout_.parts) {
    spans.push_back({std::max(part.bytes, layout_.ring_bytes[part.ring]), part.bytes});
  }
  spans.push_back({layout_.fixed_bytes, layout_.fixed_bytes});
  addresses_ = std::make_shared<SlotAddresses>(device_, std::move(spans));
}

void Budget::fix_addresses(std::vector<ItemState>& items) const {
  if (!in_slots()) return;
  const auto at = [&](std::size_t part, std::uint64_t offset) -> void* {
    return static_cast<char*>(addresses_->of(part)) + offset;
  };
  for (std::size_t part = 0; part < layout_.parts.size(); ++part) {
    const plan::SlotPart& it = layout_.parts[part];
    for (std::size_t k = 0; k < it.items.size(); ++k) items[it.items[k]].fixed = at(part, it.offsets[k]);
  }
  for (std::size_t k = 0; k < layout_.fixed.size(); ++k) {
    items[layout_.fixed[k]].fixed = at(layout_.parts.size(), layout_.fixed_offsets[k]);
  }
}

std::uint64_t Budget::all_bytes() const { return in_slots() ? layout_.bytes() : catalog_.unique_bytes(); }

std::uint64_t Budget::smallest_bytes(std::string* unit) const {
  const std::uint64_t least = catalog_.smallest_budget(unit);
  return in_slots() ? std::max(least, layout_.smallest() + catalog_.largest_workspace()) : least;
}

Budget::Ready Budget::prepare_slots(plan::Problem problem, const std::vector<std::uint32_t>& order,
                                    std::uint64_t budget_bytes, Phase phase) const {
  plan::SlotPlan made = plan::plan_slots(problem, order, layout_);
  auto mapping = std::make_shared<SlotMapping>();
  mapping->blocks = made.blocks;
  mapping->block_of_part = made.block_of_part;
  for (std::uint32_t& block : mapping->block_of_part) block = block == plan::none ? SlotMapping::own : block;
  mapping->block_of_part.push_back(SlotMapping::own);  // what is fixed
  Program program = compile(problem, made.plan, order, catalog_.unit_uses(), true);
  program.keeps.assign(problem.items.size(), true);
  for (std::size_t part = 0; part < layout_.parts.size(); ++part) {
    for (std::uint32_t item : layout_.parts[part].items) program.keeps[item] = made.block_of_part[part] == plan::none;
  }
  Ready ready;
  ready.arena_bytes = made.bytes;
  ready.program = std::make_shared<const Program>(std::move(program));
  ready.mapping = std::move(mapping);
  ready.problem = std::make_shared<const plan::Problem>(std::move(problem));
  ready.plan = std::make_shared<const plan::Plan>(std::move(made.plan));
  ready.order = order;
  ready.budget_bytes = budget_bytes;
  ready.phase = phase;
  return ready;
}

std::shared_ptr<DeviceArena> Budget::make_arena(const Ready& ready) const {
  if (in_slots()) return std::make_shared<SlotArena>(device_, addresses_, *ready.mapping);
  return std::make_shared<DeviceArena>(device_, ready.arena_bytes);
}

std::function<void()> Budget::remapping(const Ready& ready) {
  auto* arena = static_cast<SlotArena*>(executor_->residency().arena());
  return [arena, mapping = ready.mapping] { arena->remap(*mapping); };
}

}  // namespace hoist
