// SPDX-License-Identifier: Apache-2.0
// Managers as Python holds them.
#pragma once

#include <memory>
#include <vector>

#include "common.hpp"
#include "device.hpp"
#include "view.hpp"

namespace hoist_python {

// The manager and what it needs alive; views of host bytes share it.
struct ManagerState {
  std::shared_ptr<Device> device;
  hoist::Manager manager;
  std::vector<std::unique_ptr<Buffer>> adopted;

  ManagerState(std::shared_ptr<Device> of, hoist::Manager made) : device(std::move(of)), manager(std::move(made)) {}
  ~ManagerState() {
    without_gil([&] { const hoist::Manager last = std::move(manager); });
  }
  ManagerState(const ManagerState&) = delete;
  ManagerState& operator=(const ManagerState&) = delete;
};

class Manager {
 public:
  explicit Manager(std::shared_ptr<ManagerState> state) : state_(std::move(state)) {}
  // Keeps the state for the length of a call, even where another thread closes meanwhile.
  [[nodiscard]] std::shared_ptr<ManagerState> state() const {
    if (!state_) raise(HOIST_ERROR_INVALID_STATE, "hoist.Manager", "the manager is closed", "make another one");
    return state_;
  }
  void close() {
    refuse_strays("hoist.Manager.close");
    state_.reset();
  }

 private:
  std::shared_ptr<ManagerState> state_;
};

}  // namespace hoist_python
