// SPDX-License-Identifier: Apache-2.0
// What the planner is asked: units in order, items that they use, links, one budget.
// doc/design/planner.md has the contract; names and meanings here are the page's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hoist::plan {

enum class LinkId : std::uint8_t { h2d = 0, d2h = 1, peer = 2 };
inline constexpr std::size_t link_count = 3;

enum class Mode : std::uint8_t { read, write, read_write };
inline bool reads(Mode mode) { return mode != Mode::write; }
inline bool writes(Mode mode) { return mode != Mode::read; }

enum class ItemClass : std::uint8_t { weight, state, activation, shard };

struct Link {
  double latency_us = 0;
  double bytes_per_us = 1;
};

struct Use {
  std::uint32_t unit = 0;
  Mode mode = Mode::read;
};

struct Unit {
  std::string name;
  double compute_us = 0;
  std::uint64_t workspace_bytes = 0;
};

struct Item {
  std::string name;
  std::uint64_t bytes = 0;  // as on the links; memory takes it rounded up to the alignment
  ItemClass item_class = ItemClass::weight;
  LinkId link = LinkId::h2d;  // the link that loads it
  bool transient = false;
  std::vector<Use> uses;  // in unit order; at most one a unit
};

struct Problem {
  std::uint64_t budget_bytes = 0;
  std::uint64_t alignment = 1;
  std::array<Link, link_count> links{};
  double duplex_factor = 1;
  bool cyclic = true;
  std::vector<Unit> units;
  std::vector<Item> items;
};

// JSON as on the page. Throws Error(CORRUPT) that names the field and the value.
Problem problem_from_json(std::string_view json);
std::string problem_to_json(const Problem& problem);

// "sha256:..." over the canonical problem: the same for every order of items.
std::string problem_digest(const Problem& problem);

// Throws Error(INVALID_ARGUMENT) where a problem contradicts itself: names that repeat, uses out of
// range or order, rates that are not positive and finite.
void validate(const Problem& problem);

}  // namespace hoist::plan
