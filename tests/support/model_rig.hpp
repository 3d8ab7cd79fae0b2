// SPDX-License-Identifier: Apache-2.0
// A manager over any units and items, with imported plans. Each item is full of one byte, which grows with
// every write; a unit looks at what it reads when it starts and again when it ends, and writes last.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "budget/budget.hpp"
#include "offload/manager.hpp"
#include "support/in_place_of.hpp"

namespace hoist::test {

struct ModelItem {
  std::string name;
  std::uint64_t bytes = 4096;
  bool transient = false;
  bool adopted = false;
};

struct ModelUse {
  std::uint32_t item;
  plan::Mode mode = plan::Mode::read;
};

struct ModelUnit {
  std::vector<ModelUse> uses;
  double modelled_us = 100;
  std::uint64_t workspace = 0;
};

struct Model {
  std::vector<ModelItem> items;
  std::vector<ModelUnit> units;
};

class ModelRig {
 public:
  ModelRig(const std::string& device, Model model, BudgetOptions options, bool commits = true)
      : model_(std::move(model)), device_(Device::open(in_place_of(device))), values_(model_.items.size()) {
    if (!device_->has(HOIST_CAPABILITY_VIRTUAL_CLOCK) && !options.links) {
      options.links = LinkCurve{{2, 5000}, {2, 5000}, 0.9};
    }
    options.profile_steps = std::min(options.profile_steps, 3U);  // tests are to come to serving soon
    stream_ = device_->stream_create();
    other_stream_ = device_->stream_create();
    budget_ = std::make_shared<Budget>(device_, options);
    manager_ = std::make_unique<Manager>(budget_);
    build();
    if (commits) manager_->commit();
  }
  ~ModelRig() {
    wait();
    destroy();
    device_->stream_destroy(stream_);
    device_->stream_destroy(other_stream_);
  }
  ModelRig(const ModelRig&) = delete;
  ModelRig& operator=(const ModelRig&) = delete;

  // Manager and budget go; adopted bytes stay.
  void destroy() {
    manager_.reset();
    budget_.reset();
  }
  std::uint64_t wrong_in_adopted() const {
    std::uint64_t wrong = 0;
    for (std::uint32_t item = 0; item < model_.items.size(); ++item) {
      if (!model_.items[item].adopted) continue;
      for (std::uint8_t byte : hosts_[item]) wrong += byte != values_[item] ? 1 : 0;
    }
    return wrong;
  }

  Manager& manager() { return *manager_; }
  Budget& budget() { return *budget_; }
  Device& device() { return *device_; }
  Residency& residency() { return budget_->executor().residency(); }
  void* stream() { return stream_; }
  void* other_stream() { return other_stream_; }
  std::uint8_t value(std::uint32_t item) const { return values_[item]; }
  std::uint64_t wrong() const { return wrong_.load(); }
  // How long units take in real time, from now on.
  void set_sleep(int us) { sleep_us_ = us; }

  void update(std::uint32_t item) {
    const std::vector<std::uint8_t> bytes(model_.items[item].bytes, static_cast<std::uint8_t>(values_[item] + 1));
    manager_->update(tensors_[item], bytes.data(), bytes.size());
    ++values_[item];
  }

  void begin(std::uint32_t unit) { begin_on(unit, stream_); }
  void begin_on(std::uint32_t unit, void* stream) {
    manager_->unit_begin(unit, stream);
    auto work = std::make_unique<Work>();
    work->rig = this;
    work->sleep_us = sleep_us_;
    const auto& uses = model_.units[unit].uses;
    for (std::size_t k = 0; k < uses.size(); ++k) {
      std::uint8_t& value = values_[uses[k].item];
      const auto after = static_cast<std::uint8_t>(plan::writes(uses[k].mode) ? value + 1 : value);
      work->pieces.push_back({manager_->views(unit)[k], uses[k].mode, value, after});
      value = after;
    }
    submit(stream, *work, model_.units[unit].modelled_us);
    works_.push_back(std::move(work));
  }
  void end(std::uint32_t unit) { manager_->unit_end(unit, stream_); }
  void run(std::uint32_t unit) { run_on(unit, stream_); }
  void run_on(std::uint32_t unit, void* stream) {
    begin_on(unit, stream);
    manager_->unit_end(unit, stream);
  }
  void step_begin() { budget_->step_begin(stream_); }
  void step_end() { budget_->step_end(); }
  void step(const std::vector<std::uint32_t>& order) {
    step_begin();
    for (std::uint32_t unit : order) run(unit);
    step_end();
  }
  void step() {
    step_begin();
    for (std::uint32_t unit = 0; unit < model_.units.size(); ++unit) run(unit);
    step_end();
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) step();
  }
  void wait() {
    device_->stream_wait(stream_);
    device_->stream_wait(other_stream_);
  }
  // Nothing submitted to the lane from now on runs before so long.
  void hold(LaneId lane, int us) {
    holds_.push_back(std::make_unique<int>(us));
    device_->host_function(
        residency().lane(lane).stream(), [](void* it) { sleep_us(*static_cast<int*>(it)); }, holds_.back().get(), us);
  }
  // Items that are not what they should be, wherever they are; transients apart.
  std::uint64_t wrong_on_read_back() {
    std::uint64_t wrong = 0;
    for (std::uint32_t item = 0; item < model_.items.size(); ++item) {
      if (model_.items[item].transient) continue;
      std::vector<std::uint8_t> bytes(model_.items[item].bytes);
      manager_->read(tensors_[item], bytes.data(), bytes.size());
      for (std::uint8_t byte : bytes) wrong += byte != values_[item] ? 1 : 0;
    }
    return wrong;
  }
  TensorFacts facts(std::uint32_t item) const { return manager_->facts(tensors_[item]); }

