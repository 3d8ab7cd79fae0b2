// SPDX-License-Identifier: Apache-2.0
// The steady state: a thousand steps allocate nothing on any thread and keep memory flat, with units out of
// order too once all of it has been seen.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "budget/budget.hpp"
#include "offload/manager.hpp"
#include "support/in_place_of.hpp"

namespace {

std::atomic<bool> counting{false};
std::atomic<std::uint64_t> allocations{0};

}  // namespace

// Sanitizers have a malloc of their own; there only operator new is counted.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" void* __libc_malloc(std::size_t bytes);
extern "C" void* malloc(std::size_t bytes) {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1);
  return __libc_malloc(bytes);
}
#endif

namespace hoist::test {
namespace {

std::uint64_t resident_pages() {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/statm", "r"), std::fclose);
  unsigned long size = 0;
  unsigned long resident = 0;
  return file && std::fscanf(file.get(), "%lu %lu", &size, &resident) == 2 ? resident : 0;
}

class SteadyTest : public testing::TestWithParam<const char*> {
 protected:
  static constexpr std::uint32_t units = 8;

  void SetUp() override {
    device_ = Device::open(test::in_place_of(std::string("host:0?mode=") + GetParam()));
    stream_ = device_->stream_create();
    BudgetOptions options;
    options.share = 0.5;
    options.trust = true;
    options.profile_steps = 3;
    options.links = LinkCurve{{2, 5000}, {2, 5000}, 0.9};
    budget_ = std::make_shared<Budget>(device_, options);
    manager_ = std::make_unique<Manager>(budget_);
    add_units();
  }
  void TearDown() override {
    device_->stream_wait(stream_);
    manager_.reset();
    budget_.reset();
    device_->stream_destroy(stream_);
  }

  void add_units() {
    static char host[4096] = {1};
    for (std::uint32_t unit = 0; unit < units; ++unit) {
      const std::string name = "u" + std::to_string(unit);
      manager_->add_unit(name);
      for (std::uint32_t tensor = 0; tensor < 3; ++tensor) {
        TensorSpec spec;
        spec.name = name + "." + std::to_string(tensor);
        spec.bytes = 1000 + 700 * tensor;
        spec.host = tensor == 2 ? nullptr : host;
        spec.flags = tensor == 2 ? HOIST_TENSOR_ZERO : HOIST_TENSOR_COPY;
        spec.mode = tensor == 2 ? plan::Mode::read_write : plan::Mode::read;
        manager_->add_tensor(unit, spec);
      }
    }
    manager_->commit();
  }

  void step(std::uint32_t left_out = units, std::uint32_t twice = units) {
    budget_->step_begin(stream_);
    for (std::uint32_t unit = 0; unit < units; ++unit) {
      if (unit == left_out) continue;
      for (int times = unit == twice ? 2 : 1; times > 0; --times) {
        manager_->unit_begin(unit, stream_);
        device_->host_function(
            stream_, [](void*) {}, nullptr, 10);
        manager_->unit_end(unit, stream_);
      }
    }
    budget_->step_end();
  }

  // No order comes twice in a row, which would be learned.
  void surprises(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      step(static_cast<std::uint32_t>(round) % units);
      step(units, static_cast<std::uint32_t>(round) % units);
      step();
    }
  }

  template <typename Run>
  std::uint64_t allocations_of(const Run& run) {
    allocations = 0;
    counting = true;
    run();
    device_->stream_wait(stream_);
    counting = false;
    return allocations.load();
  }

  template <typename Run>
  void expect_no_allocation(const Run& run) {
    device_->stream_wait(stream_);
    const std::uint64_t pages = resident_pages();
    EXPECT_EQ(allocations_of(run), 0U);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // a sanitizer's own memory grows with what it sees
    EXPECT_LE(resident_pages(), pages + 32);                         // code that is touched for the first time
#else
    static_cast<void>(pages);
#endif
  }

  std::shared_ptr<Device> device_;
  void* stream_ = nullptr;
  std::shared_ptr<Budget> budget_;
  std::unique_ptr<Manager> manager_;
};

TEST_P(SteadyTest, AllocatesNothingInAThousandSteps) {
  for (int i = 0; i < 50; ++i) step();
  ASSERT_EQ(budget_->phase(), Phase::serving);
  expect_no_allocation([&] {
    for (int i = 0; i < 1000; ++i) step();
  });
  EXPECT_EQ(budget_->status().counters.mispredictions, 0U);
}

// What trust mode compares is taken in turn, and some of it late: no turn is the first to take memory.
TEST_P(SteadyTest, AllocatesNothingFromTheFirstServedStepsOn) {
  while (budget_->phase() != Phase::serving) step();
  for (int i = 0; i < 4; ++i) step();
  expect_no_allocation([&] {
    for (int i = 0; i < 100; ++i) step();
  });
}

TEST_P(SteadyTest, AllocatesNothingWhenSurprisedAsBefore) {
  for (int i = 0; i < 20; ++i) step();
  surprises(32);
  const std::uint64_t before = budget_->status().counters.mispredictions;
  expect_no_allocation([&] { surprises(100); });
  EXPECT_GT(budget_->status().counters.mispredictions, before);
}

TEST(Counter, CountsAnAllocation) {
  allocations = 0;
  counting = true;
  std::free(std::malloc(1));
  auto* volatile number = new int(1);
  counting = false;
  delete number;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_GE(allocations.load(), 2U);
#endif
}

std::string mode_name(const testing::TestParamInfo<const char*>& it) { return it.param; }

INSTANTIATE_TEST_SUITE_P(Host, SteadyTest, testing::Values("inline", "threaded", "virtual"), mode_name);

}  // namespace
}  // namespace hoist::test
