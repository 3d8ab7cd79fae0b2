// SPDX-License-Identifier: Apache-2.0
// What plans are worth and what they cost: step over bound, naive over planned, seconds of solving alone.
//   plan_bench              the families, the sizes, the tiny problems' optimum is in tests/plan
//   plan_bench --ranks N    a virtual cluster: N ranks plan and simulate in this process
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "base/error.hpp"
#include "plan/agree.hpp"
#include "plan/problems.hpp"

namespace {

using namespace hoist;
using namespace hoist::plan;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Family {
  const char* name;
  Problem (*make)(double share, double ratio);
  bool windowed;  // measured against the bound over windows
};

constexpr Family families[] = {
    {"stack of 40", [](double s, double r) { return problems::stack(40, s, r); }, false},
    {"mixed stack of 40", [](double s, double r) { return problems::stack(40, s, r, true); }, false},
    {"experts of 32", [](double s, double r) { return problems::experts(32, s, r); }, false},
    {"gathers of 40", [](double s, double r) { return problems::gathers(40, s, r); }, false},
    {"single shot of 40", [](double s, double r) { return problems::stack(40, s, r, false, false); }, false},
    {"states of 40", [](double s, double r) { return problems::states(40, s, r); }, true},
    {"training of 16", [](double s, double r) { return problems::training(16, s, r); }, true},
};

void quality() {
  std::printf("%-18s %6s %7s %10s %10s %9s\n", "family", "budget", "compute", "step/bound", "naive/plan", "cpu s");
  double sum = 0;
  int count = 0;
  for (const Family& family : families) {
    for (const double share : {0.2, 0.5, 0.9}) {
      for (const double ratio : {0.7, 1.0, 1.15}) {
        const Problem problem = family.make(share, ratio);
        const double begin = cpu_seconds();
        const Plan plan = solve(problem);
        const double seconds = cpu_seconds() - begin;
        const Bound least = bound(problem);
        const double gain = naive(problem).predicted.step_us / plan.predicted.step_us;
        sum += std::log(gain);
        ++count;
        std::printf("%-18s %5.0f%% %7.2f %10.4f %10.3f %9.3f\n", family.name, share * 100, ratio,
                    plan.predicted.step_us / (family.windowed ? least.windowed_us : least.step_us), gain, seconds);
      }
    }
  }
  std::printf("naive over planned, geometric mean of %d: %.3f\n\n", count, std::exp(sum / count));
}

void size(const char* name, const Problem& problem) {
  const double begin = cpu_seconds();
  const Plan plan = solve(problem);
  const double seconds = cpu_seconds() - begin;
  const Bound least = bound(problem);
  std::printf("%-34s %7zu units %7zu items: %7.3f s, step/bound %.4f, over windows %.4f\n", name, problem.units.size(),
              problem.items.size(), seconds, plan.predicted.step_us / least.step_us,
              plan.predicted.step_us / least.windowed_us);
}

void sizes() {
  for (const double ratio : {0.7, 1.0, 1.3}) size("large", problems::large(1000, 0.5, ratio));
  for (const double ratio : {0.7, 1.0, 1.3}) size("large", problems::large(10'000, 0.5, ratio));
  size("training of 40 layers", problems::training(40, 0.5, 1));
  size("training of 200 layers", problems::training(200, 0.5, 1));
}

// Ranks measure different times and have different budgets; each plans from the agreed problem, on its own.
void cluster(std::size_t ranks) {
  std::vector<Problem> of_ranks(ranks, problems::stack(24, 0.5, 1.2));
  problems::Random random(1);
  for (Problem& problem : of_ranks) {
    const double slow = random.below(100) == 0 ? 1.5 : 1;
    for (Unit& unit : problem.units) unit.compute_us *= slow * random.between(0.97, 1.03);
    problem.budget_bytes -= random.below(64) << 20;
  }
  std::vector<const Problem*> asked;
  for (const Problem& problem : of_ranks) asked.push_back(&problem);
  const Problem agreed = agreed_problem(asked);
  std::vector<std::string> digests;
  double longest = 0;
  const double begin = cpu_seconds();
  for (const Problem& own : of_ranks) {
    const Plan plan = solve(agreed);
    digests.push_back(plan_digest(agreed, plan));
    SimulateOptions options;
    options.compute_us = [&](std::uint32_t, std::uint32_t unit) { return own.units[unit].compute_us; };
    longest = std::max(longest, simulate(agreed, plan, options).step_us);
  }
  compare_digests(digests);
  std::printf("%zu ranks agree on %s\n", ranks, digests.front().c_str());
  std::printf("slowest rank's step over the agreed bound %.4f; %.1f ms a rank\n", longest / bound(agreed).step_us,
              (cpu_seconds() - begin) * 1e3 / static_cast<double>(ranks));
  const auto refused = [](const char* what, const auto& call) {
    try {
      call();
      std::printf("%s: not noticed\n", what);
      std::exit(1);
    } catch (const Error& error) {
      std::printf("%s: %s\n", what, error.what());
    }
  };
  asked[ranks / 2] = nullptr;
  refused("a lost rank", [&] { (void)agreed_problem(asked); });
  digests[ranks - 1].back() ^= 1;
  refused("another plan", [&] { compare_digests(digests); });
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 3 && std::strcmp(arguments[1], "--ranks") == 0) {
    cluster(std::max(2UL, std::strtoul(arguments[2], nullptr, 10)));
    return 0;
  }
  if (count != 1) {
    std::fprintf(stderr, "usage: plan_bench [--ranks N]\n");
    return 2;
  }
  quality();
  sizes();
  return 0;
}
