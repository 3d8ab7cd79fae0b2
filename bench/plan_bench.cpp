// SPDX-License-Identifier: Apache-2.0
// What plans are worth and what they cost: step over bound, naive over planned, seconds of solving alone.
//   plan_bench              the families and the sizes, a verdict for each bar with the rows that miss it; exit
//                           status 1 where one misses. Tiny problems against their optimum are in tests/plan.
//   plan_bench --ranks N    a virtual cluster: N ranks plan and simulate in this process
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

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
  bool cyclic = true;
};

constexpr Family families[] = {
    {"stack of 40", [](double s, double r) { return problems::stack(40, s, r); }, false},
    {"mixed stack of 40", [](double s, double r) { return problems::stack(40, s, r, true); }, false},
    {"experts of 32", [](double s, double r) { return problems::experts(32, s, r); }, false},
    {"gathers of 40", [](double s, double r) { return problems::gathers(40, s, r); }, false},
    {"single shot of 40", [](double s, double r) { return problems::stack(40, s, r, false, false); }, true, false},
    {"states of 40", [](double s, double r) { return problems::states(40, s, r); }, true},
    {"training of 8", [](double s, double r) { return problems::training(8, s, r); }, true},
    {"training of 16", [](double s, double r) { return problems::training(16, s, r); }, true},
    {"training of 40", [](double s, double r) { return problems::training(40, s, r); }, true},
};

// The largest of a figure over rows, and the rows that are over its bar.
class Verdict {
 public:
  Verdict(std::string what, double bar) : what_(std::move(what)), bar_(bar) {}

  void add(const std::string& row, double value) {
    ++rows_;
    if (value > most_) worst_ = row;
    most_ = std::max(most_, value);
    if (value > bar_) missed_.push_back(row + text(" ", value));
  }

  // Whether all rows hold.
  bool print() const {
    if (rows_ == 0) return true;
    std::printf("%-6s %-62s at most %.4f of %.4g (%s), %zu of %d rows over it\n", missed_.empty() ? "holds" : "MISSED",
                what_.c_str(), most_, bar_, worst_.c_str(), missed_.size(), rows_);
    for (const std::string& row : missed_) std::printf("         over: %s\n", row.c_str());
    return missed_.empty();
  }

 private:
  std::string what_, worst_;
  double bar_;
  double most_ = 0;
  int rows_ = 0;
  std::vector<std::string> missed_;
};

struct Verdicts {
  Verdict compute{"step over bound, compute at least 1.1 of transfer", 1.02};
  Verdict transfer{"step over bound, transfer the longer one", 1.08};
  Verdict windowed{"training and states: step over windowed bound", 1.10};
  Verdict naive{"plan over naive plan", 1.0};
  double log_gain = 0;
  int gains = 0;
};

constexpr double shares[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0};
constexpr double ratios[] = {0.7, 1.0, 1.15};

// At a share of 1 everything fits; compute is then as for 90 %.
Problem made(const Family& family, double share, double ratio) {
  if (share < 1) return family.make(share, ratio);
  Problem problem = family.make(0.9, ratio);
  problem.budget_bytes = problems::total_bytes(problem);
  return problem;
}

// The bars stand from 20 to 90 % and where the step repeats; other rows are shown.
void judge(Verdicts& verdicts, const Family& family, double share, double ratio, double over, double gain) {
  const std::string row = text(family.name, " at ", share * 100, " %, compute ", ratio);
  verdicts.naive.add(row, 1 / gain);
  const bool counted = share > 0.15 && share < 0.95 && family.cyclic;
  if (!counted) return;
  (family.windowed ? verdicts.windowed : ratio >= 1.1 ? verdicts.compute : verdicts.transfer).add(row, over);
  verdicts.log_gain += std::log(gain);
  ++verdicts.gains;
}

void quality(const Family& family, Verdicts& verdicts) {
  for (const double ratio : ratios) {
    std::printf("%-18s %7.2f", family.name, ratio);
    double longest = 0;
    for (const double share : shares) {
      const Problem problem = made(family, share, ratio);
      const double begin = cpu_seconds();
      const Plan plan = solve(problem);
      longest = std::max(longest, cpu_seconds() - begin);
      const Bound least = bound(problem);
      const double over = plan.predicted.step_us / (family.windowed ? least.windowed_us : least.step_us);
      judge(verdicts, family, share, ratio, over, naive(problem).predicted.step_us / plan.predicted.step_us);
      std::printf(" %7.4f", over);
    }
    std::printf(" %8.3f\n", longest);
  }
}

bool quality() {
  std::printf("step over bound (states and training: over the windowed bound), by share of all bytes that is budget\n");
  std::printf("%-18s %7s", "family", "compute");
  for (const double share : shares) std::printf(" %6.0f%%", share * 100);
  std::printf(" %8s\n", "cpu s");
  Verdicts verdicts;
  for (const Family& family : families) quality(family, verdicts);
  std::printf("\nbudgets of 20 to 90 %%, steps that repeat:\n");
  bool holds = verdicts.compute.print();
  holds &= verdicts.transfer.print();
  holds &= verdicts.windowed.print();
  holds &= verdicts.naive.print();
  const double gain = std::exp(verdicts.log_gain / verdicts.gains);
  std::printf("%-6s naive over planned, geometric mean of %d rows: %.3f of 1.3\n", gain >= 1.3 ? "holds" : "MISSED",
              verdicts.gains, gain);
  return holds && gain >= 1.3;
}

bool size(const char* name, const Problem& problem, double bar) {
  const double begin = cpu_seconds();
  const Plan plan = solve(problem);
  const double seconds = cpu_seconds() - begin;
  const Bound least = bound(problem);
  std::printf("%-6s %-23s %6zu units %7zu items: %7.3f of %g s, step/bound %.4f, over windows %.4f\n",
              seconds <= bar ? "holds" : "MISSED", name, problem.units.size(), problem.items.size(), seconds, bar,
              plan.predicted.step_us / least.step_us, plan.predicted.step_us / least.windowed_us);
  return seconds <= bar;
}

bool sizes() {
  std::printf("\nseconds of solving on one core:\n");
  bool holds = true;
  for (const double ratio : {0.7, 1.0, 1.3}) holds &= size("large", problems::large(1000, 0.5, ratio), 0.1);
  for (const double ratio : {0.7, 1.0, 1.3}) holds &= size("large", problems::large(10'000, 0.5, ratio), 2);
  for (const double share : {0.2, 0.5, 0.8})
    holds &= size("training of 200 layers", problems::training(200, share, 1), 5);
  return holds;
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
  const bool good = quality();
  return sizes() && good ? 0 : 1;
}
