// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

#include <chrono>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <unordered_map>
#include <utility>

namespace hoist_torch {
namespace {

// Sizes up to the next power of two are alike. Never 0.
std::uint64_t bucket_of(const Tensor& tensor) {
  std::uint64_t bucket = 1469598103934665603U;
  for (std::int64_t d = 0; d < tensor.dim(); ++d) {
    std::uint64_t size = 1;
    while (size < static_cast<std::uint64_t>(tensor.size(d))) size *= 2;
    bucket = (bucket ^ size) * 1099511628211U;
  }
  return bucket | 1U;
}

constexpr auto patience = std::chrono::seconds(10);

// Whoever has the turn may meet another thread inside the budget all the same, for a while: one that asks how it
// stands, that drops a model or gives bytes back. A call that was refused for that has changed nothing.
template <typename Call>
hoist_status_t insist(Call&& call) {
  hoist_status_t status = call();
  const auto end = std::chrono::steady_clock::now() + patience;
  while (status == HOIST_ERROR_BUSY && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    status = call();
  }
  return status;
}

}  // namespace

Model::Model(hoist_manager_t* manager, hoist_device_t* device, Place place, std::int64_t budget)
    : manager_(manager), place_(place), streams_(device, place), gradients_(device), turn_(Turn::of(budget)) {
  // Here, so that the memory of no graph's own pool is kept for them.
  for (auto& token : tokens_) token = std::make_unique<Tensor>(empty({1}, aoti_torch_dtype_uint8(), place_));
}

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
Tensor Model::token() { return *tokens_[counters_.tokens++ % 2]; }

Model::~Model() { turn_->forget(this); }

void Model::take() {
  if (turn_->is_within_another(this)) {
    throw std::runtime_error(
        "hoist.torch: this thread is within a step of another model on the same budget (do this after that model's "
        "forward; after an exception in it call manager(model).settle() on that one first)");
  }
  end_left(turn_->take(this));
}

void Model::take_for_forward() {
  entry_ = Entry::nested;
  if (turn_->nest(this)) return;
  entry_ = Entry::joined;
  if (turn_->join(this)) return;
  entry_ = Entry::none;
  take();
  entry_ = Entry::own;
}

void Model::end_left(Left left) {
  try {
    if (left == Left::waiting) finish();
    if (left == Left::broken) give_up();
  } catch (...) {
    turn_->leave();
    throw;
  }
}

void Model::finish() {
  hoist::check(insist([&] { return hoist_step_end(manager_, streams_.current()); }));
  count_step(turn_->left_members());
}

// A step has ended.
void Model::count_step(const std::vector<Model*>& members) {
  for (Model* member : members) member->count_for_wake();
  hoist_budget_status_t now = HOIST_BUDGET_STATUS_INIT;
  if (hoist_manager_query(manager_, &now) != HOIST_OK) return;  // another thread asks something: the next step tells
  if (!turn_->note_step(now.mispredictions, now.phase == HOIST_PHASE_SERVING) || watch_ == nullptr) return;
  watch_(static_cast<std::uint32_t>(StepEvent::mispredicted), turn_->mispredicted());
}

ModelCounters Model::counters() const {
  ModelCounters now = counters_;
  now.mispredicted = turn_->mispredicted();
  return now;
}

void Model::settle() {
  take();
  turn_->leave();
}

hoist_status_t Model::abort_step() {
  const hoist_status_t status = insist([&] { return hoist_step_abort(manager_, streams_.current()); });
  turn_->set_opener(nullptr);
  for (Unit& unit : units_) unit.strays_open = 0;
  return status;
}

void Model::give_up() {
  const hoist_status_t status = abort_step();
  if (status != HOIST_ERROR_ORDER) hoist::check(status);  // which says that no step is open
}

// A plan for the other shapes may be asked for here: no step is open.
void Model::see_bucket(const Tensor& anchor) {
  const std::uint64_t bucket = bucket_of(anchor);
  if (std::exchange(bucket_, bucket) != bucket) watch_(static_cast<std::uint32_t>(StepEvent::bucket), bucket);
}

void Model::count_for_wake() {
  if (wake_in_ == 0 || --wake_in_ != 0) return;
  watch_(static_cast<std::uint32_t>(StepEvent::wake), 0);
}

Tensor Model::step_begin(const Tensor& anchor) {
  if (entry_ == Entry::none) take_for_forward();
  const Entry entry = std::exchange(entry_, Entry::none);
  for (Unit& unit : units_) unit.strays_open = 0;  // of a step that another model has given up
  if (entry == Entry::own) begin(&anchor);
  if (entry == Entry::joined) ++counters_.steps;
  return token();
}

// Without an anchor it is not seen what shapes the step is of.
void Model::begin(const Tensor* anchor) {
  try {
    if (watches_buckets_ && anchor != nullptr) see_bucket(*anchor);
    hoist::check(insist([&] { return hoist_step_begin(manager_, streams_.current()); }));
  } catch (...) {
    turn_->leave();
    throw;
  }
  turn_->begin();
  ++counters_.steps;
}

void Model::abort() {
  entry_ = Entry::none;
  if (!turn_->is_mine()) return;
  if (turn_->is_within_another(this)) {
    static_cast<void>(turn_->end_nested(this));
    return;
  }
  try {
    if (turn_->begun()) give_up();
  } catch (...) {
    turn_->leave();
    throw;
  }
  turn_->leave();
}

std::vector<Tensor> Model::fetch(hoist_unit_t index) {
  Unit& unit = at(index);
  ++counters_.fetches;
  if (turn_->opener() != nullptr) return stray(unit);
  hoist_stream_t* stream = streams_.current();
  hoist_unit_view_t view = HOIST_UNIT_VIEW_INIT;
  hoist::check(insist([&] { return hoist_unit_begin(manager_, index, stream, &view); }));
  turn_->set_opener(this);
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
  hoist::check(insist([&] { return hoist_tensor_query(manager_, given.tensor, &info); }));
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
  hoist::check(insist([&] { return hoist_unit_end(manager_, index, streams_.current()); }));
  turn_->set_opener(nullptr);
  return token();
}

Tensor Model::step_end() {
  if (!turn_->end_nested(this)) end();
  return token();
}

void Model::end() {
  try {
    hoist::check(insist([&] { return hoist_step_end(manager_, streams_.current()); }));
  } catch (...) {
    static_cast<void>(abort_step() == HOIST_OK);
    turn_->leave();
    throw;
  }
  count_step(turn_->members());
  turn_->leave();
}

hoist_stream_t* Model::capture_begin() {
  hoist_stream_t* stream = streams_.current();
  hoist::check(hoist_capture_begin(stream));
  streams_.set_captured(true);
  return stream;
}

hoist_graph_t* Model::capture_end() {
  streams_.set_captured(false);
  hoist_graph_t* graph = nullptr;
  hoist::check(hoist_capture_end(streams_.current(), &graph));
  return graph;
}

Tensor Model::forward_end() {
  if (!turn_->end_nested(this)) turn_->await_backward();
  return token();
}

Tensor Model::mark() {
  struct Mark {
    std::array<std::uint64_t, 2> facts;  // read as signed ones: they are small
    std::weak_ptr<Model> model;
    ~Mark() {
      if (const auto open = model.lock()) open->drop(facts[0]);
    }
  };
  std::shared_ptr<Mark> mark(new Mark{{turn_->step(), this_thread()}, weak_from_this()});  // its end is to come once
  void* data = mark->facts.data();
  return over(data, {0, 0, aoti_torch_dtype_int64(), {2}, {1}}, {aoti_torch_device_type_cpu(), -1}, std::move(mark));
}

std::uint64_t Model::backward_begin(std::uint64_t step, std::uint64_t asker) {
  const Turn::Joined joined = turn_->go_back(this, step, asker);
  if (!joined.begins) return joined.step;
  end_left(joined.left);
  begin(nullptr);
  return turn_->step();
}

void Model::backward_end(std::uint64_t step, bool failed) {
  if (!turn_->end_backward(step, failed)) return;
  if (!turn_->failed()) return end();
  give_up();
  turn_->leave();
}

std::vector<Tensor> Model::receive_gradients(const std::vector<Tensor>& sent) {
  gradients_.wait(gradients_.sent());
  std::vector<Tensor> received;
  received.reserve(sent.size());
  for (const Tensor& tensor : sent) received.push_back(same_memory(tensor));
  return received;
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

// The model ends outside of the lock: Python may run where its tensors end, and ask for any model.
void close_model(std::int64_t key) noexcept {
  const auto gone = [&] {
    const std::unique_lock lock(models_mutex);
    return models().extract(key);
  }();
}

std::shared_ptr<Model> find_model(std::int64_t key) {
  const std::shared_lock lock(models_mutex);
  const auto found = models().find(key);
  if (found != models().end()) return found->second;
  throw std::runtime_error(
      "hoist.torch: the model has been released, or the graph is another one's "
      "(offload it, and compile again); its key was " +
      std::to_string(key));
}

}  // namespace hoist_torch
