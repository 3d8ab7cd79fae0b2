// SPDX-License-Identifier: Apache-2.0
// Nearest names, numbers in text, the environment.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/json_fault.hpp"
#include "base/nearest.hpp"
#include "base/parse.hpp"

namespace hoist {
namespace {

std::string refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, error.code());
    return std::string(error.what()) + " | " + error.hint();
  }
  return "not refused";
}

TEST(Nearest, CountsEdits) {
  EXPECT_EQ(0u, edit_distance("budget", "budget"));
  EXPECT_EQ(6u, edit_distance("", "budget"));
  EXPECT_EQ(1u, edit_distance("budgt", "budget"));
  EXPECT_EQ(1u, edit_distance("bugdet", "budget"));  // neighbours swapped
  EXPECT_EQ(3u, edit_distance("kitten", "sitting"));
}

TEST(Nearest, FindsTheNearestWhateverTheCase) {
  EXPECT_EQ("mode", nearest("MOD", {"memory", "mode", "seed"}));
  EXPECT_EQ("memory", nearest("memry", {"memory", "mode", "seed"}));
  EXPECT_EQ("", nearest("x", {}));
  EXPECT_EQ("", nearest_hint("x", {}));
}

TEST(JsonFault, SaysWhereWhatStandsAndWhatIsExpected) {
  const struct {
    std::string document, fault;
  } cases[] = {
      {"", "line 1, column 1: the text ends where a value is expected"},
      {" \n", "line 2, column 1: the text ends where a value is expected"},
      {"{\"a\":\n [1, nan]}", "line 2, column 6: 'nan' stands where a value is expected"},
      {"{\"\xc3\xa4\": x}", "line 1, column 7: 'x' stands where a value is expected"},
      {"{", "line 1, column 2: the text ends where a key in quotes or } is expected"},
      {"{a:1}", "line 1, column 2: 'a' stands where a key in quotes or } is expected"},
      {"{\"a\" 1}", "line 1, column 6: '1' stands where a colon is expected"},
      {"{\"a\":1 \"b\":2}", "line 1, column 8: '\"b\"' stands where a comma or } is expected"},
      {"{\"a\":1,}", "line 1, column 8: '}' stands where a key in quotes is expected"},
      {"[", "line 1, column 2: the text ends where a value or ] is expected"},
      {"[1 2]", "line 1, column 4: '2' stands where a comma or ] is expected"},
      {"[[], {},]", "line 1, column 9: ']' stands where a value is expected"},
      {"[1]]", "line 1, column 4: ']' stands where the end is expected"},
      {"[1e999]", "line 1, column 2: '1e999' is beyond the numbers of 64 bits"},
      {"[\"a\nb\"]", "line 1, column 4: in a string, control character U+000A (LF) must be escaped to \\u000A or \\n"},
      {"[" + std::string(99, 'x'),
       "line 1, column 2: '" + std::string(24, 'x') + "...' stands where a value or ] is expected"},
      {"[1]", ""}};
  for (const auto& it : cases) EXPECT_EQ(it.fault, json_fault(it.document)) << it.document;
}

// Whatever is cut off or put in, there are words, and no byte beyond the text is looked at.
TEST(JsonFault, HasWordsForEveryCut) {
  const std::string whole = R"({"a": [1, -2.5e3, true, null, "x\"y"], "b": {"c": []}})";
  ASSERT_EQ("", json_fault(whole));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    const std::string cut = json_fault(std::string(whole, 0, at));
    EXPECT_NE(std::string::npos, cut.find("line 1, column ")) << at << ": " << cut;
    for (const char* more : {"\"", "]", "}", ",", ":", "x", "\xff", "\\"}) {
      const std::string fault = json_fault(whole.substr(0, at) + more + whole.substr(at));
      EXPECT_TRUE(fault.empty() || fault.find("line 1, column ") == 0) << at << more << ": " << fault;
    }
  }
}

