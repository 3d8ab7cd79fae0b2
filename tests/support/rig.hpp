// SPDX-License-Identifier: Apache-2.0
// A manager on a host device whose units check, on the device and in stream order, that every byte is
// the one that it should be: weights hold a pattern for ever, states count their writes, transients
// carry what the unit before wrote.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "budget/budget.hpp"
#include "offload/manager.hpp"
#include "support/in_place_of.hpp"

namespace hoist::test {

struct RigOptions {
  std::string device = "host:0?mode=threaded";
  std::uint32_t units = 6;
  std::uint64_t bytes = 4096;  // of each tensor
  bool states = false;         // a tensor a unit that the unit increments
  bool transients = false;     // a tensor that unit u writes and unit u + 1 reads
  BudgetOptions budget{};
};

// The byte that unit u's weight is full of.
inline std::uint8_t pattern(std::uint32_t unit) { return static_cast<std::uint8_t>(unit + 1); }

class Rig {
 public:
  explicit Rig(const RigOptions& options) : options_(options), device_(Device::open(in_place_of(options.device))) {
    // Measuring takes longer than most tests; on a virtual clock it is exact and free.
    if (!device_->has(HOIST_CAPABILITY_VIRTUAL_CLOCK) && !options_.budget.links) {
      options_.budget.links = LinkCurve{{2, 5000}, {2, 5000}, 0.9};
    }
    options_.budget.profile_steps = std::min(options_.budget.profile_steps, 3U);  // tests are to come to serving soon
    stream_ = device_->stream_create();
    other_stream_ = device_->stream_create();
    budget_ = std::make_shared<Budget>(device_, options_.budget);
    manager_ = std::make_unique<Manager>(budget_);
    try {
      build();
    } catch (...) {
      take_down();
      throw;
    }
  }
  ~Rig() {
    device_->stream_wait(stream_);
    device_->stream_wait(other_stream_);
    take_down();
  }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  Manager& manager() { return *manager_; }
  Budget& budget() { return *budget_; }
  Device& device() { return *device_; }
  std::shared_ptr<Device> shared_device() { return device_; }
  void* stream() { return stream_; }
  void* other_stream() { return other_stream_; }
  std::uint32_t units() const { return options_.units; }
  std::uint32_t weight(std::uint32_t unit) const { return weights_[unit]; }
  std::uint32_t state(std::uint32_t unit) const { return states_[unit]; }
  // Bytes that were not what they should be, over all units so far.
  std::uint64_t wrong() const { return wrong_.load(); }
  std::uint64_t checked() const { return checked_.load(); }
  std::uint32_t writes(std::uint32_t unit) const { return written_[unit]; }

  void step_begin() { budget_->step_begin(stream_); }
  void step_end() { budget_->step_end(); }
  void run_unit(std::uint32_t unit, double modelled_us = 100) { run_unit_on(unit, stream_, modelled_us); }
  void run_unit_on(std::uint32_t unit, void* stream, double modelled_us = 100) {
    begin_unit(unit, stream, modelled_us);
    manager_->unit_end(unit, stream);
  }
  // Submits the unit's compute and leaves it open.
  void begin_unit(std::uint32_t unit, void* stream, double modelled_us = 100) {
    manager_->unit_begin(unit, stream);
    works_.push_back(std::make_unique<Work>(Work{this, unit, manager_->views(unit), written_[unit], modelled_us}));
    if (options_.states) ++written_[unit];
    device_->host_function(
        stream, [](void* work) { static_cast<Work*>(work)->run(); }, works_.back().get(), modelled_us);
  }
  void run_step() {
    step_begin();
    for (std::uint32_t unit = 0; unit < options_.units; ++unit) run_unit(unit);
    step_end();
  }
  void run_steps(int steps) {
    for (int step = 0; step < steps; ++step) run_step();
  }
  void wait() {
    device_->stream_wait(stream_);
    device_->stream_wait(other_stream_);
  }
  // Between steps or units: every tensor's live bytes are what they should be.
  std::uint64_t wrong_on_read_back() {
    std::uint64_t wrong = 0;
    std::vector<std::uint8_t> bytes(options_.bytes);
    for (std::uint32_t unit = 0; unit < options_.units; ++unit) {
      manager_->read(weights_[unit], bytes.data(), bytes.size());
      for (std::uint8_t byte : bytes) wrong += byte != weight_bytes_[unit] ? 1 : 0;
      if (!options_.states) continue;
      manager_->read(states_[unit], bytes.data(), bytes.size());
      for (std::uint8_t byte : bytes) wrong += byte != static_cast<std::uint8_t>(written_[unit]) ? 1 : 0;
    }
    return wrong;
  }
  // A weight's bytes change: units begun later see the new ones.
  void update_weight(std::uint32_t unit, std::uint8_t byte) {
    std::vector<std::uint8_t> bytes(options_.bytes, byte);
    weight_bytes_[unit] = byte;
    manager_->update(weights_[unit], bytes.data(), bytes.size());
  }

