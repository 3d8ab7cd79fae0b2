// SPDX-License-Identifier: Apache-2.0
// A ring of six units on half of its bytes, with all that can happen to it: tests/bindings/SCENARIO.md.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "hoist/hoist.hpp"

namespace {

constexpr int unit_count = 6;
constexpr std::uint64_t weight_bytes = 65536, shared_bytes = 32768, small_bytes = 16384;

std::atomic<std::uint64_t> wrong_bytes{0};

std::string numbered(int unit, const char* suffix) { return "u" + std::to_string(unit) + suffix; }

void print_error(const char* what, const std::function<void()>& call) {
  try {
    call();
  } catch (const hoist::Exception& error) {
    std::printf("%s: %s: %s\n", what, hoist::status_string(error.code()), error.what());
    return;
  }
  throw std::logic_error(std::string("no error: ") + what);
}

class Ring {
 public:
  Ring(const hoist::Device& device, const hoist::Budget& budget, std::vector<std::uint8_t>& adopted)
      : stream_(device), manager_(device, budget) {
    for (int u = 1; u <= unit_count; ++u) units_.push_back(manager_.add_unit(numbered(u, "")));
    for (int u = 1; u <= unit_count; ++u) copied(u, ".weight", weight_bytes);
    shared_ = copied(1, ".shared", shared_bytes);
    manager_.add_alias("u4.shared", shared_);
    manager_.add_use(units_[3], shared_, HOIST_USE_READ);
    add(2, ".adopted", adopted.size(), HOIST_TENSOR_ADOPT, HOIST_USE_READ, adopted.data());
    state_ = add(6, ".state", small_bytes, HOIST_TENSOR_ZERO, HOIST_USE_READ_WRITE, nullptr);
  }
  hoist::Manager& manager() { return manager_; }

  void run_steps(int count) {
    for (int i = 0; i < count; ++i) run_step(0);
    stream_.wait();
    std::printf("%d whole steps, %llu wrong bytes\n", steps_, static_cast<unsigned long long>(wrong_bytes));
  }
  void give_a_step_up() {
    try {
      run_step(3);
    } catch (const std::runtime_error& error) {
      std::printf("gave a step up in %s\n", error.what());
    }
  }
  void read_back() {
    int right = 0;
    const std::vector<std::pair<std::string, int>> wanted = {
        {"u1.weight", 1}, {"u2.weight", 2}, {"u3.weight", 3}, {"u4.weight", 4},  {"u5.weight", 5},
        {"u6.weight", 6}, {"u1.shared", 1}, {"u4.shared", 1}, {"u2.adopted", 2}, {"u6.state", steps_}};
    for (const auto& [name, value] : wanted) {
      const hoist_tensor_t tensor = manager_.tensor(name);
      std::vector<std::uint8_t> bytes(manager_.info(tensor).bytes, 0xEE);
      manager_.read(tensor, bytes.data(), bytes.size());
      right += std::all_of(bytes.begin(), bytes.end(), [want = value](int byte) { return byte == want; });
    }
    std::printf("read back: %d of %zu names right, state %d\n", right, wanted.size(), steps_);
  }

 private:
  hoist_tensor_t add(int u, const char* suffix, std::uint64_t bytes, hoist_tensor_flags_t flags, hoist_use_mode_t mode,
                     void* host) {
    const std::string name = numbered(u, suffix);
    hoist::TensorDesc desc;
    desc.name = name.c_str();
    desc.bytes = bytes;
    desc.host = host;
    desc.flags = flags;
    desc.mode = mode;
    desc.tensor_class = mode == HOIST_USE_READ ? HOIST_CLASS_WEIGHT : HOIST_CLASS_STATE;
    return manager_.add_tensor(units_[static_cast<std::size_t>(u - 1)], desc);
  }
  hoist_tensor_t copied(int u, const char* suffix, std::uint64_t bytes) {
    sources_.emplace_back(bytes, static_cast<std::uint8_t>(u));
    return add(u, suffix, bytes, HOIST_TENSOR_COPY, HOIST_USE_READ, sources_.back().data());
  }
  void run_step(int fail_at) {
    hoist::Step step(manager_, stream_);
    for (int u = 1; u <= unit_count; ++u) {
      const hoist::Unit unit = step.unit(units_[static_cast<std::size_t>(u - 1)]);
      compute(u, unit.view());
      if (u == fail_at) throw std::runtime_error(numbered(u, ""));
    }
    step.end();
    ++steps_;
  }
  // The view's own memory is gone by the time the function runs, so it takes copies of its elements.
  void compute(int u, const hoist::UnitView& view) {
    for (const hoist_tensor_view_t& tensor : view) {
      const int want = tensor.tensor == state_ ? steps_ : tensor.tensor == shared_ ? 1 : u;
      const auto check = [tensor, want] {
        for (std::uint8_t& byte : hoist::elements<std::uint8_t>(tensor)) {
          if (byte != want) ++wrong_bytes;
          if (tensor.mode == HOIST_USE_READ_WRITE) ++byte;
        }
      };
      stream_.submit_host(check, 100.0);
    }
  }

  std::vector<std::vector<std::uint8_t>> sources_;
  hoist::Stream stream_;
  hoist::Manager manager_;
  std::vector<hoist_unit_t> units_;
  hoist_tensor_t shared_ = 0, state_ = 0;
  int steps_ = 0;
};

hoist::Budget budget_of(const hoist::Device& device, const char* share) {
  return hoist::Budget(device, hoist::BudgetOptions().set("budget", share).set("profile_steps", "2"));
}

void print_sizes(const hoist_budget_status_t& s) {
  std::printf("%u units, %llu tensors, %llu bytes, budget %llu\n", s.unit_count,
              static_cast<unsigned long long>(s.tensor_count), static_cast<unsigned long long>(s.tensor_bytes),
              static_cast<unsigned long long>(s.budget_bytes));
}

void report(const hoist_budget_status_t& s) {
  std::printf("%s, %llu steps, %llu aborted, %llu mispredictions\n",
              s.phase == HOIST_PHASE_SERVING ? "serving" : "not serving", static_cast<unsigned long long>(s.steps),
              static_cast<unsigned long long>(s.aborted_steps), static_cast<unsigned long long>(s.mispredictions));
  std::printf("bytes moved: h2d %s, d2h %s; peak within budget: %s\n", s.h2d_bytes > 0 ? "yes" : "no",
              s.d2h_bytes > 0 ? "yes" : "no", s.peak_bytes <= s.budget_bytes ? "yes" : "no");
}

void run() {
  const hoist::Device device("host:0?mode=threaded");
  std::vector<std::uint8_t> adopted(small_bytes, 2);
  print_error("unknown option", [] { hoist::BudgetOptions().set("bugdet", "50%"); });
  print_error("too small", [&] { Ring(device, budget_of(device, "20%"), adopted).manager().commit(); });

  hoist::Budget budget = budget_of(device, "50%");
  Ring ring(device, budget, adopted);
  ring.manager().commit();
  print_sizes(ring.manager().query());
  ring.run_steps(4);
  ring.give_a_step_up();
  ring.manager().suspend();
  ring.manager().resume();
  ring.run_steps(2);
  ring.read_back();
  budget.set_share(0.75);
  ring.run_steps(2);
  print_sizes(ring.manager().query());
  print_error("too small", [&] { budget.set_share(0.2); });
  ring.read_back();
  report(ring.manager().query());
  ring.manager().drain();
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::printf("failed: %s\n", error.what());
    return 1;
  }
  return wrong_bytes != 0;
}
