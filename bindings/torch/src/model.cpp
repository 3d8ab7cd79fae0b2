// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

#include <chrono>
#include <shared_mutex>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace hoist_torch {
namespace {

constexpr auto patience = std::chrono::seconds(60);

}  // namespace

void Model::add_leaf(hoist_unit_t unit, hoist_tensor_t tensor, Leaf leaf) {
  if (units_.size() <= unit) units_.resize(unit + 1);
  units_[unit].given.push_back({tensor, std::move(leaf), {}});
}

Model::Unit& Model::at(hoist_unit_t unit) {
  if (unit < units_.size()) return units_[unit];
  throw std::runtime_error("hoist.torch: unit " + std::to_string(unit) + " of a model with " +
                           std::to_string(units_.size()) + " units (was the graph compiled for another model?)");
}

// Order is data: ops take the token of the one before, and nobody reads its byte. Two take turns, since an op's output
// may not be its input.
Tensor Model::token() {
  auto& next = tokens_[counters_.tokens++ % 2];
  if (!next) next = std::make_unique<Tensor>(empty({1}, aoti_torch_dtype_uint8(), place_));
  return *next;
}

// A step that this thread has left by an exception is given up first.
void Model::take() {
  std::unique_lock lock(mutex_);
  const auto mine = [&] { return !taken_ || owner_ == std::this_thread::get_id(); };
  if (!ended_.wait_for(lock, patience, mine)) {
    throw std::runtime_error(
        "hoist.torch: another thread has been inside a step of this model for 60 s (wait for it, "
        "or give each thread a model)");
  }
  taken_ = true;
  owner_ = std::this_thread::get_id();
  lock.unlock();
  if (std::exchange(begun_, false)) give_up();
}

void Model::give_up() {
  const hoist_status_t status = hoist_step_abort(manager_, streams_.current());
  open_unit_ = -1;
  for (Unit& unit : units_) unit.strays_open = 0;
  if (status != HOIST_ERROR_ORDER) hoist::check(status);  // which says that no step is open
}

void Model::leave() noexcept {
  const std::lock_guard lock(mutex_);
  begun_ = taken_ = false;
  ended_.notify_one();
}

Tensor Model::step_begin() {
  take();
  try {
    hoist::check(hoist_step_begin(manager_, streams_.current()));
  } catch (...) {
    leave();
    throw;
  }
  begun_ = true;
  ++counters_.steps;
  return token();
}

void Model::abort() {
  {
    const std::lock_guard lock(mutex_);
    if (!taken_) return;
  }
  try {
    if (begun_) give_up();
  } catch (...) {
    leave();
    throw;
  }
  leave();
}

std::vector<Tensor> Model::fetch(hoist_unit_t index) {
  Unit& unit = at(index);
  ++counters_.fetches;
  if (open_unit_ >= 0) return stray(unit);
  hoist_stream_t* stream = streams_.current();
  hoist_unit_view_t view = HOIST_UNIT_VIEW_INIT;
  hoist::check(hoist_unit_begin(manager_, index, stream, &view));
  open_unit_ = index;
  streams_.before_compute(stream);
  std::vector<Tensor> tensors;
  tensors.reserve(unit.given.size());
  const auto* first = reinterpret_cast<const char*>(view.tensors);
  for (Given& given : unit.given) {
    const auto* of = reinterpret_cast<const hoist_tensor_view_t*>(first + given.leaf.view * view.stride);
    tensors.push_back(given.kept.get(of->data, given.leaf, place_, nullptr));
  }
  return tensors;
}

// A unit that runs inside another one: its bytes come by a copy of their own.
std::vector<Tensor> Model::stray(Unit& unit) {
  ++counters_.strays;
  ++unit.strays_open;
  std::vector<Tensor> tensors;
  tensors.reserve(unit.given.size());
  for (Given& given : unit.given) tensors.push_back(copy_of(given));
  return tensors;
}

Tensor Model::copy_of(Given& given) {
  hoist_tensor_info_t info = HOIST_TENSOR_INFO_INIT;
  hoist::check(hoist_tensor_query(manager_, given.tensor, &info));
  auto* host = const_cast<void*>(info.host);
  if (streams_.on_host()) return over(host, given.leaf, place_, nullptr);
  auto bytes =
      std::make_shared<Tensor>(empty({static_cast<std::int64_t>(info.bytes)}, aoti_torch_dtype_uint8(), place_));
  hoist::check(
      hoist_stream_submit_copy(streams_.current(), HOIST_COPY_H2D, bytes->mutable_data_ptr(), host, info.bytes));
  return over(bytes->mutable_data_ptr(), given.leaf, place_, bytes);
}

Tensor Model::unit_end(hoist_unit_t index) {
  Unit& unit = at(index);
  if (unit.strays_open > 0) {
    --unit.strays_open;
    return token();
  }
  hoist::check(hoist_unit_end(manager_, index, streams_.current()));
  open_unit_ = -1;
  return token();
}

Tensor Model::step_end() {
  try {
    hoist::check(hoist_step_end(manager_, streams_.current()));
  } catch (...) {
    static_cast<void>(hoist_step_abort(manager_, streams_.current()) == HOIST_OK);
    leave();
    throw;
  }
  leave();
  return token();
}

void Model::forget_tensors() {
  for (Unit& unit : units_) {
    for (Given& given : unit.given) given.kept.clear();
  }
}

namespace {

std::shared_mutex models_mutex;
std::unordered_map<std::int64_t, std::shared_ptr<Model>>& models() {
  static auto* const all = new std::unordered_map<std::int64_t, std::shared_ptr<Model>>;  // outlives every static
  return *all;
}

}  // namespace

void open_model(std::int64_t key, std::shared_ptr<Model> model) {
  const std::unique_lock lock(models_mutex);
  models()[key] = std::move(model);
}

void close_model(std::int64_t key) noexcept {
  const std::unique_lock lock(models_mutex);
  models().erase(key);
}

std::shared_ptr<Model> find_model(std::int64_t key) {
  const std::shared_lock lock(models_mutex);
  const auto found = models().find(key);
  if (found != models().end()) return found->second;
  throw std::runtime_error("hoist.torch: no offloaded model with key " + std::to_string(key) +
                           " (it was released, or the graph was compiled for another one: compile again)");
}

}  // namespace hoist_torch
