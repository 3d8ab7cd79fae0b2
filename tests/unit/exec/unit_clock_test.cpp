// SPDX-License-Identifier: Apache-2.0
// Whose times are asked for: steps that are news, one of eight of the others; and what a unit that is not timed leaves.
#include "exec/unit_clock.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "exec/sampling.hpp"
#include "support/in_place_of.hpp"

namespace hoist {
namespace {

int timed_of(Sampling& sampling, int steps) {
  int timed = 0;
  for (int step = 0; step < steps; ++step) timed += sampling.next() ? 1 : 0;
  return timed;
}

TEST(SamplingTest, OneStepInEightOnceAllIsKnown) {
  Sampling sampling;
  EXPECT_EQ(timed_of(sampling, 20), 20) << "until told otherwise";
  sampling.all(false);
  EXPECT_EQ(timed_of(sampling, 80), 10);
  sampling.next_steps(Sampling::whole);
  sampling.next_steps(3);  // which are among them
  EXPECT_EQ(timed_of(sampling, 8), 8) << "what is new";
  EXPECT_EQ(timed_of(sampling, 80), 10);
  sampling.all(true);
  EXPECT_EQ(timed_of(sampling, 5), 5);
}

class Seen final : public UnitSink {
 public:
  void on_unit(const UnitSample& sample) override { samples.push_back(sample); }
  std::vector<UnitSample> samples;
};

class UnitClockTest : public testing::Test {
 protected:
  static constexpr std::size_t capacity = 4;

  void SetUp() override {
    device = Device::open(test::in_place_of("host:0?mode=virtual"));
    stream = device->stream_create();
    lane = std::make_unique<Lane>(device, LaneId::compute, capacity);
    lane->set_stream(stream);
    clock = std::make_unique<UnitClock>(device, *lane, seen);
  }
  void TearDown() override {
    clock.reset();
    lane.reset();
    device->stream_destroy(stream);
  }
  // 10 us before each unit, 30 within.
  void run(std::uint32_t unit, std::uint64_t step, bool timed) {
    work(10);
    clock->begin(unit, step, timed);
    clock->waited();
    work(30);
    clock->end();
  }
  void work(double us) {
    device->host_function(
        stream, [](void*) {}, nullptr, us);
  }

  std::shared_ptr<Device> device;
  void* stream = nullptr;
  Seen seen;
  std::unique_ptr<Lane> lane;
  std::unique_ptr<UnitClock> clock;
};

TEST_F(UnitClockTest, UnitsThatAreNotTimedAreTheGapOfTheNext) {
  for (std::uint32_t unit = 0; unit < 3; ++unit) run(unit, 0, unit == 2);
  clock->collect(true);
  ASSERT_EQ(seen.samples.size(), 1U);
  EXPECT_EQ(seen.samples[0].unit, 2U);
  EXPECT_TRUE(seen.samples[0].gap_known);
  EXPECT_DOUBLE_EQ(seen.samples[0].gap_us, 10);
  EXPECT_DOUBLE_EQ(seen.samples[0].compute_us, 30);
}

// The ring goes round several times, with timed units and others in each of its slots.
TEST_F(UnitClockTest, EachTimedUnitIsHandedOverOnce) {
  std::vector<std::uint64_t> want;
  for (std::uint64_t step = 0; step < 10 * capacity + 3; ++step) {
    const bool timed = step % 3 == 0 || step % 7 == 1;
    run(static_cast<std::uint32_t>(step % 5), step, timed);
    if (timed) want.push_back(step);
    if (step % 4 == 1) clock->collect(false);
  }
  clock->collect(true);
  std::vector<std::uint64_t> got;
  for (const UnitSample& sample : seen.samples) {
    got.push_back(sample.step);
    EXPECT_EQ(sample.gap_known, sample.step != 0);
    EXPECT_DOUBLE_EQ(sample.gap_us + sample.compute_us, sample.step == 0 ? 30 : 40) << sample.step;
  }
  EXPECT_EQ(got, want);
  EXPECT_EQ(clock->oldest_step(99), 99U);
}

TEST_F(UnitClockTest, TheOldestStepIsOneThatIsTimed) {
  run(0, 4, false);
  run(1, 5, true);
  EXPECT_EQ(clock->oldest_step(99), 5U);
}

}  // namespace
}  // namespace hoist
