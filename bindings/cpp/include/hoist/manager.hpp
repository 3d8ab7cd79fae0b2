// SPDX-License-Identifier: Apache-2.0
// The budget and the managers that join it.
#pragma once

#include <string>

#include "hoist/budget.h"
#include "hoist/device.hpp"
#include "hoist/graph.h"
#include "hoist/handle.hpp"
#include "hoist/manager.h"
#include "hoist/timing.h"
#include "hoist/trace.h"

namespace hoist {

// All defaults; fields may be set, or options by name.
struct BudgetOptions : hoist_budget_options_t {
  BudgetOptions() : hoist_budget_options_t() {
    struct_size = sizeof(hoist_budget_options_t);
    check(hoist_budget_options_init(this));
  }
  BudgetOptions& set(const std::string& key, const std::string& value) {
    check(hoist_budget_options_set(this, detail::c_text(key, "key"), detail::c_text(value, "value")));
    return *this;
  }
};

class Budget : public detail::Handle<hoist_budget_t, hoist_budget_destroy> {
 public:
  using Handle::Handle;
  explicit Budget(const Device& device) : Handle(make(hoist_budget_create, device.get(), nullptr)) {}
  Budget(const Device& device, const hoist_budget_options_t& options)
      : Handle(make(hoist_budget_create, device.get(), &options)) {}

  void set_bytes(std::uint64_t bytes) { check(hoist_budget_set(get(), bytes, 0.0)); }
  void set_share(double share) { check(hoist_budget_set(get(), 0, share)); }
  // Bytes or a share, as the option "budget" takes it.
  void set(const std::string& budget) {
    const BudgetOptions options = BudgetOptions().set("budget", budget);
    check(hoist_budget_set(get(), options.budget_bytes, options.budget_share));
  }
  void reserve(std::uint64_t bytes) { check(hoist_budget_reserve(get(), bytes)); }
  void release(std::uint64_t bytes) { check(hoist_budget_release(get(), bytes)); }
  [[nodiscard]] hoist_budget_status_t query() const {
    hoist_budget_status_t status{};
    status.struct_size = sizeof status;
    check(hoist_budget_query(get(), &status));
    return status;
  }
};

// A tensor to add; the fields are hoist_tensor_desc_t's.
struct TensorDesc : hoist_tensor_desc_t {
  TensorDesc() : hoist_tensor_desc_t(HOIST_TENSOR_DESC_INIT) {}
};

class Manager : public detail::Handle<hoist_manager_t, hoist_manager_destroy> {
 public:
  using Handle::Handle;
  explicit Manager(const Device& device) : Handle(make(hoist_manager_create, device.get(), nullptr)) {}
  Manager(const Device& device, const Budget& budget) : Handle(joined(device, budget)) {}

  hoist_unit_t add_unit(const std::string& name) {
    hoist_unit_t unit = 0;
    check(hoist_manager_add_unit(get(), detail::c_text(name, "name"), &unit));
    return unit;
  }
  void set_workspace(hoist_unit_t unit, std::uint64_t bytes) { check(hoist_manager_set_workspace(get(), unit, bytes)); }
  hoist_tensor_t add_tensor(hoist_unit_t unit, const hoist_tensor_desc_t& desc) {
    hoist_tensor_t tensor = 0;
    check(hoist_manager_add_tensor(get(), unit, &desc, &tensor));
    return tensor;
  }
  void add_use(hoist_unit_t unit, hoist_tensor_t tensor, hoist_use_mode_t mode) {
    check(hoist_manager_add_use(get(), unit, tensor, mode));
  }
  void add_alias(const std::string& name, hoist_tensor_t tensor) {
    check(hoist_manager_add_alias(get(), detail::c_text(name, "name"), tensor));
  }
  [[nodiscard]] hoist_tensor_t tensor(const std::string& name) const {
    hoist_tensor_t tensor = 0;
    check(hoist_manager_get_tensor(get(), detail::c_text(name, "name"), &tensor));
    return tensor;
  }

  void commit() { check(hoist_manager_commit(get())); }
  void drain() { check(hoist_manager_drain(get())); }
  void suspend() { check(hoist_manager_suspend(get())); }
  void resume() { check(hoist_manager_resume(get())); }

  void update(hoist_tensor_t tensor, const void* src, std::uint64_t bytes, Stream& stream) {
    check(hoist_tensor_update(get(), tensor, src, bytes, stream.get()));
  }
  void read(hoist_tensor_t tensor, void* dst, std::uint64_t bytes) {
    check(hoist_tensor_read(get(), tensor, dst, bytes));
  }
  [[nodiscard]] hoist_tensor_info_t info(hoist_tensor_t tensor) const {
    hoist_tensor_info_t info{};
    info.struct_size = sizeof info;
    check(hoist_tensor_query(get(), tensor, &info));
    return info;
  }
  [[nodiscard]] hoist_budget_status_t query() const {
    hoist_budget_status_t status{};
    status.struct_size = sizeof status;
    check(hoist_manager_query(get(), &status));
    return status;
  }

  // Replays of steps that were captured.
  [[nodiscard]] hoist_replay_status_t replay_query() {
    hoist_replay_status_t status{};
    status.struct_size = sizeof status;
    check(hoist_replay_query(get(), &status));
    return status;
  }
  void replay_abort() { check(hoist_replay_abort(get())); }  // from any thread
  void replay_release() { check(hoist_replay_release(get())); }

  void trace_begin(std::uint64_t event_limit) { check(hoist_trace_begin(get(), event_limit)); }
  void trace_end(const std::string& path) { check(hoist_trace_end(get(), detail::c_text(path, "path"))); }
  void trace_drop() { check(hoist_trace_end(get(), nullptr)); }

  void timing_begin(std::uint32_t step_limit) { check(hoist_timing_begin(get(), step_limit)); }
  void timing_update() { check(hoist_timing_update(get())); }
  [[nodiscard]] hoist_unit_timing_t timing(hoist_unit_t unit) const {
    hoist_unit_timing_t timing{};
    timing.struct_size = sizeof timing;
    check(hoist_timing_query(get(), unit, &timing));
    return timing;
  }
  void timing_end() { check(hoist_timing_end(get())); }

 private:
  static hoist_manager_t* joined(const Device& device, const Budget& budget) {
    hoist_manager_options_t options{};
    options.struct_size = sizeof options;
    check(hoist_manager_options_init(&options));
    options.budget = budget.get();
    return make(hoist_manager_create, device.get(), &options);
  }
};

}  // namespace hoist
