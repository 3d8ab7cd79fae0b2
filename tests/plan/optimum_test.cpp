// SPDX-License-Identifier: Apache-2.0
// Against the best plan of tiny problems: at most 1.03 of it, and 1.005 on average.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.hpp"
#include "plan/exhaustive.hpp"
#include "plan/small_problems.hpp"

namespace hoist::plan {
namespace {

TEST(Optimum, IsReachedOnTinyProblems) {
  const int seeds = std::getenv("HOIST_TEST_ALL") != nullptr ? 3000 : 300;
  double sum = 0;
  int count = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    const Problem problem = small::problem(static_cast<std::uint64_t>(seed), 4, 5);
    Exhaustive exhaustive(problem);
    if (exhaustive.movable() > 7) continue;
    const double best = exhaustive.best_us();
    if (best <= 0) continue;
    double ratio = 1;
    try {
      ratio = solve(problem).predicted.step_us / best;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("fragmentation"), std::string::npos) << "seed " << seed;
      continue;
    }
    EXPECT_LE(ratio, 1.03) << "seed " << seed;
    sum += ratio;
    ++count;
  }
  ASSERT_GT(count, seeds / 2);
  EXPECT_LE(sum / count, 1.005);
  RecordProperty("mean", std::to_string(sum / count));
  std::printf("%d problems, mean %.5f\n", count, sum / count);
}

}  // namespace
}  // namespace hoist::plan
