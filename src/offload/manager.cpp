// SPDX-License-Identifier: Apache-2.0
#include "offload/manager.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/nearest.hpp"

namespace hoist {
namespace {

hoist_use_mode_t public_mode(plan::Mode mode) { return static_cast<hoist_use_mode_t>(mode); }

void require_consistent(const TensorSpec& spec) {
  const auto complain = [&](const char* what, const char* hint) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("tensor \"", spec.name, "\": ", what), hint);
  };
  const bool copy = spec.flags == HOIST_TENSOR_COPY;
  const bool adopt = spec.flags == HOIST_TENSOR_ADOPT;
  const bool transient = spec.flags == HOIST_TENSOR_TRANSIENT;
  if (!copy && !adopt && !transient && spec.flags != HOIST_TENSOR_ZERO) {
    fail(HOIST_ERROR_INVALID_ARGUMENT,
         text("tensor \"", spec.name, "\": flags ", spec.flags, " are not one of the four"),
         "give exactly one of HOIST_TENSOR_COPY, _ADOPT, _TRANSIENT, _ZERO");
  }
  if ((copy || adopt) && spec.host == nullptr && spec.bytes != 0)
    complain("host is NULL", "give its bytes, or HOIST_TENSOR_ZERO");
  if (!copy && !adopt && spec.host != nullptr)
    complain("host is given, but would not be read", "use HOIST_TENSOR_COPY, or NULL");
  if (!copy && spec.release != nullptr) complain("release is given, but only copied tensors are released", "use NULL");
}

}  // namespace

Manager::Manager(std::shared_ptr<Budget> budget) : budget_(std::move(budget)) {
  const std::size_t earlier = budget_->join(this);
  if (earlier != 0) prefix_ = text("manager", earlier, "/");
}

Manager::~Manager() {
  const Catalog& catalog = budget_->catalog();
  std::vector<bool> units(catalog.units().size(), false);
  std::vector<bool> items(catalog.items().size(), false);
  for (const Unit& unit : units_) units[unit.id] = true;
  for (const Tensor& tensor : tensors_) items[tensor.item] = true;
  try {
    budget_->leave(this, units, items);
  } catch (const std::exception& error) {
    log(HOIST_LOG_ERROR, "a manager was destroyed while its device failed: ", error.what());
  }
  for (Tensor& tensor : tensors_) {
    if (tensor.ready && tensor.spec.flags == HOIST_TENSOR_ADOPT && tensor.spec.bytes != 0) {
      budget_->pinned().disown(tensor.spec.host, tensor.spec.bytes);
    }
    release(tensor);
  }
  for (void* slab : slabs_) budget_->pinned().release(slab);
}

// The memory of adopted tensors is the owner's again when the manager goes.
bool Manager::may_go_later() const noexcept {
  return std::none_of(tensors_.begin(), tensors_.end(), [](const Tensor& tensor) {
    return tensor.spec.flags == HOIST_TENSOR_ADOPT || tensor.spec.release != nullptr;
  });
}

void Manager::renumber(const std::vector<std::uint32_t>& units, const std::vector<std::uint32_t>& items) {
  for (Unit& unit : units_) unit.id = units[unit.id];
  for (Tensor& tensor : tensors_) tensor.item = items[tensor.item];
}

void Manager::require_building(const char* what) const {
  if (!committed_) return;
  fail(HOIST_ERROR_INVALID_STATE, text(what, " after the commit"), "add everything before it");
}

const Manager::Unit& Manager::unit_at(std::uint32_t unit) const {
  if (unit >= units_.size())
    fail(HOIST_ERROR_NOT_FOUND, text("unit ", unit, ": the manager has ", units_.size(), " units"));
  return units_[unit];
}

const Manager::Tensor& Manager::tensor_at(std::uint32_t tensor) const {
  if (tensor >= tensors_.size()) {
    fail(HOIST_ERROR_NOT_FOUND, text("tensor ", tensor, ": the manager has ", tensors_.size(), " tensors"));
  }
  return tensors_[tensor];
}

std::uint32_t Manager::add_unit(const std::string& name) {
  require_building("a unit is added");
  if (unit_names_.count(name) != 0) {
    fail(HOIST_ERROR_ALREADY_EXISTS, text("unit \"", name, "\" has been added already"),
         "give each unit a name of its own");
  }
  const auto unit = static_cast<std::uint32_t>(units_.size());
  units_.push_back({name, budget_->catalog().add_unit(prefix_ + name), {}});
  unit_names_.emplace(name, unit);
  return unit;
}

void Manager::set_workspace(std::uint32_t unit, std::uint64_t bytes) {
  require_building("a workspace is set");
  budget_->catalog().set_workspace(unit_at(unit).id, bytes);
}

void Manager::require_new_name(const std::string& name) const {
  if (tensor_names_.count(name) == 0) return;
  fail(HOIST_ERROR_ALREADY_EXISTS, text("tensor \"", name, "\" has been added already"),
       "for a tensor that several units use, add it once, and a use for each unit more");
}

