// SPDX-License-Identifier: Apache-2.0
// Plans in whole blocks: they are plans like any other, addresses are shared by nobody at once, and the budget holds.
#include "plan/slots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/error.hpp"
#include "plan/sizes.hpp"

namespace hoist::plan {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::uint64_t granule = 2 * mib;

// Layers of a decoder: seven large weights and two small ones each.
Problem decoder(std::uint32_t layers, double compute_us) {
  Problem problem;
  problem.alignment = 512;
  problem.links[0] = problem.links[1] = problem.links[2] = {5.0, 55'000.0};
  for (std::uint32_t u = 0; u < layers; ++u) {
    problem.units.push_back({text("layer", 1000 + u), compute_us, 0});
    const std::uint64_t sizes[] = {52, 10, 10, 52, 178, 178, 178};
    int n = 0;
    for (std::uint64_t size : sizes) {
      problem.items.push_back({text("w", 1000 + u, ".", n++), size * mib, {}, LinkId::h2d, false, {{u, Mode::read}}});
    }
    problem.items.push_back({text("w", 1000 + u, ".", n++), 10240, {}, LinkId::h2d, false, {{u, Mode::read}}});
  }
  problem.budget_bytes = UINT64_MAX / 4;
  return problem;
}

std::vector<std::uint32_t> in_order(std::uint32_t units) {
  std::vector<std::uint32_t> order(units);
  for (std::uint32_t u = 0; u < units; ++u) order[u] = u;
  return order;
}

// Every item lies in its part's block or memory, no two parts of a unit share a block, and the budget holds.
void expect_whole(const Problem& problem, const SlotLayout& layout, const SlotPlan& made) {
  check(problem, made.plan);
  EXPECT_LE(made.bytes, arena_of(problem));
  std::set<std::pair<std::uint32_t, std::uint32_t>> taken;
  std::uint64_t bytes = layout.fixed_bytes;
  for (std::uint64_t block : made.blocks) bytes += block;
  for (std::size_t part = 0; part < layout.parts.size(); ++part) {
    const std::uint32_t block = made.block_of_part[part];
    if (block == none) {
      bytes += layout.parts[part].bytes;
      continue;
    }
    EXPECT_LE(layout.parts[part].bytes, made.blocks[block]);
    EXPECT_TRUE(taken.insert({layout.parts[part].unit, block}).second) << "part " << part;
  }
  EXPECT_EQ(bytes, made.bytes);
  std::map<std::uint32_t, std::uint64_t> homes;
  for (const Place& home : made.plan.homes) homes[home.item] = home.offset;
  for (const Op& op : made.plan.ops) {
    if (op.kind == OpKind::load) {
      EXPECT_EQ(homes[op.item], op.offset);
    }
  }
}

TEST(Slots, LayOutKeepsSmallWrittenSharedAndTransientItems) {
  Problem problem = decoder(4, 1000);
  problem.items.push_back({"shared", 64 * mib, {}, LinkId::h2d, false, {{0, Mode::read}, {3, Mode::read}}});
  problem.items.push_back({"written", 64 * mib, {}, LinkId::h2d, false, {{1, Mode::read_write}}});
  problem.items.push_back({"act", 8 * mib, {}, LinkId::h2d, true, {{1, Mode::write}, {2, Mode::read}}});
  const SlotLayout layout = lay_out_slots(problem, granule);
  EXPECT_EQ(4U + 3U, layout.fixed.size());
  std::set<std::uint32_t> items(layout.fixed.begin(), layout.fixed.end());
  for (const SlotPart& part : layout.parts) {
    EXPECT_EQ(0U, part.bytes % granule);
    EXPECT_LE(part.bytes, layout.ring_bytes[part.ring]);
    for (std::uint32_t item : part.items) EXPECT_TRUE(items.insert(item).second);
  }
  EXPECT_EQ(problem.items.size(), items.size());
  EXPECT_LE(layout.parts.size(), 4U * 9U);
  for (std::uint32_t share : {30, 60, 100}) {
    problem.budget_bytes = std::max(layout.smallest(), layout.bytes() * share / 100);
    expect_whole(problem, layout, plan_slots(problem, in_order(4), layout));
  }
}

// The bars of the streaming table, predicted: a budget of some layers and of two layers' places.
TEST(Slots, ADecodersLayersStreamAtTheBound) {
  const std::uint64_t layer = 658 * mib;
  for (std::uint32_t kept : {0U, 4U, 8U}) {
    for (double ratio : {0.3, 0.8, 1.0, 1.2, 2.0}) {
      const double copied_us = static_cast<double>((16 - kept) * layer) / 55'000.0;
      Problem problem = decoder(16, ratio * copied_us / 16);
      const SlotLayout layout = lay_out_slots(problem, granule);
      problem.budget_bytes = (kept + 2) * layer + layout.fixed_bytes;
      const SlotPlan made = plan_slots(problem, in_order(16), layout);
      expect_whole(problem, layout, made);
      const double bound = std::max(16 * problem.units[0].compute_us, copied_us);
      EXPECT_LE(made.plan.predicted.step_us, 1.02 * bound) << kept << " kept, compute " << ratio << " of the copies";
      RecordProperty(text("kept", kept, "_", static_cast<int>(ratio * 10)),
                     static_cast<int>(1000 * made.plan.predicted.step_us / bound));
    }
  }
}

TEST(Slots, EveryBudgetFromTheSmallestHasAPlan) {
  Problem problem = decoder(7, 3000);
  problem.items[3].bytes = 700 * mib;  // one that is unlike the others
  const SlotLayout layout = lay_out_slots(problem, granule);
  for (std::uint64_t budget = layout.smallest(); budget <= layout.bytes() + granule; budget += 150 * mib) {
    problem.budget_bytes = budget;
    expect_whole(problem, layout, plan_slots(problem, in_order(7), layout));
  }
  problem.budget_bytes = layout.bytes();
  EXPECT_TRUE(plan_slots(problem, in_order(7), layout).plan.ops.empty()) << "all of it stays";
  problem.budget_bytes = layout.smallest() - granule;
  EXPECT_THROW(plan_slots(problem, in_order(7), layout), Error);
}

// Units that the order leaves out have places all the same, and a unit that comes twice keeps its parts.
TEST(Slots, OtherOrdersHavePlaces) {
  const Problem all = decoder(5, 3000);
  const SlotLayout layout = lay_out_slots(all, granule);
  const std::vector<std::uint32_t> order = {0, 2, 2, 4};
  Problem problem = all;
  problem.units.clear();
  for (Item& item : problem.items) item.uses.clear();
  for (std::uint32_t p = 0; p < order.size(); ++p) {
    problem.units.push_back({text("p", p), 3000, 0});
    for (std::size_t item = 0; item < all.items.size(); ++item) {
      if (all.items[item].uses[0].unit == order[p]) problem.items[item].uses.push_back({p, Mode::read});
    }
  }
  problem.budget_bytes = layout.bytes() * 3 / 4;
  const SlotPlan made = plan_slots(problem, order, layout);
  expect_whole(problem, layout, made);
  for (std::size_t part = 0; part < layout.parts.size(); ++part) {
    if (layout.parts[part].unit == 2) {
      EXPECT_EQ(none, made.block_of_part[part]);
    }
    if (layout.parts[part].unit == 1) {
      EXPECT_NE(none, made.block_of_part[part]);
    }
  }
}

}  // namespace
}  // namespace hoist::plan
