// SPDX-License-Identifier: Apache-2.0
// Bad input: every error names the field, the object and the value, and what would do.
#include "plan/problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"

namespace hoist::plan {
namespace {

using testing::HasSubstr;

const char* const good = R"({
  "version": 1, "device": {"budget_bytes": 4096, "alignment": 512},
  "links": {"h2d": {"latency_us": 5.0, "bytes_per_us": 10.0}, "d2h": {"bytes_per_us": 10}},
  "duplex_factor": 0.87, "cyclic": true,
  "units": [{"name": "a", "compute_us": 98.0, "workspace_bytes": 100}, {"name": "b", "compute_us": 1}],
  "items": [{"name": "w", "bytes": 1000, "class": "weight", "link": "h2d", "transient": false,
             "uses": [{"unit": 0, "mode": "r"}, {"unit": 1, "mode": "rw"}]}]
})";

std::string with(const std::string& from, const std::string& to) {
  std::string json = good;
  const std::size_t at = json.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return json.replace(at, from.size(), to);
}

std::string refusal(const std::string& json, hoist_status_t code = HOIST_ERROR_CORRUPT) {
  try {
    (void)problem_from_json(json);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return std::string(error.what()) + " | " + error.hint();
  }
  ADD_FAILURE() << "accepted: " << json;
  return "";
}

TEST(ProblemJson, ReadsWhatItWrites) {
  const Problem problem = problem_from_json(good);
  EXPECT_EQ(problem.units[1].workspace_bytes, 0U);
  EXPECT_EQ(problem.items[0].uses[1].mode, Mode::read_write);
  const std::string json = problem_to_json(problem);
  EXPECT_EQ(problem_to_json(problem_from_json(json)), json);
  EXPECT_EQ(problem_digest(problem_from_json(json)), problem_digest(problem));
}

TEST(ProblemJson, NamesTheFieldAndTheValue) {
  EXPECT_THAT(refusal(with("\"duplex_factor\"", "\"duplex\"")), HasSubstr("problem.duplex is not a known field"));
  EXPECT_THAT(refusal(with("\"mode\": \"rw\"", "\"mode\": \"x\"")), HasSubstr("items[0] \"w\".uses[1].mode is \"x\""));
  EXPECT_THAT(refusal(with("\"unit\": 1", "\"unit\": 2")), HasSubstr(".unit is 2; wanted: a whole number from 0 to 1"));
  EXPECT_THAT(refusal(with("\"unit\": 1", "\"unit\": -1")), HasSubstr(".unit is -1"));
  EXPECT_THAT(refusal(with("\"bytes\": 1000", "\"bytes\": -1000")), HasSubstr("items[0] \"w\".bytes is -1000"));
  EXPECT_THAT(refusal(with("\"bytes\": 1000", "\"bytes\": 1.5")), HasSubstr("is 1.5"));
  EXPECT_THAT(refusal(with("\"bytes\": 1000", "\"bytes\": \"1k\"")), HasSubstr("is \"1k\""));
  EXPECT_THAT(refusal(with("\"compute_us\": 98.0", "\"compute_us\": null")),
              HasSubstr("units[0] \"a\".compute_us is null"));
  EXPECT_THAT(refusal(with("98.0", "NaN")),
              HasSubstr("problem is not JSON: line 5, column 41: 'NaN' stands where a value is expected"));
  EXPECT_THAT(refusal(with("\"cyclic\": true", "\"cyclic\": 1")), HasSubstr("problem.cyclic is 1"));
  EXPECT_THAT(refusal(with("\"bytes\": 1000", "\"bytes\": 1000, \"bytes\": 1")), HasSubstr("\"bytes\" stands twice"));
  EXPECT_THAT(refusal(with(", \"d2h\": {\"bytes_per_us\": 10}", "")), HasSubstr("has no d2h"));
  EXPECT_THAT(refusal("[]"), HasSubstr("problem is []"));
  EXPECT_THAT(refusal(""), HasSubstr("problem is not JSON"));
  const std::string units =
      R"([{"name": "a", "compute_us": 98.0, "workspace_bytes": 100}, {"name": "b", "compute_us": 1}])";
  EXPECT_THAT(refusal(with(units, "[]")), HasSubstr("problem.units is []; wanted: one unit at least"));
}