TEST(Parse, Bytes) {
  EXPECT_EQ(0u, parse_bytes("x", "0"));
  EXPECT_EQ(1000u, parse_bytes("x", "1000"));
  EXPECT_EQ(~std::uint64_t{0}, parse_bytes("x", "18446744073709551615"));
  EXPECT_EQ(512u << 20, parse_bytes("x", "512MiB"));
  EXPECT_EQ(std::uint64_t{24} << 30, parse_bytes("x", "24GiB"));
  EXPECT_EQ(std::uint64_t{3} << 29, parse_bytes("x", "1.5GiB"));
  EXPECT_EQ(2'000'000'000u, parse_bytes("x", "2 GB"));
  for (const char* bad :
       {"", "GiB", "-1", "1GIB", "1e99", "18446744073709551616", "0x10", " 1", "1 2", "nan", "99999999TiB"}) {
    EXPECT_NE(std::string::npos, refusal([&] { parse_bytes("the budget", bad); }).find("the budget is '")) << bad;
  }
}

TEST(Parse, SharesCountsNumbersSwitches) {
  EXPECT_DOUBLE_EQ(0.6, parse_share("x", "60%"));
  EXPECT_DOUBLE_EQ(0.6, parse_share("x", "0.6"));
  EXPECT_EQ(1, parse_share("x", "100%"));
  EXPECT_TRUE(is_share("60%"));
  EXPECT_FALSE(is_share("60"));
  for (const char* bad : {"", "%", "0", "-5%", "60%%", "60 %", "inf", "200%", "100.1%", "2", "1e3"}) {
    EXPECT_NE(std::string::npos, refusal([&] { parse_share("the share", bad); }).find("the share is '")) << bad;
  }
  EXPECT_EQ(7u, parse_count("x", "7", 7));
  EXPECT_NE(std::string::npos, refusal([] { parse_count("x", "8", 7); }).find("from 0 to 7"));
  EXPECT_NE("not refused", refusal([] { parse_count("x", "-1", 7); }));
  EXPECT_EQ(2.5, parse_number("x", "2.5"));
  EXPECT_NE("not refused", refusal([] { parse_number("x", "2.5us"); }));
  EXPECT_TRUE(parse_switch("x", "on"));
  EXPECT_FALSE(parse_switch("x", "0"));
  EXPECT_NE("not refused", refusal([] { parse_switch("x", "maybe"); }));
}

struct Environment : testing::Test {
  static void set(const char* name, const char* value) { ::setenv(name, value, 1); }
  ~Environment() override {
    for (const char* name : {"HOIST_BUDGT_BYTES", "HOIST_BUDGET_BYTES", "HOIST_LOG"}) ::unsetenv(name);
    ::setenv("HOIST_TRUST", "1", 1);
  }
};

TEST_F(Environment, KnownNamesPassAndAreRead) {
  set("HOIST_BUDGET_BYTES", "123");
  EXPECT_NO_THROW(check_environment());
  EXPECT_EQ("HOIST_BUDGET_BYTES", environment_name("budget_bytes"));
  EXPECT_EQ("123", environment("budget_bytes"));
  set("HOIST_BUDGET_BYTES", "");
  EXPECT_EQ(std::nullopt, environment("budget_bytes"));
}

TEST_F(Environment, AnUnknownNameIsRefusedWithTheNearest) {
  set("HOIST_BUDGT_BYTES", "123");
  const std::string message = refusal([] { check_environment(); });
  EXPECT_NE(std::string::npos, message.find("HOIST_BUDGT_BYTES is unknown")) << message;
  EXPECT_NE(std::string::npos, message.find("'HOIST_BUDGET_BYTES'")) << message;
}

TEST_F(Environment, ValuesThatCannotBeAreRefused) {
  set("HOIST_LOG", "loud");
  EXPECT_NE(std::string::npos, refusal([] { check_environment(); }).find("'loud'"));
  EXPECT_EQ(static_cast<int>(HOIST_LOG_WARNING), log_threshold());
  set("HOIST_LOG", "error");
  EXPECT_NO_THROW(check_environment());
  EXPECT_EQ(static_cast<int>(HOIST_LOG_ERROR), log_threshold());
  set("HOIST_TRUST", "perhaps");
  EXPECT_NE(std::string::npos, refusal([] { check_environment(); }).find("'perhaps'"));
}

}  // namespace
}  // namespace hoist
