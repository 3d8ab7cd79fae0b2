// SPDX-License-Identifier: Apache-2.0
// A manager on any device whose units check, in stream order, that every byte is the one that it should be.
// The device's memory need not be the host's to touch: bytes come back through a pinned buffer on the compute
// stream, and a host function compares them there.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "budget/budget.hpp"
#include "offload/manager.hpp"
#include "support/device_objects.hpp"

namespace hoist::test {

struct DeviceRigOptions {
  std::uint32_t units = 6;
  std::uint64_t bytes = 64 << 10;  // of each tensor
  bool states = true;              // a tensor a unit that the unit increments
  bool transients = true;          // a tensor that unit u writes and unit u + 1 reads
  BudgetOptions budget{};
};

class DeviceRig {
 public:
  DeviceRig(std::shared_ptr<Device> device, const DeviceRigOptions& options)
      : options_(options), device_(std::move(device)), stream_(device_), other_(device_) {
    options_.budget.profile_steps = std::min(options.budget.profile_steps, 3U);  // tests are to come to serving soon
    budget_ = std::make_shared<Budget>(device_, options_.budget);
    manager_ = std::make_unique<Manager>(budget_);
    build();
  }
  ~DeviceRig() {
    try {
      wait();
    } catch (const Error&) {
      // A device that is broken on purpose says so here, too; a test that cares has waited.
    }
    manager_.reset();
    budget_.reset();
  }
  DeviceRig(const DeviceRig&) = delete;
  DeviceRig& operator=(const DeviceRig&) = delete;

  Budget& budget() { return *budget_; }
  Manager& manager() { return *manager_; }
  Device& device() { return *device_; }
  void* stream() const { return stream_.get(); }
  void* other_stream() const { return other_.get(); }
  std::uint32_t weight(std::uint32_t unit) const { return weights_[unit]; }
  std::uint64_t wrong() const { return wrong_.load(); }
  // Of the weights, as units saw them last.
  const std::vector<void*>& addresses() const { return addresses_; }
  std::uint64_t checked() const { return checked_.load(); }

