// SPDX-License-Identifier: Apache-2.0
// The manager's life on any device, every byte looked at in stream order.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/device_rig.hpp"
#include "support/devices.hpp"

namespace hoist {
namespace {

using test::DeviceRig;
using test::DeviceRigOptions;
using ::testing::HasSubstr;

constexpr std::uint32_t units = 6;
// A step looks at each weight, each state and, but in the first unit, a transient.
constexpr std::uint64_t checks_a_step = 3 * units - 1;

class ManagerOnDevice : public test::OnDevice {
 protected:
  DeviceRigOptions options(double share) {
    DeviceRigOptions options;
    options.units = units;
    options.budget.share = share;
    options.budget.trust = true;
    return options;
  }
  std::uint64_t h2d_bytes(DeviceRig& rig) { return rig.budget().status().h2d_bytes; }

  static hoist_status_t status_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code();
    }
    return HOIST_OK;
  }
};

TEST_P(ManagerOnDevice, EveryByteIsRightUnderEveryBudget) {
  for (double share : {0.3, 0.5, 0.75, 1.0}) {
    DeviceRigOptions given = options(share);
    for (bool trust : {false, true}) {
      given.budget.trust = trust;
      DeviceRig rig(device, given);
      rig.run_steps(4);
      const std::uint64_t before = h2d_bytes(rig);
      rig.run_steps(16);
      rig.wait();
      EXPECT_EQ(Phase::serving, rig.budget().phase());
      EXPECT_EQ(0U, rig.wrong()) << "share " << share << ", trust " << trust;
      EXPECT_EQ(20 * checks_a_step * given.bytes, rig.checked());
      EXPECT_EQ(share<1, h2d_bytes(rig)> before) << "share " << share;
      EXPECT_EQ(0U, rig.wrong_on_read_back());
    }
  }
}

// Addresses outlive plans, where the device maps them.
TEST_P(ManagerOnDevice, EveryByteIsRightInSlots) {
  if ((device->properties().capabilities & HOIST_CAPABILITY_REMAP) == 0) GTEST_SKIP() << "maps no addresses";
  DeviceRigOptions given = options(0.5);
  given.budget.placement = Placement::slots;
  given.states = given.transients = false;  // what units write stays
  given.bytes = std::max<std::uint64_t>(given.bytes, 2 * device->properties().granularity);
  DeviceRig rig(device, given);
  ASSERT_TRUE(rig.budget().replay_status().placement == Placement::slots);
  rig.run_steps(6);
  rig.wait();
  const std::vector<void*> before = rig.addresses();
  for (double share : {0.9, 0.45, 1.0, 0.6}) {
    rig.budget().set_budget(0, share);
    rig.run_steps(4);
    rig.wait();
    EXPECT_EQ(before, rig.addresses()) << "share " << share;
    EXPECT_EQ(0U, rig.wrong()) << "share " << share;
  }
  rig.budget().suspend();
  rig.budget().resume();
  rig.run_steps(3);
  rig.wait();
  EXPECT_EQ(before, rig.addresses());
  EXPECT_EQ(25 * units * given.bytes, rig.checked());
  EXPECT_EQ(0U, rig.wrong());
  EXPECT_EQ(0U, rig.wrong_on_read_back());
}

TEST_P(ManagerOnDevice, ABudgetChangesBetweenSteps) {
  DeviceRig rig(device, options(0.75));
  rig.run_steps(8);
  for (double share : {0.4, 1.0, 0.3, 0.6}) {
    rig.budget().set_budget(0, share);
    rig.run_steps(5);
    EXPECT_EQ(ReplanState::applied, rig.budget().replan_state());
  }
  rig.wait();
  EXPECT_EQ(0U, rig.wrong());
  EXPECT_EQ(28 * checks_a_step * (64U << 10), rig.checked());
  EXPECT_EQ(0U, rig.wrong_on_read_back());
}

TEST_P(ManagerOnDevice, UnforeseenOrdersAreServed) {
  DeviceRigOptions given = options(0.4);
  given.transients = false;  // a reader before its writer is refused, not served
  DeviceRig rig(device, given);
  rig.run_steps(8);
  rig.run_units({0, 1, 5, 2});
  rig.run_units({3, 3, 0});
  rig.run_units({5, 4, 3, 2, 1, 0});
  rig.run_steps(3);
  rig.wait();
  EXPECT_EQ(0U, rig.wrong());
  EXPECT_GT(rig.budget().status().counters.mispredictions, 0U);
  EXPECT_EQ(0U, rig.wrong_on_read_back());
}

TEST_P(ManagerOnDevice, UnitsOnTwoStreams) {
  DeviceRig rig(device, options(0.4));
  rig.run_steps(6);
  for (int step = 0; step < 6; ++step) {
    rig.budget().step_begin(rig.stream());
    for (std::uint32_t unit = 0; unit < units; ++unit) {
      rig.run_unit(unit, (unit + static_cast<std::uint32_t>(step)) % 2 == 0 ? rig.stream() : rig.other_stream());
    }
    rig.budget().step_end();
  }
  rig.wait();
  EXPECT_EQ(0U, rig.wrong());
  EXPECT_EQ(12 * checks_a_step * (64U << 10), rig.checked());
}

