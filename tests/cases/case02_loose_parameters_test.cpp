// SPDX-License-Identifier: Apache-2.0
// Case 2: a unit made only of a norm's loose parameters, between two blocks, with the copy stream held up:
// it reads its own bytes, on the first step too.
#include <gtest/gtest.h>

#include "support/model_rig.hpp"

namespace hoist::test {
namespace {

TEST(Case02LooseParameters, WaitForTheirOwnBytes) {
  const Model model{{{"block0", 100000}, {"norm.weight", 96}, {"norm.bias", 32}, {"block1", 100000}},
                    {{{{0}}}, {{{1}, {2}}}, {{{3}}}}};
  BudgetOptions options;
  options.bytes = 101376 + 1024;  // one block and the norm
  options.trust = true;
  ModelRig rig("host:0?mode=threaded", model, options);
  for (int step = 0; step < 8; ++step) {
    rig.hold(LaneId::h2d, 3000);
    rig.step();
  }
  rig.wait();
  EXPECT_EQ(rig.wrong(), 0U);
  EXPECT_GT(rig.budget().status().last_step_h2d_bytes, 0U);
  EXPECT_EQ(rig.wrong_on_read_back(), 0U);
}

}  // namespace
}  // namespace hoist::test