  void run_unit(std::uint32_t unit, void* stream) {
    manager_->unit_begin(unit, stream);
    submit_compute(unit, stream);
    manager_->unit_end(unit, stream);
  }
  void run_units(const std::vector<std::uint32_t>& units) {
    budget_->step_begin(stream());
    for (std::uint32_t unit : units) run_unit(unit, stream());
    budget_->step_end();
  }
  void run_steps(int steps) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t unit = 0; unit < options_.units; ++unit) all.push_back(unit);
    for (int step = 0; step < steps; ++step) run_units(all);
  }
  // What a unit's kernels would do: look at all it reads, write all it writes.
  void submit_compute(std::uint32_t unit, void* stream) {
    for (const hoist_tensor_view_t& view : manager_->views(unit)) {
      if (view.tensor == weights_[unit]) {
        check(stream, view, weight_bytes_[unit]);
        addresses_[unit] = view.data;
      }
      if (options_.states && view.tensor == states_[unit]) {
        check(stream, view, static_cast<std::uint8_t>(writes_[unit]));
        device_->fill(stream, view.data, static_cast<std::uint8_t>(++writes_[unit]), view.bytes);
      }
      if (!options_.transients) continue;
      if (unit > 0 && view.tensor == transients_[unit - 1]) check(stream, view, transient_byte(unit - 1));
      if (view.mode == HOIST_USE_WRITE) device_->fill(stream, view.data, transient_byte(unit), view.bytes);
    }
  }
  void wait() {
    device_->stream_wait(stream());
    device_->stream_wait(other_stream());
  }
  void update_weight(std::uint32_t unit, std::uint8_t byte) {
    const std::vector<std::uint8_t> bytes(options_.bytes, byte);
    manager_->update(weights_[unit], bytes.data(), bytes.size());
    weight_bytes_[unit] = byte;
  }
  // Between steps: bytes of tensors that are not what they should be, wherever they are.
  std::uint64_t wrong_on_read_back() {
    std::uint64_t wrong = 0;
    std::vector<std::uint8_t> bytes(options_.bytes);
    const auto count = [&](std::uint32_t tensor, std::uint8_t expected) {
      manager_->read(tensor, bytes.data(), bytes.size());
      wrong += bytes.size() - static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), expected));
    };
    for (std::uint32_t unit = 0; unit < options_.units; ++unit) {
      count(weights_[unit], weight_bytes_[unit]);
      if (options_.states) count(states_[unit], static_cast<std::uint8_t>(writes_[unit]));
    }
    return wrong;
  }

 private:
  struct Check {
    DeviceRig* rig;
    const std::uint8_t* bytes;
    std::uint64_t count;
    std::uint8_t expected;
  };

  static std::uint8_t transient_byte(std::uint32_t unit) { return static_cast<std::uint8_t>(0x80 + unit); }

  // Buffers of one tensor are used in stream order, as the unit's stream is: one a tensor is enough.
  void check(void* stream, const hoist_tensor_view_t& view, std::uint8_t expected) {
    std::uint8_t* back = staging_->bytes() + view.tensor * options_.bytes;
    checks_.push_back(std::make_unique<Check>(Check{this, back, view.bytes, expected}));
    device_->copy(stream, HOIST_COPY_D2H, back, view.data, view.bytes);
    device_->host_function(
        stream,
        [](void* data) {
          const Check& it = *static_cast<Check*>(data);
          const auto right = std::count(it.bytes, it.bytes + it.count, it.expected);
          it.rig->wrong_ += it.count - static_cast<std::uint64_t>(right);
          it.rig->checked_ += it.count;
        },
        checks_.back().get(), 10);
  }

  std::uint32_t add(std::uint32_t unit, const std::string& name, std::uint32_t flags, plan::Mode mode, void* host) {
    TensorSpec spec;
    spec.name = name;
    spec.bytes = options_.bytes;
    spec.host = host;
    spec.flags = flags;
    spec.mode = mode;
    return manager_->add_tensor(unit, spec);
  }

  void build() {
    std::vector<std::vector<std::uint8_t>> hosts;
    for (std::uint32_t unit = 0; unit < options_.units; ++unit) {
      const std::string name = "u" + std::to_string(unit);
      manager_->add_unit(name);
      weight_bytes_.push_back(static_cast<std::uint8_t>(unit + 1));
      hosts.emplace_back(options_.bytes, weight_bytes_.back());
      weights_.push_back(add(unit, name + ".weight", HOIST_TENSOR_COPY, plan::Mode::read, hosts.back().data()));
      if (options_.states) {
        states_.push_back(add(unit, name + ".state", HOIST_TENSOR_ZERO, plan::Mode::read_write, nullptr));
      }
      if (!options_.transients) continue;
      if (unit > 0) manager_->add_use(unit, transients_[unit - 1], plan::Mode::read);
      if (unit + 1 < options_.units) {
        transients_.push_back(add(unit, name + ".act", HOIST_TENSOR_TRANSIENT, plan::Mode::write, nullptr));
      }
    }
    writes_.assign(options_.units, 0);
    addresses_.assign(options_.units, nullptr);
    const std::uint64_t tensors = weights_.size() + states_.size() + transients_.size();
    staging_ = std::make_unique<HostMemory>(device_, tensors * options_.bytes, true);
    manager_->commit();
  }

  DeviceRigOptions options_;
  std::shared_ptr<Device> device_;
  StreamOf stream_;
  StreamOf other_;
  std::shared_ptr<Budget> budget_;
  std::unique_ptr<Manager> manager_;
  std::unique_ptr<HostMemory> staging_;
  std::vector<std::uint32_t> weights_, states_, transients_;
  std::vector<std::uint8_t> weight_bytes_;
  std::vector<std::uint32_t> writes_;
  std::vector<void*> addresses_;
  std::vector<std::unique_ptr<Check>> checks_;
  std::atomic<std::uint64_t> wrong_{0};
  std::atomic<std::uint64_t> checked_{0};
};

}  // namespace hoist::test
