// SPDX-License-Identifier: Apache-2.0
// Case 22: all tensors are read while half of them are out: complete, equal, and no device memory is taken.
#include <gtest/gtest.h>

#include "support/rig.hpp"

namespace hoist::test {
namespace {

TEST(Case22ReadBack, IsCompleteAndTakesNoDeviceMemory) {
  RigOptions options;
  options.device = "host:0?mode=threaded&copy_delay_us=500";
  options.units = 8;
  options.states = true;
  options.budget.share = 0.5;
  options.budget.trust = true;
  Rig rig(options);
  rig.run_steps(7);
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  std::uint64_t total = 0;
  rig.device().query_memory(before, total);
  std::uint32_t out = 0;
  for (const ItemState& item : rig.budget().executor().residency().items()) out += item.place.set ? 0 : 1;
  EXPECT_GE(out, options.units / 2);
  EXPECT_EQ(rig.wrong_on_read_back(), 0U);
  rig.device().query_memory(after, total);
  EXPECT_EQ(after, before);
  rig.run_steps(2);
  rig.wait();
  EXPECT_EQ(rig.wrong(), 0U);
}

}  // namespace
}  // namespace hoist::test
