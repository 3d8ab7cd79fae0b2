// SPDX-License-Identifier: Apache-2.0
// A plan compiled against its problem: every wait resolved to a residency, the total order proven.
//
// A residency is one stay of an item on the device, from its load or birth to its drop; each happens
// once a step. By the total order the bytes own the clock: a load or birth waits for the residencies
// that last held its bytes, and "no item overlaps its place" follows.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "plan/plan.hpp"
#include "plan/problem.hpp"

namespace hoist::plan {

inline constexpr std::uint32_t none = UINT32_MAX;

// Rows of a list of lists, one after the other.
template <typename T>
struct Rows {
  std::vector<std::uint32_t> begin{0};
  std::vector<T> values;

  void clear() {
    begin.assign(1, 0);
    values.clear();
  }
  void close_row() { begin.push_back(static_cast<std::uint32_t>(values.size())); }
  [[nodiscard]] std::uint32_t rows() const { return static_cast<std::uint32_t>(begin.size() - 1); }
};

// What each unit uses, by item index. Built once a problem.
struct UnitUse {
  std::uint32_t item = 0;
  std::uint32_t nth = 0;  // which of the item's uses
};
Rows<UnitUse> uses_by_unit(const Problem& problem);

// A residency as seen from a step: of that step, or the one that began a step earlier.
struct Ref {
  std::uint32_t residency = 0;
  std::uint32_t earlier = 0;
};

struct Residency {
  std::uint32_t item = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  bool initial = false;    // on the device as a step begins
  bool permanent = false;  // never leaves
};

struct ProgramOp {
  OpKind kind = OpKind::drop;
  std::uint32_t residency = none;  // none: a drop that finds a transient item gone
  std::uint32_t item = 0;
  std::int32_t after = 0;
  double work_us = 0;
};

struct Program {
  std::vector<Residency> residencies;
  Rows<Ref> needs;             // by unit: what must be loaded before it starts
  Rows<std::uint32_t> writes;  // by unit: items whose stores must have ended
  Rows<std::uint32_t> births;  // by unit: residencies
  Rows<std::uint32_t> ends;    // by unit: residencies of transient items that leave at its end
  Rows<Ref> frees;             // by residency: what must have left before it is loaded or born
  std::vector<ProgramOp> ops;
  std::vector<std::uint32_t> ops_begin;  // by unit + 1: the first op with that `after`
  std::array<std::vector<std::uint32_t>, link_count> queues;
  std::array<std::uint64_t, link_count> link_bytes{};
};

// Proves the total order of the list and resolves it. Throws Error(INVALID_PLAN).
Program compile(const Problem& problem, const Rows<UnitUse>& uses, const Plan& plan);

}  // namespace hoist::plan
