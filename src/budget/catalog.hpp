// SPDX-License-Identifier: Apache-2.0
// What joined the budget: units, items, uses. From it problems are made, for any order of units.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "exec/program.hpp"
#include "plan/problem.hpp"

namespace hoist {

struct CatalogUnit {
  std::string name;
  std::uint64_t workspace_bytes = 0;
};

struct CatalogItem {
  std::string name;
  std::uint64_t bytes = 0;
  plan::ItemClass item_class = plan::ItemClass::weight;
  bool transient = false;
};

class Catalog {
 public:
  explicit Catalog(std::uint64_t alignment) : alignment_(alignment) {}

  std::uint32_t add_unit(const std::string& name);
  std::uint32_t add_item(const CatalogItem& item);
  void add_use(std::uint32_t unit, std::uint32_t item, plan::Mode mode);
  [[nodiscard]] bool uses(std::uint32_t unit, std::uint32_t item) const;
  // In whole alignments, as everything that shares the budget; more than can be planned is refused at the commit.
  void set_workspace(std::uint32_t unit, std::uint64_t bytes) {
    units_.at(unit).workspace_bytes = std::max(bytes, round_up(bytes, alignment_));
  }
  // Forgets these units and items; `unit_ids` and `item_ids` get the new number of each old one, or no_index.
  void remove(const std::vector<bool>& units, const std::vector<bool>& items, std::vector<std::uint32_t>& unit_ids,
              std::vector<std::uint32_t>& item_ids);

  [[nodiscard]] const std::vector<CatalogUnit>& units() const noexcept { return units_; }
  [[nodiscard]] const std::vector<CatalogItem>& items() const noexcept { return items_; }
  [[nodiscard]] const std::vector<std::vector<UnitUse>>& unit_uses() const noexcept { return uses_; }
  [[nodiscard]] std::uint64_t alignment() const noexcept { return alignment_; }
  [[nodiscard]] std::uint64_t unique_bytes() const noexcept { return unique_bytes_; }
  [[nodiscard]] std::uint64_t largest_workspace() const noexcept;
  // The least under which every unit fits, those that never run included.
  [[nodiscard]] std::uint64_t smallest_budget(std::string* unit) const;

  // Positions in `order`, a unit that comes again with a number behind its name. Times and links are left open.
  [[nodiscard]] plan::Problem problem(const std::vector<std::uint32_t>& order) const;
  // Throws Error(INVALID_ARGUMENT) for a transient that `order` reads before it writes it.
  void check_transients(const std::vector<std::uint32_t>& order) const;

 private:
  static void require_utf8(const std::string& name);

  std::uint64_t alignment_;
  std::uint64_t unique_bytes_ = 0;
  std::vector<CatalogUnit> units_;
  std::vector<CatalogItem> items_;
  std::unordered_set<std::string> item_names_;
  std::vector<std::vector<UnitUse>> uses_;
};

}  // namespace hoist
