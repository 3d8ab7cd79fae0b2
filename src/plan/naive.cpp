// SPDX-License-Identifier: Apache-2.0
// The floor: what fits from the front stays, the rest is loaded just before its unit and leaves right after.
#include "plan/naive.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "plan/homes.hpp"
#include "plan/planner.hpp"
#include "plan/simulate.hpp"
#include "plan/sizes.hpp"

namespace hoist::plan {
namespace {

// By unit, the bytes of the first `kept` ones that are there: all, where they are `early`, else from their first use
// on.
std::vector<std::uint64_t> kept_bytes(const Problem& problem, const std::vector<std::uint32_t>& order, std::size_t kept,
                                      bool early) {
  std::vector<std::uint64_t> bytes(problem.units.size(), 0);
  for (std::size_t i = 0; i < kept; ++i) {
    const Item& item = problem.items[order[i]];
    bytes[early || item.uses.empty() ? 0 : item.uses.front().unit] += size_of(problem, order[i]);
  }
  std::partial_sum(bytes.begin(), bytes.end(), bytes.begin());
  return bytes;
}

// The most bytes of kept ones and of what a unit uses beside them.
std::uint64_t bytes_with(const Problem& problem, const std::vector<std::uint32_t>& order, std::size_t kept,
                         bool early) {
  std::vector<std::uint64_t> bytes = kept_bytes(problem, order, kept, early);
  for (std::size_t i = kept; i < order.size(); ++i) {
    for (const Use& use : problem.items[order[i]].uses) bytes[use.unit] += size_of(problem, order[i]);
  }
  return *std::max_element(bytes.begin(), bytes.end());
}

// The most items that can stay: the bytes never get fewer as one more does.
std::size_t most_kept(const Problem& problem, const std::vector<std::uint32_t>& order, bool early) {
  const std::uint64_t arena = arena_of(problem);
  std::size_t low = 0;
  std::size_t high = order.size();
  while (low < high) {
    const std::size_t middle = (low + high + 1) / 2;
    if (bytes_with(problem, order, middle, early) <= arena) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

[[noreturn]] void refuse_fragmented(const Problem& problem) {
  const std::uint64_t works = budget_with_homes(problem, uses_by_unit(problem));
  fail(HOIST_ERROR_INFEASIBLE,
       text("no plan found for budget_bytes ", problem.budget_bytes, ": by bytes ", smallest_budget(problem),
            " would do, but fragmentation prevents it; a budget of ", works, " bytes worked"),
       text("set budget_bytes to ", works, " or more"));
}

class Naive {
 public:
  Naive(const Problem& problem, bool early)
      : problem_(problem),
        loads_at_start_(early),
        early_(early || problem.cyclic),
        arena_(arena_of(problem)),
        rows_(problem.units.size() + 1),
        order_(first_use_order(problem)) {}

  Plan run() {
    std::size_t kept = most_kept(problem_, order_, early_);
    while (kept > 0 && !pack(kept)) --kept;
    if (kept == 0 && !pack(0)) take_homes();
    for (std::size_t i = 0; i < kept; ++i) keep(order_[i], offsets_[order_[i]].front());
    for (std::size_t i = kept; i < order_.size(); ++i) move(order_[i]);
    for (Row& row : rows_) {
      plan_.ops.insert(plan_.ops.end(), row.leaving.begin(), row.leaving.end());
      plan_.ops.insert(plan_.ops.end(), row.loads.begin(), row.loads.end());
    }
    return std::move(plan_);
  }

 private:
  struct Row {  // the ops of one `after`
    std::vector<Op> leaving;
    std::vector<Op> loads;
  };

  Row& row(std::int32_t after) { return rows_[static_cast<std::size_t>(after + 1)]; }

  [[nodiscard]] std::int32_t just_before(std::uint32_t unit) const {
    const auto last = static_cast<std::int32_t>(problem_.units.size()) - 1;
    return unit == 0 && problem_.cyclic ? last : static_cast<std::int32_t>(unit) - 1;
  }

  // First fit, unit by unit: those that stay at the bottom, above them what the unit uses. False only where an
  // item that several units bring into being finds its one place taken.
  bool pack(std::size_t kept) {
    std::uint64_t bottom = 0;
    offsets_.assign(problem_.items.size(), {});
    for (std::size_t i = 0; i < kept; ++i) {
      offsets_[order_[i]].push_back(bottom);
      bottom += size_of(problem_, order_[i]);
    }
    std::vector<std::uint64_t> top = kept_bytes(problem_, order_, kept, early_);
    for (std::size_t i = kept; i < order_.size(); ++i) {
      const Item& item = problem_.items[order_[i]];
      const auto births =
          std::count_if(item.uses.begin(), item.uses.end(), [](const Use& u) { return !reads(u.mode); });
      std::uint64_t common = 0;  // the one place of all its births, above all that is packed where they are
      for (const Use& use : item.uses) common = std::max(common, top[use.unit]);
      for (const Use& use : item.uses) {
        const std::uint64_t offset = births > 1 && !reads(use.mode) ? common : top[use.unit];
        offsets_[order_[i]].push_back(offset);
        top[use.unit] = offset + size_of(problem_, order_[i]);
        if (top[use.unit] > arena_) return false;
      }
    }
    return true;
  }

  // Where that fails with nothing kept, each item has its home as its only place.
  void take_homes() {
    const auto homes = find_homes(problem_, uses_by_unit(problem_), {});
    if (!homes) refuse_fragmented(problem_);
    for (const Place& home : *homes) {
      offsets_[home.item].assign(std::max<std::size_t>(problem_.items[home.item].uses.size(), 1), home.offset);
    }
  }

  void load(std::uint32_t item, std::uint32_t unit, std::uint64_t offset, bool early = false) {
    const std::int32_t after = early ? -1 : just_before(unit);
    row(after).loads.push_back({OpKind::load, item, after, static_cast<std::int32_t>(unit), offset});
    if (problem_.cyclic && unit == 0) plan_.initial_resident.push_back({item, offset});
  }

  void keep(std::uint32_t index, std::uint64_t offset) {
    const Item& item = problem_.items[index];
    if (item.uses.empty()) return;
    if (problem_.cyclic && !item.transient) {
      plan_.initial_resident.push_back({index, offset});
      return;
    }
    if (starts_with_write(item)) {
      plan_.births.push_back({index, offset});
    } else {
      load(index, item.uses.front().unit, offset, loads_at_start_);
    }
    if (item.transient || !is_written(item)) return;
    const auto last =
        std::find_if(item.uses.rbegin(), item.uses.rend(), [](const Use& use) { return writes(use.mode); });
    const auto after = static_cast<std::int32_t>(last->unit);
    row(after).leaving.push_back({OpKind::store, index, after, 0, 0});
  }

  void move(std::uint32_t index) {
    const Item& item = problem_.items[index];
    bool born = false;
    for (std::size_t n = 0; n < item.uses.size(); ++n) {
      const Use& use = item.uses[n];
      const std::uint64_t offset = offsets_[index][n];
      if (!reads(use.mode)) {
        if (!std::exchange(born, true)) plan_.births.push_back({index, offset});
      } else {
        load(index, use.unit, offset);
      }
      if (item.transient && n + 1 == item.uses.size()) continue;  // it leaves by itself
      const auto after = static_cast<std::int32_t>(use.unit);
      if (writes(use.mode)) row(after).leaving.push_back({OpKind::store, index, after, 0, 0});
      row(after).leaving.push_back({OpKind::drop, index, after, 0, 0});
    }
  }

  const Problem& problem_;
  const bool loads_at_start_;  // in a single shot, what stays
  const bool early_;           // what stays is there from the start, not from its first use
  const std::uint64_t arena_;
  std::vector<Row> rows_;  // by after + 1
  std::vector<std::uint32_t> order_;
  std::vector<std::vector<std::uint64_t>> offsets_;  // by item and use
  Plan plan_;
};

void sort_by_name(const Problem& problem, std::vector<Place>& places) {
  std::sort(places.begin(), places.end(),
            [&](const Place& a, const Place& b) { return problem.items[a.item].name < problem.items[b.item].name; });
}

}  // namespace

std::vector<std::uint32_t> first_use_order(const Problem& problem) {
  std::vector<std::uint32_t> order(problem.items.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Item& x = problem.items[a];
    const Item& y = problem.items[b];
    const std::uint32_t first_x = x.uses.empty() ? none : x.uses.front().unit;
    const std::uint32_t first_y = y.uses.empty() ? none : y.uses.front().unit;
    return first_x != first_y ? first_x < first_y : x.name < y.name;
  });
  return order;
}

void refuse_if_too_small(const Problem& problem) {
  const std::uint64_t smallest = smallest_budget(problem);
  const std::uint64_t workspace = largest_workspace(problem);
  if (workspace <= problem.budget_bytes && smallest - workspace <= arena_of(problem)) return;
  std::vector<std::uint64_t> used(problem.units.size(), 0);
  for (std::uint32_t i = 0; i < problem.items.size(); ++i) {
    for (const Use& use : problem.items[i].uses) used[use.unit] += size_of(problem, i);
  }
  const std::uint64_t works = workable_budget(problem);
  const std::string fragmented =
      works == smallest ? "" : text(" by bytes; fragmentation prevents it, but a budget of ", works, " bytes worked");
  const auto most = std::max_element(used.begin(), used.end());
  const auto unit = static_cast<std::size_t>(most - used.begin());
  fail(HOIST_ERROR_INFEASIBLE,
       text("no plan fits budget_bytes ", problem.budget_bytes, ": unit ", unit, " (\"", problem.units[unit].name,
            "\") needs ", *most, " bytes of items beside the largest workspace of ", workspace,
            "; the smallest budget is ", smallest, " bytes", fragmented),
       text("set budget_bytes to ", works, " or more"));
}

void complete(const Problem& problem, const Rows<UnitUse>& uses, Plan& plan) {
  sort_by_name(problem, plan.initial_resident);
  sort_by_name(problem, plan.births);
  auto homes = find_homes(problem, uses, plan);
  if (!homes) refuse_fragmented(problem);
  plan.homes = std::move(*homes);
  plan.problem_digest = problem_digest(problem);
  const Simulation run = simulate(problem, compile(problem, uses, plan), {});
  plan.predicted = {run.step_us,       run.stall_us,      run.peak_bytes,   page_bound(problem).step_us,
                    run.link_bytes[0], run.link_bytes[1], run.link_bytes[2]};
}

Plan naive_plan(const Problem& problem, bool early) { return Naive(problem, early).run(); }

Plan naive(const Problem& problem) {
  validate(problem);
  refuse_if_too_small(problem);
  try {
    Plan plan = over_sorted(problem, [](const Problem& sorted) {
      Plan floor = naive_plan(sorted);
      complete(sorted, uses_by_unit(sorted), floor);
      return floor;
    });
    (void)check(problem, plan);
    return plan;
  } catch (const Error& error) {
    if (error.code() != HOIST_ERROR_INVALID_PLAN) throw;
    fail(HOIST_ERROR_INTERNAL, text("the naive plan is not valid: ", error.what()), "please report the problem");
  }
}

}  // namespace hoist::plan