std::uint32_t Manager::add_tensor(std::uint32_t unit, TensorSpec spec) {
  require_building("a tensor is added");
  const Unit& in = unit_at(unit);
  require_new_name(spec.name);
  require_consistent(spec);
  CatalogItem item;
  item.name = prefix_ + spec.name;
  item.bytes = spec.bytes;
  item.item_class = spec.item_class;
  item.transient = spec.flags == HOIST_TENSOR_TRANSIENT;
  Tensor tensor;
  tensor.item = budget_->catalog().add_item(item);
  tensor.first_unit = unit;
  budget_->catalog().add_use(in.id, tensor.item, spec.mode);
  const auto index = static_cast<std::uint32_t>(tensors_.size());
  units_[unit].views.push_back({nullptr, spec.bytes, index, public_mode(spec.mode)});
  tensor_names_.emplace(spec.name, index);
  tensor.spec = std::move(spec);
  tensors_.push_back(std::move(tensor));
  return index;
}

void Manager::add_use(std::uint32_t unit, std::uint32_t tensor, plan::Mode mode) {
  require_building("a use is added");
  const Unit& in = unit_at(unit);
  const Tensor& what = tensor_at(tensor);
  if (budget_->catalog().uses(in.id, what.item)) {
    fail(HOIST_ERROR_ALREADY_EXISTS, text("unit \"", in.name, "\" uses tensor \"", what.spec.name, "\" already"),
         "say read-write when adding the first use");
  }
  budget_->catalog().add_use(in.id, what.item, mode);
  units_[unit].views.push_back({nullptr, what.spec.bytes, tensor, public_mode(mode)});
}

void Manager::add_alias(const std::string& name, std::uint32_t tensor) {
  require_building("an alias is added");
  static_cast<void>(tensor_at(tensor));
  require_new_name(name);
  tensor_names_.emplace(name, tensor);
}

std::uint32_t Manager::find_tensor(std::string_view name) const {
  const auto found = tensor_names_.find(name);
  if (found != tensor_names_.end()) return found->second;
  std::vector<std::string_view> names;
  for (const auto& entry : tensor_names_) names.push_back(entry.first);
  std::sort(names.begin(), names.end());
  fail(HOIST_ERROR_NOT_FOUND, text("tensor \"", name, "\" is not there"), nearest_hint(name, names));
}

void Manager::commit() {
  require_building("a commit");
  std::vector<std::uint32_t> order(budget_->catalog().units().size());
  for (std::uint32_t unit = 0; unit < order.size(); ++unit) order[unit] = unit;
  budget_->catalog().check_transients(order);
  budget_->require_feasible();
  pack();
  std::vector<void*> hosts(budget_->catalog().items().size(), nullptr);
  if (budget_->running()) {
    for (std::uint32_t item = 0; item < budget_->executor().residency().items().size(); ++item) {
      hosts[item] = budget_->item(item).host;
    }
  }
  for (const Tensor& tensor : tensors_) hosts[tensor.item] = tensor.pinned;
  budget_->commit(hosts);
  committed_ = true;
}

void Manager::unit_begin(std::uint32_t unit, void* stream) {
  budget_->unit_begin(unit_at(unit).id, stream);
  for (hoist_tensor_view_t& view : units_[unit].views) view.data = budget_->address(tensors_[view.tensor].item);
}

void Manager::unit_end(std::uint32_t unit, void* stream) { budget_->unit_end(unit_at(unit).id, stream); }

void Manager::require_bytes(const char* what, const Tensor& tensor, std::uint64_t bytes) const {
  if (bytes == tensor.spec.bytes) return;
  fail(HOIST_ERROR_INVALID_ARGUMENT,
       text("tensor \"", tensor.spec.name, "\" has ", tensor.spec.bytes, " bytes, ", what, " names ", bytes));
}

void Manager::require_committed(const char* what, const Tensor& tensor) const {
  if (committed_) return;
  fail(HOIST_ERROR_INVALID_STATE, text("tensor \"", tensor.spec.name, "\" is ", what, " before its manager's commit"),
       "use its host bytes, or commit first");
}

void Manager::update(std::uint32_t tensor, const void* src, std::uint64_t bytes) {
  const Tensor& it = tensor_at(tensor);
  require_committed("updated", it);
  require_bytes("an update", it, bytes);
  if (it.spec.flags == HOIST_TENSOR_TRANSIENT) {
    fail(HOIST_ERROR_INVALID_ARGUMENT,
         text("tensor \"", it.spec.name, "\" is transient and has no bytes between steps"));
  }
  budget_->update(it.item, src);
}

void Manager::read(std::uint32_t tensor, void* dst, std::uint64_t bytes) {
  const Tensor& it = tensor_at(tensor);
  require_committed("read", it);
  require_bytes("a read", it, bytes);
  budget_->read(it.item, dst);
}

TensorFacts Manager::facts(std::uint32_t tensor) const {
  const Tensor& it = tensor_at(tensor);
  TensorFacts facts;
  facts.name = it.spec.name.c_str();
  facts.bytes = it.spec.bytes;
  facts.flags = it.spec.flags;
  facts.item_class = it.spec.item_class;
  const bool transient = it.spec.flags == HOIST_TENSOR_TRANSIENT;
  facts.host = transient ? nullptr : it.pinned;
  if (!it.ready && it.spec.flags == HOIST_TENSOR_ADOPT) facts.host = it.spec.host;
  if (!committed_ || !budget_->running()) return facts;
  const ItemState& state = budget_->item(it.item);
  facts.version = state.version;
  facts.on_device = state.place.set;
  facts.host_current = budget_->host_complete(it.item);
  return facts;
}

}  // namespace hoist
