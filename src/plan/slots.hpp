// SPDX-License-Identifier: Apache-2.0
// Plans for addresses that never change: memory is mapped behind them in whole blocks. A unit's streamed items lie in a
// few parts, each as large as a block; parts of like size share a ring of blocks, and a part is either in its ring or
// has memory of its own. doc/design/graphs.md says why.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/planner.hpp"
#include "plan/program.hpp"

namespace hoist::plan {

// Items of one unit that move together, one after the other.
struct SlotPart {
  std::uint32_t unit = 0;
  std::vector<std::uint32_t> items;
  std::vector<std::uint64_t> offsets;  // by item, within the part
  std::uint64_t bytes = 0;             // whole granules
  std::uint32_t ring = 0;              // which parts it shares blocks with
};

// Where every item lies for ever.
struct SlotLayout {
  std::uint64_t granularity = 1;
  std::vector<SlotPart> parts;
  std::vector<std::uint64_t> ring_bytes;  // a block of each ring, as large as its largest part
  // What never streams: written, shared, transient or small items.
  std::vector<std::uint32_t> fixed;
  std::vector<std::uint64_t> fixed_offsets;
  std::uint64_t fixed_bytes = 0;  // whole granules

  [[nodiscard]] std::uint64_t bytes() const;     // all of it resident
  [[nodiscard]] std::uint64_t smallest() const;  // one unit's parts at a time
};

// Units of `catalog` are those that there are, each once.
SlotLayout lay_out_slots(const Problem& catalog, std::uint64_t granularity);

struct SlotPlan {
  Plan plan;
  std::vector<std::uint64_t> blocks;         // bytes of each
  std::vector<std::uint32_t> block_of_part;  // none: memory of its own
  std::uint64_t bytes = 0;                   // of device memory, all in all
};

// `order`: the unit of the layout at each position of the problem. Places in the plan are of an arena in which blocks
// come first, then parts with memory of their own, then what is fixed. Throws Error(INFEASIBLE).
SlotPlan plan_slots(const Problem& problem, const std::vector<std::uint32_t>& order, const SlotLayout& layout);

}  // namespace hoist::plan
