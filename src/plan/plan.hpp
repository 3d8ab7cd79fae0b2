// SPDX-License-Identifier: Apache-2.0
// What the planner answers: residency at the step's start, ops in one total order, places.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/problem.hpp"

namespace hoist::plan {

enum class OpKind : std::uint8_t { drop, load, store };

struct Op {
  OpKind kind = OpKind::drop;
  std::uint32_t item = 0;    // index into Problem::items
  std::int32_t after = 0;    // the unit whose end makes it eligible; -1: the start (single-shot)
  std::int32_t before = 0;   // loads: the unit that waits for it
  std::uint64_t offset = 0;  // loads: the place in the arena
};

struct Place {
  std::uint32_t item = 0;
  std::uint64_t offset = 0;
};

struct Predicted {
  double step_us = 0;
  double stall_us = 0;
  std::uint64_t peak_bytes = 0;
  double bound_us = 0;
  std::uint64_t h2d_bytes = 0;
  std::uint64_t d2h_bytes = 0;
  std::uint64_t peer_bytes = 0;
};

struct Plan {
  std::string problem_digest;
  std::vector<Place> initial_resident;  // sorted by item name, as births and homes
  std::vector<Place> births;
  std::vector<Place> homes;
  std::vector<Op> ops;
  Predicted predicted;
};

// JSON as on the page; item names are looked up in the problem. Throws Error(CORRUPT) or
// Error(INVALID_PLAN) that names the field, the item and the value. The digest is not compared here.
Plan plan_from_json(const Problem& problem, std::string_view json);
std::string plan_to_json(const Problem& problem, const Plan& plan);

// By number of an item in `from`: that of the item of its name in `to`; none (UINT32_MAX) where `to` has none.
std::vector<std::uint32_t> numbers_in(const Problem& to, const Problem& from);
// The plan with its items counted as another problem counts them, which has them all.
Plan renumbered(Plan plan, const std::vector<std::uint32_t>& numbers);
// What `make` makes of the problem with its items in the order of their names, counted as the problem counts them: the
// order in which they were given decides nothing.
Plan over_sorted(const Problem& problem, const std::function<Plan(const Problem& sorted)>& make);

}  // namespace hoist::plan
