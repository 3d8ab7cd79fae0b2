// SPDX-License-Identifier: Apache-2.0
#include "plan/agree.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/hash.hpp"

namespace hoist::plan {
namespace {

[[noreturn]] void lost(std::size_t rank, std::size_t ranks) {
  fail(HOIST_ERROR_ABORTED, text("rank ", rank, " of ", ranks, " did not answer"),
       "form a group of the ranks that are left");
}

bool same_uses(const Item& a, const Item& b) {
  return std::equal(a.uses.begin(), a.uses.end(), b.uses.begin(), b.uses.end(),
                    [](const Use& x, const Use& y) { return x.unit == y.unit && x.mode == y.mode; });
}

// What differs beside times, rates and budgets; empty where nothing does.
std::string difference(const Problem& a, const Problem& b) {
  if (a.units.size() != b.units.size()) return text(b.units.size(), " units instead of ", a.units.size());
  if (a.items.size() != b.items.size()) return text(b.items.size(), " items instead of ", a.items.size());
  if (a.alignment != b.alignment) return text("alignment ", b.alignment, " instead of ", a.alignment);
  if (a.cyclic != b.cyclic) return "cyclic";
  for (std::size_t u = 0; u < a.units.size(); ++u) {
    if (a.units[u].name != b.units[u].name) {
      return text("unit ", u, " is \"", b.units[u].name, "\" instead of \"", a.units[u].name, "\"");
    }
  }
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    const Item& x = a.items[i];
    const Item& y = b.items[i];
    if (x.name != y.name) return text("item ", i, " is \"", y.name, "\" instead of \"", x.name, "\"");
    if (x.bytes != y.bytes) return text("item \"", x.name, "\" has ", y.bytes, " bytes instead of ", x.bytes);
    if (x.item_class != y.item_class || x.link != y.link || x.transient != y.transient || !same_uses(x, y)) {
      return text("item \"", x.name, "\" has another class, link or other uses");
    }
  }
  return "";
}

void reduce(Problem& all, const Problem& one) {
  all.budget_bytes = std::min(all.budget_bytes, one.budget_bytes);
  all.duplex_factor = std::min(all.duplex_factor, one.duplex_factor);
  for (std::size_t i = 0; i < link_count; ++i) {
    all.links[i].latency_us = std::max(all.links[i].latency_us, one.links[i].latency_us);
    all.links[i].bytes_per_us = std::min(all.links[i].bytes_per_us, one.links[i].bytes_per_us);
  }
  for (std::size_t u = 0; u < all.units.size(); ++u) {
    all.units[u].compute_us = std::max(all.units[u].compute_us, one.units[u].compute_us);
    all.units[u].workspace_bytes = std::max(all.units[u].workspace_bytes, one.units[u].workspace_bytes);
  }
}

}  // namespace

Problem agreed_problem(const std::vector<const Problem*>& of_ranks) {
  if (of_ranks.empty()) fail(HOIST_ERROR_INVALID_ARGUMENT, "a group of no ranks", "one rank at least");
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
    if (of_ranks[rank] == nullptr) lost(rank, of_ranks.size());
  }
  Problem all = *of_ranks.front();
  for (std::size_t rank = 1; rank < of_ranks.size(); ++rank) {
    const std::string what = difference(*of_ranks.front(), *of_ranks[rank]);
    if (!what.empty()) {
      fail(HOIST_ERROR_INVALID_ARGUMENT, text("the problem of rank ", rank, " is not that of rank 0: ", what),
           "add the same units and items in the same order on every rank");
    }
    reduce(all, *of_ranks[rank]);
  }
  return all;
}

std::string plan_digest(const Problem& problem, const Plan& plan) {
  return text("sha256:", sha256_hex(plan_to_json(problem, plan)));
}

void compare_digests(const std::vector<std::string>& of_ranks) {
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
    if (of_ranks[rank].empty()) lost(rank, of_ranks.size());
  }
  for (std::size_t rank = 1; rank < of_ranks.size(); ++rank) {
    if (of_ranks[rank] == of_ranks.front()) continue;
    fail(HOIST_ERROR_INVALID_PLAN,
         text("rank ", rank, " has plan ", of_ranks[rank], ", but rank 0 has ", of_ranks.front()),
         "plan from the agreed problem, with the same effort, with the same version of the library");
  }
}

}  // namespace hoist::plan
