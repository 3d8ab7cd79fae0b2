// SPDX-License-Identifier: Apache-2.0
// What hoist_budget_t and hoist_manager_t point to.
#pragma once

#include <memory>
#include <utility>
#include <vector>

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

// Waits until no other thread is inside the manager's budget, which cannot be refused here, and ends it.
void end_manager(std::unique_ptr<Manager> manager);

// That the calling thread is inside a budget. A callback of the user's may come back and destroy a manager of the same
// budget: it goes when the thread leaves, since to wait here would be to wait for itself.
class Inside {
 public:
  explicit Inside(const Budget& budget) : budget_(&budget), outer_(std::exchange(innermost(), this)) {}
  ~Inside() {
    innermost() = outer_;
    for (std::unique_ptr<Manager>& manager : leaving_) end_manager(std::move(manager));
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  // The calling thread's own in that budget, or NULL.
  static Inside* of(const Budget& budget) noexcept {
    Inside* it = innermost();
    while (it != nullptr && it->budget_ != &budget) it = it->outer_;
    return it;
  }
  void end_later(std::unique_ptr<Manager> manager) { leaving_.push_back(std::move(manager)); }

 private:
  static Inside*& innermost() noexcept {
    // At a fixed offset of the thread's own memory: no call finds it.
    __attribute__((tls_model("initial-exec"))) static thread_local Inside* frame = nullptr;
    return frame;
  }

  const Budget* budget_;
  Inside* outer_;
  std::vector<std::unique_ptr<Manager>> leaving_;
};

// Checks the handle and holds the whole budget for the call: its managers share one sequence of units.
class HeldManager {
 public:
  explicit HeldManager(const hoist_manager_t* manager)
      : manager_(*value_of(manager, "manager")),
        inside_(manager_.budget()),
        busy_(manager_.budget().busy(), "budget") {}
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
  Inside inside_;  // goes after busy_: managers that leave then take it
  Busy busy_;
};

// capi/budget.cpp
BudgetOptions budget_options(const hoist_budget_options_t* options);
void write_status(Budget& budget, hoist_budget_status_t& out);

}  // namespace hoist::capi
