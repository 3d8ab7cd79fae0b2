// SPDX-License-Identifier: Apache-2.0
// hoist plan: makes a plan for a problem, without a device.
#include <cstdio>
#include <memory>
#include <string>

#include "arguments.hpp"
#include "command.hpp"
#include "hoist/hoist.hpp"
#include "output.hpp"

namespace tool {
namespace {

struct PlanRequest {
  std::string problem;
  std::string out;
  bool explain = false;
  std::uint32_t effort = 0;
};

void make_plan(const PlanRequest& request) {
  const auto problem = naming(request.problem, [&] { return hoist::Problem(read_file(request.problem)); });
  hoist::PlanOptions options;
  options.effort = request.effort;
  const auto plan = naming(request.problem, [&] { return hoist::Plan(problem, options); });
  const bool piped = request.out == "-";
  if (piped) {
    std::printf("%s", plan.json().c_str());
  } else {
    write_file(request.out, plan.json());
  }
  std::FILE* const report = piped ? stderr : stdout;
  const hoist_plan_result_t result = plan.simulate(problem);
  std::fprintf(report, "step %s, bound %s (%.3f of it), peak %s, h2d %s, d2h %s a step\n",
               time_text(result.step_us).c_str(), time_text(result.bound_us).c_str(),
               result.bound_us > 0 ? result.step_us / result.bound_us : 1.0, bytes_text(result.peak_bytes).c_str(),
               bytes_text(result.h2d_bytes).c_str(), bytes_text(result.d2h_bytes).c_str());
  if (request.explain) std::fprintf(report, "%s", plan.explain(problem).c_str());
}

}  // namespace

void add_plan(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("plan", "Makes a plan for a problem");
  auto request = std::make_shared<PlanRequest>();
  command->add_option("PROBLEM", request->problem, "JSON as doc/design/planner.md describes it; -: from standard input")
      ->check(a_path())
      ->required();
  command
      ->add_option("--out", request->out,
                   "Where to write the plan, JSON; -: to standard output, and what is said of it to standard error")
      ->check(a_path())
      ->required();
  command->add_flag("--explain", request->explain, "Say for every item why it stays or moves");
  command->add_option("--effort", request->effort, "Iterations of search; 0: the planner's default")
      ->check(whole_number(0, UINT32_MAX));
  command->callback([request] { make_plan(*request); });
}

}  // namespace tool
