// SPDX-License-Identifier: Apache-2.0
#include "trace/chrome_trace.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <clocale>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace {

using hoist::ChromeTrace;
using nlohmann::json;

std::filesystem::path scratch(const char* name) {
  const auto folder = std::filesystem::temp_directory_path() / ("hoist_trace_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  return folder / name;
}

TEST(ChromeTrace, EmptyIsAValidDocument) {
  const json document = json::parse(ChromeTrace("p").json());
  ASSERT_EQ(document["traceEvents"].size(), 1u);
  EXPECT_EQ(document["traceEvents"][0]["args"]["name"], "p");
}

TEST(ChromeTrace, RowsIntervalsAndArguments) {
  ChromeTrace trace;
  trace.row(2, "h2d");
  trace.row(1, "compute");
  trace.row(2, "h2d copies");
  trace.interval(1, "layers.0", 1.5, 4.25, {{"bytes", std::uint64_t{1} << 60}, {"rate", 0.1}, {"why", "first use"}});
  const json events = json::parse(trace.json())["traceEvents"];
  ASSERT_EQ(events.size(), 6u);
  EXPECT_EQ(events[1]["tid"], 1);
  EXPECT_EQ(events[3]["args"]["name"], "h2d copies");
  EXPECT_EQ(events[4]["name"], "thread_sort_index");
  const json& interval = events[5];
  EXPECT_EQ(interval["ph"], "X");
  EXPECT_EQ(interval["tid"], 1);
  EXPECT_EQ(interval["ts"], 1.5);
  EXPECT_EQ(interval["dur"], 2.75);
  EXPECT_EQ(interval["args"]["bytes"], std::uint64_t{1} << 60);
  EXPECT_EQ(interval["args"]["rate"], 0.1);
  EXPECT_EQ(interval["args"]["why"], "first use");
}

TEST(ChromeTrace, NeighboursStayNeighboursAfterRounding) {
  ChromeTrace trace;
  double at = 0.0;
  for (int i = 0; i < 1000; ++i, at += 0.1 + 1e-4) trace.interval(1, "u", at, at + 0.1 + 1e-4);
  std::int64_t end = 0;
  const json document = json::parse(trace.json());
  for (const json& event : document["traceEvents"]) {
    if (event["ph"] != "X") continue;
    EXPECT_EQ(std::llround(event["ts"].get<double>() * 1000), end);
    end += std::llround(event["dur"].get<double>() * 1000);
  }
}

TEST(ChromeTrace, NamesAreEscapedAndBadUtf8Replaced) {
  ChromeTrace trace;
  trace.interval(1, "a\"b\\c\n\x01", 0, 1);
  trace.interval(1, "bad\xff", 1, 2);
  trace.note("dropped", "3");
  const json document = json::parse(trace.json());
  EXPECT_EQ(document["traceEvents"][1]["name"], "a\"b\\c\n\x01");
  EXPECT_EQ(document["traceEvents"][2]["name"], "bad\xEF\xBF\xBD");
  EXPECT_EQ(document["otherData"]["dropped"], "3");
}

TEST(ChromeTrace, NegativeAndUnfinishedNumbers) {
  ChromeTrace trace;
  trace.interval(1, "u", -2.0005, -1.0, {{"x", std::numeric_limits<double>::infinity()}});
  const json event = json::parse(trace.json())["traceEvents"][1];
  EXPECT_NEAR(event["ts"].get<double>(), -2.0005, 0.0006);
  EXPECT_TRUE(event["args"]["x"].is_null());
  EXPECT_THROW(trace.interval(1, "u", 2, 1), hoist::Error);
  EXPECT_THROW(trace.interval(1, "u", 0, std::numeric_limits<double>::quiet_NaN()), hoist::Error);
  EXPECT_EQ(trace.size(), 1u);
}

TEST(ChromeTrace, AMillionIntervalsReachTheFileWhole) {
  ChromeTrace trace;
  const char* names[] = {"a", "b", "c"};
  for (int i = 0; i < 1000000; ++i) trace.interval(i % 4, names[i % 3], i, i + 0.5, {{"bytes", std::uint64_t{4096}}});
  const auto path = scratch("million.json");
  trace.write(path);
  std::ifstream file(path);
  std::string line;
  std::string last;
  std::size_t intervals = 0;
  for (; std::getline(file, line); last = line) intervals += line.find("\"ph\":\"X\"") != std::string::npos;
  EXPECT_EQ(intervals, 1000000u);
  EXPECT_EQ(last, "]}");
  EXPECT_FALSE(std::filesystem::exists(path.string() + ".part"));
  std::filesystem::remove(path);
}

TEST(ChromeTrace, AFailedWriteIsAnIoErrorThatNamesThePath) {
  ChromeTrace trace;
  for (int i = 0; i < 2000; ++i) trace.interval(1, "u", i, i + 1);
  const auto folder = scratch("taken");
  std::filesystem::create_directories(folder / "inside");
  for (const std::string& path : {folder.string(), std::string("/nowhere/at/all.json"), std::string("/dev/full")}) {
    try {
      trace.write(path);
      FAIL() << "no error for " << path;
    } catch (const hoist::Error& error) {
      EXPECT_EQ(error.code(), HOIST_ERROR_IO);
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
    }
  }
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
  EXPECT_NO_THROW(trace.write(scratch("other.json")));  // what was kept can go elsewhere
}

}  // namespace
