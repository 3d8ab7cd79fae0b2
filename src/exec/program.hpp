// SPDX-License-Identifier: Apache-2.0
// A plan made ready to run: ops by position, every place as a range of pieces of the arena.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exec/gather.hpp"
#include "plan/plan.hpp"
#include "plan/problem.hpp"

namespace hoist {

inline constexpr std::uint32_t no_index = 0xffffffffU;

inline constexpr std::uint32_t batch_of_loads = 16;  // fewer small ones are no cheaper in a batch

// Bytes of the arena, and the pieces that they are made of. A place of no bytes has no pieces.
struct Place {
  std::uint64_t offset = 0;
  std::uint32_t first_piece = 0;
  std::uint32_t last_piece = 0;  // one past
  bool set = false;

  [[nodiscard]] bool same(const Place& other) const noexcept {
    return set == other.set && (!set || offset == other.offset);
  }
};

// What a unit does with an item, in the order in which uses were added.
struct UnitUse {
  std::uint32_t item = 0;
  plan::Mode mode = plan::Mode::read;
};

struct ProgramOp {
  plan::OpKind kind = plan::OpKind::drop;
  bool completes = false;  // a load, and the last one before the unit that waits for it
  std::uint32_t item = 0;
  std::int32_t before = 0;
  Place place;  // loads
};

struct Range {
  std::uint32_t first = 0;
  std::uint32_t last = 0;  // one past
};

// A transient item at its last use. It lingers where a unit that the order leaves out might read it yet.
struct Expiry {
  std::uint32_t item = 0;
  bool lingers = false;
};

struct Position {
  std::uint32_t unit = 0;
  Range ops;
  Range expiring;
  bool batches = false;  // enough small loads that one batch of them is cheaper than a call each
};

struct ResidentItem {
  std::uint32_t item = 0;
  Place place;
};

struct Program {
  std::uint64_t arena_bytes = 0;
  std::vector<std::uint64_t> cuts;  // piece p is [cuts[p], cuts[p + 1])
  std::vector<Position> positions;
  std::vector<ProgramOp> ops;
  std::vector<std::uint32_t> last_loads;  // by position: the op that completes its bytes; no_index: none is loaded
  std::vector<Expiry> expiring;
  std::vector<ResidentItem> initial;
  std::vector<Place> births;       // by item
  std::vector<bool> keeps;         // by item: its memory is its own, in this plan (fixed places only)
  std::vector<Range> unit_demand;  // by unit, into demand: one place for each use
  std::vector<Place> demand;
  std::uint32_t loads = 0;   // a step
  std::uint32_t stores = 0;  // a step
  bool lingers = false;      // any transient

  [[nodiscard]] std::size_t piece_count() const noexcept { return cuts.empty() ? 0 : cuts.size() - 1; }
};

// `order` names the unit of each position of the problem; `uses` has the uses of every unit, those
// that are in no position included: these get places of their own, packed from the arena's start; with fixed places
// all have their homes.
Program compile(const plan::Problem& problem, const plan::Plan& plan, const std::vector<std::uint32_t>& order,
                const std::vector<std::vector<UnitUse>>& uses, bool fixed_places = false);

// Bytes that an item takes in the arena.
inline std::uint64_t round_up(std::uint64_t bytes, std::uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace hoist