 private:
  struct Piece {
    hoist_tensor_view_t view;
    plan::Mode mode;
    std::uint8_t before;
    std::uint8_t after;
  };
  struct Work {
    ModelRig* rig = nullptr;
    int sleep_us = 0;
    std::vector<Piece> pieces;

    void check(const Piece& piece) const {
      const auto* bytes = static_cast<const std::uint8_t*>(piece.view.data);
      std::uint64_t wrong = 0;
      for (std::uint64_t i = 0; i < piece.view.bytes; ++i) wrong += bytes[i] != piece.before ? 1 : 0;
      rig->wrong_ += wrong;
    }
    void run() const {
      if (rig->device_->has(HOIST_CAPABILITY_NO_BYTES)) return;
      for (int round = 0; round < 2; ++round) {
        for (const Piece& piece : pieces) {
          if (plan::reads(piece.mode)) check(piece);
        }
        if (round == 0) ModelRig::sleep_us(sleep_us);
      }
      for (const Piece& piece : pieces) {
        if (plan::writes(piece.mode)) std::memset(piece.view.data, piece.after, piece.view.bytes);
      }
    }
  };

  // A failure that was injected for others is tried again.
  void submit(void* stream, Work& work, double modelled_us) {
    const auto run = [](void* it) { static_cast<Work*>(it)->run(); };
    try {
      device_->host_function(stream, run, &work, modelled_us);
    } catch (const Error&) {
      device_->host_function(stream, run, &work, modelled_us);
    }
  }

  static void sleep_us(int us) {
    if (us > 0) std::this_thread::sleep_for(std::chrono::microseconds(us));
  }

  void build() {
    for (std::uint32_t unit = 0; unit < model_.units.size(); ++unit) {
      manager_->add_unit("u" + std::to_string(unit));
      if (model_.units[unit].workspace != 0) manager_->set_workspace(unit, model_.units[unit].workspace);
    }
    tensors_.assign(model_.items.size(), no_index);
    hosts_.resize(model_.items.size());
    for (std::uint32_t unit = 0; unit < model_.units.size(); ++unit) {
      for (const ModelUse& use : model_.units[unit].uses) {
        if (tensors_[use.item] != no_index) {
          manager_->add_use(unit, tensors_[use.item], use.mode);
        } else {
          add_tensor(unit, use);
        }
      }
    }
  }

  void add_tensor(std::uint32_t unit, const ModelUse& use) {
    const ModelItem& item = model_.items[use.item];
    values_[use.item] = static_cast<std::uint8_t>(10 * use.item + 1);
    TensorSpec spec;
    spec.name = item.name;
    spec.bytes = item.bytes;
    spec.mode = use.mode;
    spec.flags = item.transient ? HOIST_TENSOR_TRANSIENT : item.adopted ? HOIST_TENSOR_ADOPT : HOIST_TENSOR_COPY;
    if (!item.transient) {
      hosts_[use.item].assign(item.bytes, values_[use.item]);
      spec.host = hosts_[use.item].data();
    }
    tensors_[use.item] = manager_->add_tensor(unit, spec);
  }

  Model model_;
  std::shared_ptr<Device> device_;
  void* stream_ = nullptr;
  void* other_stream_ = nullptr;
  std::shared_ptr<Budget> budget_;
  std::unique_ptr<Manager> manager_;
  std::vector<std::uint32_t> tensors_;
  std::vector<std::uint8_t> values_;
  std::vector<std::vector<std::uint8_t>> hosts_;
  std::vector<std::unique_ptr<Work>> works_;
  std::vector<std::unique_ptr<int>> holds_;
  std::atomic<std::uint64_t> wrong_{0};
  int sleep_us_ = 0;
};

// A plan by hand, items by name.
class PlanBuilder {
 public:
  explicit PlanBuilder(const plan::Problem& problem) : problem_(problem) {}

  PlanBuilder& home(const char* item, std::uint64_t offset) { return put(plan_.homes, item, offset); }
  PlanBuilder& initial(const char* item, std::uint64_t offset) { return put(plan_.initial_resident, item, offset); }
  PlanBuilder& birth(const char* item, std::uint64_t offset) { return put(plan_.births, item, offset); }
  PlanBuilder& load(const char* item, int after, int before, std::uint64_t offset) {
    plan_.ops.push_back({plan::OpKind::load, id(item), after, before, offset});
    return *this;
  }
  PlanBuilder& store(const char* item, int after) {
    plan_.ops.push_back({plan::OpKind::store, id(item), after, 0, 0});
    return *this;
  }
  PlanBuilder& drop(const char* item, int after) {
    plan_.ops.push_back({plan::OpKind::drop, id(item), after, 0, 0});
    return *this;
  }
  plan::Plan build() {
    plan_.problem_digest = plan::problem_digest(problem_);
    return plan_;
  }

 private:
  std::uint32_t id(const std::string& name) const {
    for (std::uint32_t item = 0; item < problem_.items.size(); ++item) {
      if (problem_.items[item].name == name) return item;
    }
    throw std::invalid_argument("no item " + name);
  }
  PlanBuilder& put(std::vector<plan::Place>& places, const char* item, std::uint64_t offset) {
    places.push_back({id(item), offset});
    return *this;
  }

  const plan::Problem& problem_;
  plan::Plan plan_;
};

}  // namespace hoist::test
