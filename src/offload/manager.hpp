// SPDX-License-Identifier: Apache-2.0
// The manager: names, units, tensors and their host bytes. What moves when is the budget's.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "budget/budget.hpp"
#include "hoist/manager.h"
#include "hoist/step.h"

namespace hoist {

struct TensorSpec {
  std::string name;
  std::uint64_t bytes = 0;
  void* host = nullptr;
  std::uint32_t flags = 0;
  plan::Mode mode = plan::Mode::read;
  plan::ItemClass item_class = plan::ItemClass::weight;
  hoist_release_fn_t release = nullptr;
  void* user_data = nullptr;
};

struct TensorFacts {
  const char* name = "";
  std::uint64_t bytes = 0;
  const void* host = nullptr;
  std::uint64_t version = 0;
  bool on_device = false;
  bool host_current = false;
  std::uint32_t flags = 0;
  plan::ItemClass item_class = plan::ItemClass::weight;
};

// Names are looked up as they were given, without a string of their own.
struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const noexcept { return std::hash<std::string_view>()(name); }
};

class Manager final : public BudgetMember {
 public:
  explicit Manager(std::shared_ptr<Budget> budget);
  ~Manager() override;
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  [[nodiscard]] Budget& budget() noexcept { return *budget_; }
  [[nodiscard]] const Budget& budget() const noexcept { return *budget_; }
  [[nodiscard]] const std::shared_ptr<Budget>& shared_budget() const noexcept { return budget_; }
  [[nodiscard]] bool committed() const noexcept override { return committed_; }
  [[nodiscard]] bool may_go_later() const noexcept override;
  void renumber(const std::vector<std::uint32_t>& units, const std::vector<std::uint32_t>& items) override;

  std::uint32_t add_unit(const std::string& name);
  void set_workspace(std::uint32_t unit, std::uint64_t bytes);
  std::uint32_t add_tensor(std::uint32_t unit, TensorSpec spec);
  void add_use(std::uint32_t unit, std::uint32_t tensor, plan::Mode mode);
  void add_alias(const std::string& name, std::uint32_t tensor);
  [[nodiscard]] std::uint32_t find_tensor(std::string_view name) const;
  void commit();

  void unit_begin(std::uint32_t unit, void* stream);
  void unit_end(std::uint32_t unit, void* stream);
  // Of the unit begun last.
  [[nodiscard]] const std::vector<hoist_tensor_view_t>& views(std::uint32_t unit) const { return units_[unit].views; }

  void update(std::uint32_t tensor, const void* src, std::uint64_t bytes);
  void read(std::uint32_t tensor, void* dst, std::uint64_t bytes);
  [[nodiscard]] TensorFacts facts(std::uint32_t tensor) const;
  [[nodiscard]] std::size_t unit_count() const noexcept { return units_.size(); }
  [[nodiscard]] std::uint32_t budget_unit(std::uint32_t unit) const { return unit_at(unit).id; }

 private:
  struct Unit {
    std::string name;
    std::uint32_t id = 0;  // in the budget
    std::vector<hoist_tensor_view_t> views;
  };
  struct Tensor {
    TensorSpec spec;
    std::uint32_t item = 0;  // in the budget
    std::uint32_t first_unit = 0;
    void* pinned = nullptr;  // the host copy, once packed or adopted
    bool ready = false;
  };

  void require_building(const char* what) const;
  const Unit& unit_at(std::uint32_t unit) const;
  const Tensor& tensor_at(std::uint32_t tensor) const;
  void require_committed(const char* what, const Tensor& tensor) const;
  void require_bytes(const char* what, const Tensor& tensor, std::uint64_t bytes) const;
  void require_new_name(const std::string& name) const;
  void pack();
  void pack_unit(const std::vector<Tensor*>& tensors);
  void fill(const std::vector<Tensor*>& tensors, void* slab) const;
  void release(Tensor& tensor) noexcept;

  std::shared_ptr<Budget> budget_;
  std::string prefix_;  // names of a later manager in one budget, for the plan
  std::vector<Unit> units_;
  std::vector<Tensor> tensors_;
  std::unordered_map<std::string, std::uint32_t> unit_names_;
  std::unordered_map<std::string, std::uint32_t, NameHash, std::equal_to<>> tensor_names_;
  std::vector<void*> slabs_;
  std::atomic<bool> committed_{false};  // after it names stay, and can be looked up from any thread
};

}  // namespace hoist