// A later version has fields of its own: it is told before what is wrong with these.
TEST(ProblemJson, NamesTheVersionFirst) {
  const auto versioned = [](const std::string& version) {
    return with("\"version\": 1", "\"new\": 0, \"version\": " + version);
  };
  EXPECT_THAT(refusal(versioned("2")), HasSubstr("problem.version is 2; this library reads version 1 | a newer hoist"));
  EXPECT_THAT(refusal(versioned("\"x\"")),
              HasSubstr("problem.version is \"x\"; this library reads version 1 | write 1"));
  EXPECT_THAT(refusal(versioned("-1")), HasSubstr("problem.version is -1; this library reads version 1"));
  EXPECT_THAT(refusal(versioned("1.0")), HasSubstr("problem.version is 1.0; this library reads version 1"));
  EXPECT_THAT(refusal(with("\"version\": 1, ", "")), HasSubstr("problem.version is missing"));
}

TEST(ProblemJson, RefusesContradictions) {
  const auto argument = HOIST_ERROR_INVALID_ARGUMENT;
  EXPECT_THAT(refusal(with("98.0", "-98.0"), argument), HasSubstr("compute_us is -98"));
  EXPECT_THAT(refusal(with("0.87", "1.5"), argument), HasSubstr("duplex_factor is 1.5"));
  EXPECT_THAT(refusal(with("512", "0"), argument), HasSubstr("alignment is 0"));
  EXPECT_THAT(refusal(with("\"transient\": false", "\"transient\": true"), argument),
              HasSubstr("before any unit has written"));
  EXPECT_THAT(refusal(with("\"unit\": 1", "\"unit\": 0"), argument), HasSubstr("follows one by unit 0"));
  EXPECT_THAT(refusal(with("\"bytes_per_us\": 10.0", "\"bytes_per_us\": 0"), argument),
              HasSubstr("h2d: bytes_per_us is 0"));
}

// What a sum of times could not hold names what it is of, the value and the bound.
TEST(ProblemJson, RefusesAbsurdNumbers) {
  const auto argument = HOIST_ERROR_INVALID_ARGUMENT;
  EXPECT_THAT(refusal(with("98.0", "1e308"), argument),
              HasSubstr("unit \"a\": compute_us is 1e+308 | a time from 0 to 1e+12 microseconds"));
  EXPECT_THAT(refusal(with("\"latency_us\": 5.0", "\"latency_us\": 1e13"), argument),
              HasSubstr("link h2d: latency_us is 1e+13 | a time from 0 to 1e+12 microseconds"));
  for (const char* rate : {"1e-300", "1e300"}) {
    EXPECT_THAT(refusal(with("\"bytes_per_us\": 10.0", std::string("\"bytes_per_us\": ") + rate), argument),
                HasSubstr("| a rate from 1e-06 to 1e+12 bytes a microsecond"));
  }
  EXPECT_THAT(refusal(with("0.87", "1e-300"), argument),
              HasSubstr("duplex_factor is 1e-300 | a share from 0.001 to 1"));
}

