// SPDX-License-Identifier: Apache-2.0
#include "budget/catalog.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/utf8.hpp"

namespace hoist {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 59;  // the planner's sums stay below 2^60

}  // namespace

void Catalog::require_utf8(const std::string& name) {
  if (is_utf8(name)) return;
  fail(HOIST_ERROR_INVALID_ARGUMENT, "a name is not UTF-8", "plans are exchanged as JSON: give UTF-8 names");
}

std::uint32_t Catalog::add_unit(const std::string& name) {
  require_utf8(name);
  units_.push_back({name, 0});
  uses_.emplace_back();
  return static_cast<std::uint32_t>(units_.size() - 1);
}

std::uint32_t Catalog::add_item(const CatalogItem& item) {
  require_utf8(item.name);
  if (item.bytes > most_bytes || unique_bytes_ > most_bytes - item.bytes) {
    fail(HOIST_ERROR_INVALID_ARGUMENT,
         text("tensor \"", item.name, "\" of ", item.bytes, " bytes, after ", unique_bytes_,
              " bytes of others, is more than can be planned"),
         text("stay within ", most_bytes, " bytes in all"));
  }
  if (!item_names_.insert(item.name).second) {
    fail(HOIST_ERROR_ALREADY_EXISTS, text("the budget has a tensor \"", item.name, "\" already"),
         "give each tensor a name of its own");
  }
  items_.push_back(item);
  unique_bytes_ += round_up(item.bytes, alignment_);
  return static_cast<std::uint32_t>(items_.size() - 1);
}

void Catalog::add_use(std::uint32_t unit, std::uint32_t item, plan::Mode mode) {
  uses_.at(unit).push_back({item, mode});
}

bool Catalog::uses(std::uint32_t unit, std::uint32_t item) const {
  const auto& list = uses_.at(unit);
  return std::any_of(list.begin(), list.end(), [item](const UnitUse& use) { return use.item == item; });
}

void Catalog::remove(const std::vector<bool>& units, const std::vector<bool>& items,
                     std::vector<std::uint32_t>& unit_ids, std::vector<std::uint32_t>& item_ids) {
  item_ids.assign(items_.size(), no_index);
  std::vector<CatalogItem> kept_items;
  for (std::uint32_t item = 0; item < items_.size(); ++item) {
    if (items[item]) {
      unique_bytes_ -= round_up(items_[item].bytes, alignment_);
      item_names_.erase(items_[item].name);
      continue;
    }
    item_ids[item] = static_cast<std::uint32_t>(kept_items.size());
    kept_items.push_back(items_[item]);
  }
  unit_ids.assign(units_.size(), no_index);
  std::vector<CatalogUnit> kept_units;
  std::vector<std::vector<UnitUse>> kept_uses;
  for (std::uint32_t unit = 0; unit < units_.size(); ++unit) {
    if (units[unit]) continue;
    unit_ids[unit] = static_cast<std::uint32_t>(kept_units.size());
    kept_units.push_back(units_[unit]);
    kept_uses.push_back(uses_[unit]);
    for (UnitUse& use : kept_uses.back()) use.item = item_ids[use.item];
  }
  items_ = std::move(kept_items);
  units_ = std::move(kept_units);
  uses_ = std::move(kept_uses);
}

std::uint64_t Catalog::largest_workspace() const noexcept {
  std::uint64_t largest = 0;
  for (const CatalogUnit& unit : units_) largest = std::max(largest, unit.workspace_bytes);
  return largest;
}

std::uint64_t Catalog::smallest_budget(std::string* unit) const {
  std::uint64_t least = 0;
  for (std::size_t u = 0; u < units_.size(); ++u) {
    std::uint64_t bytes = 0;
    for (const UnitUse& use : uses_[u]) bytes += round_up(items_[use.item].bytes, alignment_);
    if (bytes < least) continue;
    least = bytes;
    if (unit != nullptr) *unit = units_[u].name;
  }
  return least + largest_workspace();
}

plan::Problem Catalog::problem(const std::vector<std::uint32_t>& order) const {
  plan::Problem problem;
  problem.alignment = alignment_;
  problem.items.reserve(items_.size());
  for (const CatalogItem& item : items_) {
    plan::Item& it = problem.items.emplace_back();
    it.name = item.name;
    it.bytes = item.bytes;
    it.item_class = item.item_class;
    it.transient = item.transient;
  }
  std::vector<std::uint32_t> seen(units_.size(), 0);
  for (std::uint32_t position = 0; position < order.size(); ++position) {
    const std::uint32_t unit = order[position];
    plan::Unit& it = problem.units.emplace_back();
    it.name = seen[unit] == 0 ? units_[unit].name : text(units_[unit].name, "#", seen[unit]);
    it.workspace_bytes = units_[unit].workspace_bytes;
    ++seen[unit];
    for (const UnitUse& use : uses_[unit]) problem.items[use.item].uses.push_back({position, use.mode});
  }
  return problem;
}

void Catalog::check_transients(const std::vector<std::uint32_t>& order) const {
  std::vector<bool> written(items_.size(), false);
  for (std::uint32_t unit : order) {
    for (const UnitUse& use : uses_[unit]) {
      if (!items_[use.item].transient || written[use.item]) continue;
      if (plan::reads(use.mode)) {
        fail(HOIST_ERROR_INVALID_ARGUMENT,
             text("transient tensor \"", items_[use.item].name, "\" is read by unit \"", units_[unit].name,
                  "\" before any unit has written it"),
             "let an earlier unit write it");
      }
      written[use.item] = true;
    }
  }
}

}  // namespace hoist