 private:
  void take_down() noexcept {
    manager_.reset();
    budget_.reset();
    device_->stream_destroy(stream_);
    device_->stream_destroy(other_stream_);
  }

  struct Work {
    Rig* rig;
    std::uint32_t unit;
    std::vector<hoist_tensor_view_t> views;
    std::uint32_t writes_before;
    double modelled_us;
    std::uint8_t weight = 0;

    Work(Rig* r, std::uint32_t u, std::vector<hoist_tensor_view_t> v, std::uint32_t w, double us)
        : rig(r), unit(u), views(std::move(v)), writes_before(w), modelled_us(us), weight(r->weight_bytes_[u]) {}

    void check(const hoist_tensor_view_t& view, std::uint8_t expected) const {
      const auto* bytes = static_cast<const std::uint8_t*>(view.data);
      std::uint64_t wrong = 0;
      for (std::uint64_t i = 0; i < view.bytes; ++i) wrong += bytes[i] != expected ? 1 : 0;
      rig->wrong_ += wrong;
      rig->checked_ += view.bytes;
    }
    void run() const {
      for (const hoist_tensor_view_t& view : views) {
        if (view.tensor == rig->weights_[unit]) check(view, weight);
        if (rig->options_.states && view.tensor == rig->states_[unit]) {
          check(view, static_cast<std::uint8_t>(writes_before));
          std::memset(view.data, static_cast<std::uint8_t>(writes_before + 1), view.bytes);
        }
        if (!rig->options_.transients) continue;
        if (view.mode == HOIST_USE_WRITE) std::memset(view.data, pattern(unit) ^ 0x40, view.bytes);
        if (unit > 0 && view.tensor == rig->transients_[unit - 1]) check(view, pattern(unit - 1) ^ 0x40);
      }
    }
  };

  void add(std::uint32_t unit, const std::string& name, std::uint32_t flags, plan::Mode mode, void* host,
           std::vector<std::uint32_t>& into) {
    TensorSpec spec;
    spec.name = name;
    spec.bytes = options_.bytes;
    spec.host = host;
    spec.flags = flags;
    spec.mode = mode;
    into.push_back(manager_->add_tensor(unit, spec));
  }

  void build() {
    std::vector<std::vector<std::uint8_t>> hosts;
    hosts.reserve(options_.units);
    for (std::uint32_t unit = 0; unit < options_.units; ++unit) {
      const std::string name = "u" + std::to_string(unit);
      manager_->add_unit(name);
      weight_bytes_.push_back(pattern(unit));
      hosts.emplace_back(options_.bytes, pattern(unit));
      add(unit, name + ".weight", HOIST_TENSOR_COPY, plan::Mode::read, hosts.back().data(), weights_);
      if (options_.states) add(unit, name + ".state", HOIST_TENSOR_ZERO, plan::Mode::read_write, nullptr, states_);
      if (!options_.transients) continue;
      if (unit + 1 < options_.units) {
        add(unit, name + ".act", HOIST_TENSOR_TRANSIENT, plan::Mode::write, nullptr, transients_);
      }
      if (unit > 0) manager_->add_use(unit, transients_[unit - 1], plan::Mode::read);
    }
    written_.assign(options_.units, 0);
    manager_->commit();
  }

  RigOptions options_;
  std::shared_ptr<Device> device_;
  void* stream_ = nullptr;
  void* other_stream_ = nullptr;
  std::shared_ptr<Budget> budget_;
  std::unique_ptr<Manager> manager_;
  std::vector<std::uint32_t> weights_, states_, transients_;
  std::vector<std::uint8_t> weight_bytes_;
  std::vector<std::uint32_t> written_;
  std::vector<std::unique_ptr<Work>> works_;
  std::atomic<std::uint64_t> wrong_{0};
  std::atomic<std::uint64_t> checked_{0};
};

}  // namespace hoist::test
