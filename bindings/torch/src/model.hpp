// SPDX-License-Identifier: Apache-2.0
// A model under a manager: which tensors its units give out, and the step that is open.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "gradients.hpp"
#include "hoist/hoist.hpp"
#include "streams.hpp"
#include "tensors.hpp"
#include "turn.hpp"

namespace hoist_torch {

struct ModelCounters {
  std::uint64_t steps;
  std::uint64_t fetches;
  std::uint64_t strays;  // fetches of a unit while another one was open: served by copies beyond the budget
  std::uint64_t tokens;
  std::uint64_t mispredicted;  // of the budget's last 16 steps that served: with units in another order than planned
};

// Told of steps, on the thread that runs them and between two of them.
enum class StepEvent : std::uint32_t {
  bucket = 0,        // the next step is for another bucket of shapes than the one before: the number of it
  wake = 1,          // as many steps have ended as were asked for
  mispredicted = 2,  // so many of the last 16 steps have run units in another order than planned
};
using StepWatch = void (*)(std::uint32_t event, std::uint64_t value);

class Model : public std::enable_shared_from_this<Model> {
 public:
  // `budget` is a number of the budget's own.
  Model(hoist_manager_t* manager, hoist_device_t* device, Place place, std::int64_t budget);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  void add_leaf(hoist_unit_t unit, hoist_tensor_t tensor, Leaf leaf);

  // A step is one thread's, from take or step_begin to the end; another thread waits until it is over, see turn.hpp.
  void take();
  // For a forward: goes on in the step of another model on the budget that waits for its backward, or is within it.
  void take_for_forward();
  Tensor step_begin(const Tensor& anchor);
  std::vector<Tensor> fetch(hoist_unit_t unit);
  Tensor unit_end(hoist_unit_t unit);
  Tensor step_end();
  // The forward is over, and its step goes on in the backward, or until the next step where that never comes.
  Tensor forward_end();
  // What a forward hands to its backward: the numbers of its step and its thread. Where all copies of it are gone
  // nobody waits for that.
  Tensor mark();
  // Gives the number of the step that the backward is part of.
  std::uint64_t backward_begin(std::uint64_t step, std::uint64_t asker);
  void backward_end(std::uint64_t step, bool failed);
  void drop(std::uint64_t step) { turn_->drop(step); }
  [[nodiscard]] std::uint64_t step() const { return turn_->step(); }
  [[nodiscard]] bool awaits_backward() { return turn_->awaits_backward(); }
  Tensor send_gradient(const Tensor& gradient) { return gradients_.send(gradient, streams_, streams_.current()); }
  // The same memory, once what has been sent is there.
  std::vector<Tensor> receive_gradients(const std::vector<Tensor>& sent);
  Gradients& gradients() { return gradients_; }
  // Between steps: ends one that waits for its backward, and gives one up that an exception has left.
  void settle();
  void abort();
  void forget_tensors();

  void set_watch(StepWatch function) { watch_ = function; }
  // After so many further steps have ended; 0: not at all.
  void wake_after(std::uint64_t steps) { wake_in_ = steps; }
  void watch_buckets(bool on) { watches_buckets_ = on; }

  // Of the host device's stream; others' are captured by torch.
  hoist_stream_t* capture_begin();
  hoist_graph_t* capture_end();
  [[nodiscard]] ModelCounters counters() const;

 private:
  // How a forward that is about to begin has come to its turn.
  enum class Entry : std::uint8_t { none, own, joined, nested };
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
  hoist_status_t abort_step();
  void give_up();
  void see_bucket(const Tensor& anchor);
  void count_for_wake();
  void count_step(const std::vector<Model*>& members);
  void begin(const Tensor* anchor);
  void end();
  void end_left(Left left);
  void finish();

  hoist_manager_t* manager_;
  Place place_;
  Streams streams_;
  Gradients gradients_;
  std::vector<Unit> units_;
  std::array<std::unique_ptr<Tensor>, 2> tokens_;
  ModelCounters counters_{};
  StepWatch watch_ = nullptr;
  std::uint64_t wake_in_ = 0;
  bool watches_buckets_ = false;
  std::uint64_t bucket_ = 0;

  std::shared_ptr<Turn> turn_;
  Entry entry_ = Entry::none;
};

// Models by the number that graphs carry.
void open_model(std::int64_t key, std::shared_ptr<Model> model);
void close_model(std::int64_t key) noexcept;
std::shared_ptr<Model> find_model(std::int64_t key);

}  // namespace hoist_torch
