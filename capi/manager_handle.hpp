// SPDX-License-Identifier: Apache-2.0
// What hoist_budget_t and hoist_manager_t point to.
#pragma once

#include <memory>
#include <utility>

#include "device_handle.hpp"
#include "handle.hpp"
#include "hoist/manager.h"
#include "offload/manager.hpp"

struct hoist_budget_t : hoist::capi::Handle<std::shared_ptr<hoist::Budget>> {
  static constexpr const char* type = "hoist_budget_t";
};
struct hoist_manager_t : hoist::capi::Handle<std::unique_ptr<hoist::Manager>> {
  static constexpr const char* type = "hoist_manager_t";
};

namespace hoist::capi {

// Checks the handle and holds the whole budget for the call: its managers share one sequence of units.
class HeldManager {
 public:
  explicit HeldManager(const hoist_manager_t* manager)
      : manager_(*value_of(manager, "manager")), busy_(manager_.budget().busy(), "budget") {
    outer_ = std::exchange(inside(), &manager_.budget());
  }
  ~HeldManager() { inside() = outer_; }
  HeldManager(const HeldManager&) = delete;
  HeldManager& operator=(const HeldManager&) = delete;
  // The budget that the calling thread is inside of: a callback of the user's may come back here.
  static const Budget*& inside() noexcept {
    static thread_local const Budget* budget = nullptr;
    return budget;
  }
  Manager* operator->() const { return &manager_; }
  Budget& budget() const { return manager_.budget(); }

  // The device's own handle of a stream of the budget's device, kept while steps are on it.
  void* stream(const hoist_stream_t* stream) const {
    const Stream& it = value_of(stream, "stream");
    if (it.device == manager_.budget().device()) return manager_.budget().keep(it.handle);
    fail(HOIST_ERROR_INVALID_ARGUMENT,
         text("stream is of ", it.device->name(), ", the manager of ", manager_.budget().device()->name()),
         "use a stream of the manager's device");
  }

 private:
  Manager& manager_;
  Busy busy_;
  const Budget* outer_ = nullptr;
};

// capi/budget.cpp
BudgetOptions budget_options(const hoist_budget_options_t* options);
hoist_budget_status_t public_status(Budget& budget);

}  // namespace hoist::capi
