// SPDX-License-Identifier: Apache-2.0
// hoist simulate: checks a plan against its problem and runs it by the rules of execution, without a device.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "arguments.hpp"
#include "command.hpp"
#include "hoist/hoist.hpp"
#include "output.hpp"

namespace tool {
namespace {

struct Simulation {
  std::string problem;
  std::string plan;
  std::string trace;
  bool json = false;
};

void print(const hoist_plan_result_t& result) {
  std::printf("step  %s, %s of it waiting\n", time_text(result.step_us).c_str(), time_text(result.stall_us).c_str());
  std::printf("bound %s, over windows of units %s\n", time_text(result.bound_us).c_str(),
              time_text(result.windowed_us).c_str());
  std::printf("peak  %s\nmoved h2d %s, d2h %s, peer %s a step\n", bytes_text(result.peak_bytes).c_str(),
              bytes_text(result.h2d_bytes).c_str(), bytes_text(result.d2h_bytes).c_str(),
              bytes_text(result.peer_bytes).c_str());
}

void print_json(const hoist_plan_result_t& result) {
  const nlohmann::ordered_json document = {{"step_us", result.step_us},       {"stall_us", result.stall_us},
                                           {"bound_us", result.bound_us},     {"windowed_us", result.windowed_us},
                                           {"peak_bytes", result.peak_bytes}, {"h2d_bytes", result.h2d_bytes},
                                           {"d2h_bytes", result.d2h_bytes},   {"peer_bytes", result.peer_bytes}};
  std::printf("%s\n", document.dump(2).c_str());
}

void simulate(const Simulation& wanted) {
  if (wanted.problem == "-" && wanted.plan == "-") {
    throw BadInput("PROBLEM and PLAN are both -, but standard input holds one of them; name a file for the other");
  }
  const auto problem = naming(wanted.problem, [&] { return hoist::Problem(read_file(wanted.problem)); });
  const auto plan = naming(wanted.plan, [&] {
    hoist::Plan read(problem, read_file(wanted.plan));
    read.check(problem);
    return read;
  });
  const auto result = wanted.trace.empty() ? plan.simulate(problem) : plan.simulate(problem, wanted.trace);
  wanted.json ? print_json(result) : print(result);
}

}  // namespace

void add_simulate(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("simulate", "Checks a plan and says what a step would take");
  auto wanted = std::make_shared<Simulation>();
  command->add_option("PROBLEM", wanted->problem, "JSON as doc/design/planner.md describes it; -: from standard input")
      ->check(a_path())
      ->required();
  command->add_option("PLAN", wanted->plan, "JSON as hoist plan writes it; -: from standard input")
      ->check(a_path())
      ->required();
  command->add_option("--trace", wanted->trace, "Write a Chrome trace of the last simulated step")->check(a_path());
  command->add_flag("--json", wanted->json, "Print one JSON object");
  command->callback([wanted] { simulate(*wanted); });
}

}  // namespace tool
