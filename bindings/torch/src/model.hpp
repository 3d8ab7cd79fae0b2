// SPDX-License-Identifier: Apache-2.0
// A model under a manager: which tensors its units give out, and the step that is open.
#pragma once

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "hoist/hoist.hpp"
#include "streams.hpp"
#include "tensors.hpp"

namespace hoist_torch {

struct ModelCounters {
  std::uint64_t steps;
  std::uint64_t fetches;
  std::uint64_t strays;  // fetches of a unit while another one was open: served by copies beyond the budget
  std::uint64_t tokens;
};

class Model : public std::enable_shared_from_this<Model> {
 public:
  Model(hoist_manager_t* manager, hoist_device_t* device, Place place)
      : manager_(manager), place_(place), streams_(device, place) {}

  void add_leaf(hoist_unit_t unit, hoist_tensor_t tensor, Leaf leaf);

  // A step is one thread's, from take or step_begin to step_end or abort. Another thread waits until it is over.
  void take();
  Tensor step_begin();
  std::vector<Tensor> fetch(hoist_unit_t unit);
  Tensor unit_end(hoist_unit_t unit);
  Tensor step_end();
  void abort();
  void forget_tensors();
  [[nodiscard]] ModelCounters counters() const { return counters_; }

 private:
  struct Given {
    hoist_tensor_t tensor;
    Leaf leaf;
    Kept kept;
  };
  struct Unit {
    std::vector<Given> given;
    std::uint32_t strays_open = 0;
  };

  Unit& at(hoist_unit_t unit);
  Tensor token();
  std::vector<Tensor> stray(Unit& unit);
  Tensor copy_of(Given& given);
  void give_up();
  void leave() noexcept;

  hoist_manager_t* manager_;
  Place place_;
  Streams streams_;
  std::vector<Unit> units_;
  std::array<std::unique_ptr<Tensor>, 2> tokens_;
  std::int64_t open_unit_ = -1;
  ModelCounters counters_{};

  std::mutex mutex_;  // guards taken_ and owner_
  std::condition_variable ended_;
  bool taken_ = false;
  bool begun_ = false;
  std::thread::id owner_;
};

// Models by the number that graphs carry.
void open_model(std::int64_t key, std::shared_ptr<Model> model);
void close_model(std::int64_t key) noexcept;
std::shared_ptr<Model> find_model(std::int64_t key);

}  // namespace hoist_torch
