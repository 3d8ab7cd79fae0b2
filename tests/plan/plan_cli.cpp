// SPDX-License-Identifier: Apache-2.0
// The planner behind a pipe, for tests in Python: one JSON request a line, one JSON answer a line.
//   {"command": "solve", "problem": {...}, "plan": {...}, "effort": 0, "compute_us": [[...]]}
// An error answers {"error": {"code": 7, "message": "...", "hint": "..."}}.
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.hpp"
#include "plan/planner.hpp"

namespace {

using Json = nlohmann::json;
using namespace hoist;

Json simulation_json(const plan::Simulation& run) {
  Json timeline = Json::array();
  constexpr const char* kinds[] = {"compute", "stall", "load", "store"};
  for (const plan::Interval& it : run.timeline) {
    timeline.push_back({kinds[static_cast<std::size_t>(it.kind)], it.index, it.begin_us, it.end_us});
  }
  return {{"step_us", run.step_us},         {"stall_us", run.stall_us},       {"peak_bytes", run.peak_bytes},
          {"h2d_bytes", run.link_bytes[0]}, {"d2h_bytes", run.link_bytes[1]}, {"peer_bytes", run.link_bytes[2]},
          {"timeline", std::move(timeline)}};
}

Json solved(const plan::Problem& problem, const Json& request, bool naive) {
  const plan::SolveOptions options{request.value("effort", 0U), request.value("time_limit_seconds", 0.0)};
  const std::clock_t begin = std::clock();
  const plan::Plan plan = naive ? plan::naive(problem) : plan::solve(problem, options);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  return {{"plan", Json::parse(plan::plan_to_json(problem, plan))}, {"seconds", seconds}};
}

Json answer(const Json& request) {
  const std::string command = request.at("command");
  const Json& document = request.at("problem");
  const plan::Problem problem =
      plan::problem_from_json(document.is_string() ? document.get<std::string>() : document.dump());
  if (command == "solve" || command == "naive") return solved(problem, request, command == "naive");
  if (command == "digest") return {{"digest", plan::problem_digest(problem)}};
  if (command == "problem") return {{"problem", Json::parse(plan::problem_to_json(problem))}};
  if (command == "bound") {
    const plan::Bound bound = plan::bound(problem);
    return {{"step_us", bound.step_us},
            {"windowed_us", bound.windowed_us},
            {"compute_us", bound.compute_us},
            {"h2d_bytes", bound.h2d_bytes},
            {"d2h_bytes", bound.d2h_bytes},
            {"peer_bytes", bound.peer_bytes},
            {"smallest_budget", plan::smallest_budget(problem)}};
  }
  const plan::Plan plan = plan::plan_from_json(problem, request.at("plan").dump());
  if (command == "explain") return {{"text", plan::explain(problem, plan)}};
  if (command == "check") {
    plan::check(problem, plan);
    return {{"ok", true}};
  }
  plan::SimulateOptions options;
  options.timeline = request.value("timeline", false);
  return simulation_json(plan::simulate(problem, plan, options));
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    Json out;
    try {
      out = answer(Json::parse(line));
    } catch (const Error& e) {
      out = {{"error", {{"code", static_cast<int>(e.code())}, {"message", e.what()}, {"hint", e.hint()}}}};
    }
    std::cout << out.dump() << std::endl;
  }
}
