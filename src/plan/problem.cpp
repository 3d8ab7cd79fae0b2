// SPDX-License-Identifier: Apache-2.0
#include "plan/problem.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/utf8.hpp"

namespace hoist::plan {
namespace {

// Sums of sizes stay far below 2^64, so that no decision can overflow.
constexpr std::uint64_t largest_sum = std::uint64_t{1} << 60;
constexpr std::size_t largest_count = std::size_t{1} << 28;
// Sums of times stay exact enough that every copy and every unit still moves the clock of a simulation.
constexpr double longest_us = 1e12;          // eleven days
constexpr double least_bytes_per_us = 1e-6;  // a byte a second
constexpr double most_bytes_per_us = 1e12;
constexpr double least_duplex_factor = 0.001;

[[noreturn]] void refuse(const std::string& message, const std::string& hint) {
  fail(HOIST_ERROR_INVALID_ARGUMENT, message, hint);
}

// NaN is within no range.
bool within(double value, double least, double most) { return value >= least && value <= most; }

std::string a_time() { return text("a time from 0 to ", longest_us, " microseconds"); }

// Items are known by name; units by index, so that their names may repeat.
void check_names(const Problem& problem) {
  for (const Unit& unit : problem.units) {
    if (!is_utf8(unit.name)) refuse("the name of a unit is not UTF-8", "rename it");
  }
  std::vector<const std::string*> names;
  names.reserve(problem.items.size());
  for (const Item& item : problem.items) names.push_back(&item.name);
  std::sort(names.begin(), names.end(), [](const std::string* a, const std::string* b) { return *a < *b; });
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i]->empty()) refuse("an item has an empty name", "give each a name of its own");
    if (!is_utf8(*names[i])) refuse("the name of an item is not UTF-8", "rename it");
    if (i > 0 && *names[i] == *names[i - 1]) {
      refuse(text("two items are called \"", *names[i], "\""), "give each a name of its own");
    }
  }
}

void check_links(const Problem& problem) {
  constexpr std::array<const char*, link_count> names = {"h2d", "d2h", "peer"};
  for (std::size_t i = 0; i < link_count; ++i) {
    const Link& link = problem.links[i];
    if (!within(link.latency_us, 0, longest_us)) {
      refuse(text("link ", names[i], ": latency_us is ", link.latency_us), a_time());
    }
    if (!within(link.bytes_per_us, least_bytes_per_us, most_bytes_per_us)) {
      refuse(text("link ", names[i], ": bytes_per_us is ", link.bytes_per_us),
             text("a rate from ", least_bytes_per_us, " to ", most_bytes_per_us, " bytes a microsecond"));
    }
  }
  if (!within(problem.duplex_factor, least_duplex_factor, 1)) {
    refuse(text("duplex_factor is ", problem.duplex_factor), text("a share from ", least_duplex_factor, " to 1"));
  }
}

void check_uses(const Problem& problem, const Item& item) {
  for (std::size_t i = 0; i < item.uses.size(); ++i) {
    if (item.uses[i].unit >= problem.units.size()) {
      refuse(text("item \"", item.name, "\" is used by unit ", item.uses[i].unit, ", but there are ",
                  problem.units.size(), " units"),
             "units count from 0");
    }
    if (i > 0 && item.uses[i].unit <= item.uses[i - 1].unit) {
      refuse(text("item \"", item.name, "\": its use by unit ", item.uses[i].unit, " follows one by unit ",
                  item.uses[i - 1].unit),
             "list the uses in the order of units, one a unit (rw where a unit reads and writes)");
    }
  }
  if (item.transient && !item.uses.empty() && reads(item.uses.front().mode)) {
    refuse(text("transient item \"", item.name, "\" is read by unit ", item.uses.front().unit,
                " before any unit has written it"),
           "the first use of a transient item has mode w");
  }
  if (item.link == LinkId::d2h) {
    refuse(text("item \"", item.name, "\" is loaded over d2h"), "loads go over h2d or peer");
  }
}

void check_sums(const Problem& problem) {
  const auto add = [&](std::uint64_t& sum, std::uint64_t bytes, const char* what, const std::string& name) {
    if (bytes > largest_sum || sum > largest_sum - bytes) {
      refuse(text(what, " \"", name, "\" of ", bytes, " bytes brings the sum above 2^60"), "bytes, not bits or pages");
    }
    sum += bytes;
  };
  std::uint64_t items = 0;
  std::uint64_t workspaces = 0;
  for (const Item& item : problem.items) add(items, item.bytes, "item", item.name);
  for (const Unit& unit : problem.units) add(workspaces, unit.workspace_bytes, "workspace of unit", unit.name);
}

}  // namespace

void validate(const Problem& problem) {
  if (problem.alignment == 0 || problem.alignment > (std::uint64_t{1} << 30)) {
    refuse(text("alignment is ", problem.alignment), "1 to 2^30 bytes");
  }
  if (problem.budget_bytes > largest_sum) refuse(text("budget_bytes is ", problem.budget_bytes), "at most 2^60 bytes");
  if (problem.units.empty()) refuse("the problem has no units", "a step has one unit at least");
  if (problem.units.size() > largest_count || problem.items.size() > largest_count) {
    refuse(text(problem.units.size(), " units and ", problem.items.size(), " items"), "at most 2^28 of each");
  }
  check_links(problem);
  check_names(problem);
  for (const Unit& unit : problem.units) {
    if (!within(unit.compute_us, 0, longest_us)) {
      refuse(text("unit \"", unit.name, "\": compute_us is ", unit.compute_us), a_time());
    }
  }
  for (const Item& item : problem.items) check_uses(problem, item);
  check_sums(problem);
}

}  // namespace hoist::plan