// The largest and smallest numbers that pass make a plan whose times are numbers.
TEST(Problem, IsSolvedAtItsBounds) {
  for (const double us : {0.0, 5e-324, 1.0, 1e12}) {
    for (const double rate : {1e-6, 1.0, 1e12}) {
      for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{1} << 57}) {
        Problem problem = problem_from_json(good);
        problem.units[1].workspace_bytes = problem.units[0].workspace_bytes = 0;
        problem.units[0].compute_us = us;
        problem.items.assign(3, problem.items[0]);
        for (std::size_t i = 0; i < 3; ++i) {
          problem.items[i].name = std::string(1, static_cast<char>('a' + i));
          problem.items[i].bytes = bytes;
          problem.items[i].uses = {{static_cast<std::uint32_t>(i % 2), Mode::read_write}};
        }
        problem.links[0] = problem.links[1] = {us, rate};
        problem.alignment = 1;
        problem.budget_bytes = 2 * bytes;
        const Plan plan = solve(problem, {});
        EXPECT_TRUE(std::isfinite(plan.predicted.step_us)) << us << " " << rate << " " << bytes;
        EXPECT_GE(plan.predicted.step_us, us);
      }
    }
  }
}

TEST(Problem, RefusesWhatJsonCannotSay) {
  const auto refuses = [](auto change) {
    Problem problem = problem_from_json(good);
    change(problem);
    EXPECT_THROW(validate(problem), Error);
  };
  refuses([](Problem& p) { p.units[0].compute_us = std::nan(""); });
  refuses([](Problem& p) { p.links[0].latency_us = std::numeric_limits<double>::infinity(); });
  refuses([](Problem& p) { p.duplex_factor = std::nan(""); });
  refuses([](Problem& p) { p.items[0].name = ""; });
  refuses([](Problem& p) { p.items[0].name = "\xff"; });
  refuses([](Problem& p) { p.items[0].bytes = UINT64_MAX; });
  refuses([](Problem& p) { p.budget_bytes = UINT64_MAX; });
  refuses([](Problem& p) { p.items.push_back(p.items[0]); });
  refuses([](Problem& p) { p.units.clear(); });
}

TEST(Problem, DigestIsOfTheSetOfItems) {
  Problem problem = problem_from_json(good);
  problem.items.push_back(problem.items[0]);
  problem.items[1].name = "v";
  Problem other = problem;
  std::swap(other.items[0], other.items[1]);
  EXPECT_EQ(problem_digest(problem), problem_digest(other));
  other.items[0].bytes += 1;
  EXPECT_NE(problem_digest(problem), problem_digest(other));
  // The canonical form is the page's: keys and items by name, no spaces.
  EXPECT_EQ(problem_digest(problem_from_json(good)).substr(0, 7), "sha256:");
  EXPECT_EQ(problem_digest(problem_from_json(good)).size(), 71U);
}

TEST(PlanJson, NamesTheFieldAndTheItem) {
  const Problem problem = problem_from_json(good);
  const auto refused = [&](const std::string& json) -> std::string {
    try {
      (void)plan_from_json(problem, json);
    } catch (const Error& error) {
      return error.what();
    }
    ADD_FAILURE() << "accepted: " << json;
    return "";
  };
  const std::string head = R"({"version":1,"problem_digest":"","births":{},"homes":{},)";
  EXPECT_THAT(refused(head + R"("initial_resident":{"x":0},"ops":[]})"), HasSubstr("names the item \"x\""));
  EXPECT_THAT(refused(head + R"("initial_resident":{"w":-1},"ops":[]})"), HasSubstr("plan.initial_resident.w is -1"));
  EXPECT_THAT(refused(head + R"("initial_resident":{},"ops":[{"op":"move","item":"w","after":0}]})"),
              HasSubstr("ops[0].op is \"move\""));
  EXPECT_THAT(refused(head + R"("initial_resident":{},"ops":[{"op":"drop","item":"w","after":5}]})"),
              HasSubstr("ops[0].after is 5"));
  EXPECT_THAT(refused(head + R"("initial_resident":{}})"), HasSubstr("plan.ops is missing"));
  EXPECT_THAT(refused(R"({"version":7,"steps":[]})"), HasSubstr("plan.version is 7; this library reads version 1"));
  EXPECT_THAT(refused(R"({"version":1)"),
              HasSubstr("plan is not JSON: line 1, column 13: the text ends where a comma"));
}

}  // namespace
}  // namespace hoist::plan
