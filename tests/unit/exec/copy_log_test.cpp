// SPDX-License-Identifier: Apache-2.0
// Noting copies down does not hold up who submits them: the log has room for as many as their lane has marks.
#include "exec/copy_log.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "support/in_place_of.hpp"

namespace hoist {
namespace {

constexpr std::uint64_t bytes = 1 << 20;
constexpr double copy_us = bytes / 1000.0;

class CopyLogTest : public testing::Test, protected CopySink {
 protected:
  void SetUp() override {
    device_ = Device::open(test::in_place_of("host:0?mode=virtual&h2d_gbps=1&latency_us=0"));
    h2d_ = std::make_unique<Lane>(device_, LaneId::h2d, 8);
    d2h_ = std::make_unique<Lane>(device_, LaneId::d2h, 8);
    epoch_ = device_->event_create();
    device_->event_record(epoch_, h2d_->stream());
    to_ = device_->memory_create(bytes);
    log_ = std::make_unique<CopyLog>(device_);
    log_->start(this, epoch_, *h2d_, *d2h_);
  }
  void TearDown() override {
    log_.reset();
    h2d_->wait_all();
    h2d_.reset();
    d2h_.reset();
    device_->memory_destroy(to_);
    device_->event_destroy(epoch_);
  }
  void on_copy(const TraceInterval& copy) override { seen_.push_back(copy); }
  // How long the host was held up by so many copies, on the virtual clock.
  double submit(int count) {
    const double begin = device_->time_us();
    for (int i = 0; i < count; ++i) {
      log_->begin(*h2d_);
      device_->copy(h2d_->stream(), HOIST_COPY_H2D, to_, from_.data(), bytes);
      log_->end(*h2d_, h2d_->record(), {});
    }
    return device_->time_us() - begin;
  }

  std::shared_ptr<Device> device_;
  std::unique_ptr<Lane> h2d_;
  std::unique_ptr<Lane> d2h_;
  std::unique_ptr<CopyLog> log_;
  std::vector<char> from_ = std::vector<char>(bytes);
  std::vector<TraceInterval> seen_;
  void* epoch_ = nullptr;
  void* to_ = nullptr;
};

TEST_F(CopyLogTest, WaitsOnlyWhereItIsFull) {
  EXPECT_DOUBLE_EQ(submit(4), 0);
  EXPECT_GT(submit(1), 0);
}

TEST_F(CopyLogTest, GrowsWithItsLanes) {
  h2d_->reserve(64);
  log_->reserve(*h2d_, *d2h_);
  EXPECT_DOUBLE_EQ(submit(32), 0);
  log_->collect(*h2d_, true);
  ASSERT_EQ(seen_.size(), 32U);
  for (const TraceInterval& copy : seen_) EXPECT_NEAR(copy.end_us - copy.begin_us, copy_us, 1e-6);
}

}  // namespace
}  // namespace hoist