TEST_P(ManagerOnDevice, SuspendGivesTheMemoryBackAndResumeGoesOn) {
  DeviceRigOptions given = options(0.5);
  given.bytes = 4 << 20;
  DeviceRig rig(device, given);
  rig.run_steps(6);
  std::uint64_t held = 0;
  std::uint64_t given_back = 0;
  std::uint64_t total = 0;
  rig.wait();
  const std::uint64_t arena = rig.budget().status().arena_bytes;
  device->query_memory(held, total);
  rig.budget().suspend();
  device->query_memory(given_back, total);
  EXPECT_GE(given_back, held + arena);
  rig.budget().resume();
  rig.run_steps(3);
  rig.wait();
  EXPECT_EQ(0U, rig.wrong());
  EXPECT_EQ(0U, rig.wrong_on_read_back());
}

TEST_P(ManagerOnDevice, UpdatedWeightsAreSeen) {
  DeviceRig rig(device, options(0.4));
  rig.run_steps(6);
  for (std::uint32_t unit = 0; unit < units; ++unit) {
    rig.update_weight(unit, static_cast<std::uint8_t>(0x55 + unit));
    rig.run_steps(2);
  }
  rig.wait();
  EXPECT_EQ(0U, rig.wrong());
  EXPECT_EQ(0U, rig.wrong_on_read_back());
}

TEST_P(ManagerOnDevice, AnAbortedStepLosesNothing) {
  DeviceRig rig(device, options(0.4));
  rig.run_steps(6);
  rig.budget().step_begin(rig.stream());
  rig.run_unit(0, rig.stream());
  rig.manager().unit_begin(1, rig.stream());
  rig.submit_compute(1, rig.stream());
  rig.budget().step_abort(rig.stream());
  rig.run_steps(4);
  rig.wait();
  EXPECT_EQ(0U, rig.wrong());
  EXPECT_EQ(0U, rig.wrong_on_read_back());
}

// Somebody else takes the device's memory while units are being measured: what needs more is refused, what
// runs goes on, and once the memory is back so is the larger budget.
TEST_P(ManagerOnDevice, MemoryTakenByOthersWhileProfiling) {
  DeviceRigOptions given = options(0.4);
  given.bytes = 4 << 20;
  DeviceRig rig(device, given);
  rig.run_steps(2);
  ASSERT_EQ(Phase::profiling, rig.budget().phase());
  rig.wait();
  std::vector<std::unique_ptr<test::DeviceMemory>> taken;
  for (std::uint64_t piece = std::uint64_t{1} << 40; piece >= (1 << 20);) {
    try {
      taken.push_back(std::make_unique<test::DeviceMemory>(device, piece));
    } catch (const Error& error) {
      ASSERT_EQ(HOIST_ERROR_OUT_OF_MEMORY, error.code());
      piece /= 2;
    }
  }
  EXPECT_EQ(HOIST_ERROR_OUT_OF_MEMORY, status_of([&] { rig.budget().set_budget(0, 1.0); }));
  rig.run_steps(6);
  rig.wait();
  EXPECT_EQ(Phase::serving, rig.budget().phase());
  taken.clear();
  rig.budget().set_budget(0, 1.0);
  rig.run_steps(4);
  EXPECT_EQ(ReplanState::applied, rig.budget().replan_state());
  rig.wait();
  EXPECT_EQ(0U, rig.wrong());
  EXPECT_EQ(12 * checks_a_step * given.bytes, rig.checked());
  EXPECT_EQ(0U, rig.wrong_on_read_back());
}

// A device that refuses now and then: a call may fail, bytes may not.
TEST_P(ManagerOnDevice, RefusalsOfTheDeviceCostTimeOnly) {
  for (const char* slot : {"copy", "event_record", "stream_wait_event", "event_wait", "event_poll"}) {
    for (int turn : {1, 2, 5}) {
      DeviceRigOptions given = options(0.4);
      given.transients = false;
      given.bytes = 4096;
      DeviceRig rig(device, given);
      rig.run_steps(6);
      rig.wait();
      std::uint64_t refused = 0;
      for (int step = 0; step < 3; ++step) {
        try {
          rig.budget().step_begin(rig.stream());
        } catch (const Error&) {
          ++refused;
          continue;
        }
        device->set("fail", (std::string(slot) + "@" + std::to_string(turn)).c_str());
        for (std::uint32_t unit = 0; unit < units; ++unit) {
          try {
            rig.manager().unit_begin(unit, rig.stream());
          } catch (const Error&) {
            ++refused;
            device->set("fail", "");
            continue;
          }
          device->set("fail", "");
          rig.submit_compute(unit, rig.stream());
          rig.manager().unit_end(unit, rig.stream());
          if (unit + 1 < units) device->set("fail", (std::string(slot) + "@" + std::to_string(turn)).c_str());
        }
        device->set("fail", "");
        rig.budget().step_end();
      }
      rig.run_steps(2);
      rig.wait();
      EXPECT_EQ(0U, rig.wrong()) << slot << "@" << turn << ", refused " << refused;
      EXPECT_EQ(0U, rig.wrong_on_read_back()) << slot << "@" << turn;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, ManagerOnDevice, ::testing::ValuesIn(test::device_names_to_test()), test::test_name);

}  // namespace
}  // namespace hoist
