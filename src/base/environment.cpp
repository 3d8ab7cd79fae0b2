// SPDX-License-Identifier: Apache-2.0
#include "base/environment.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iterator>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/parse.hpp"
#include "hoist/status.h"

extern "C" char** environ;

namespace hoist {
namespace {

constexpr std::string_view prefix = "HOIST_";
constexpr std::string_view levels[] = {"debug", "info", "warning", "error", "off"};

// -1 for what is no level.
int level_of(std::string_view name) {
  const auto* found = std::find(std::begin(levels), std::end(levels), name);
  return found == std::end(levels) ? -1 : static_cast<int>(found - std::begin(levels));
}

const char* value_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

}  // namespace

const std::vector<std::string_view>& environment_names() {
  // Never freed: destructors of static objects may still open devices.
  static const auto& names = *new std::vector<std::string_view>{"HOIST_LOG",
                                                                "HOIST_TRUST",
                                                                "HOIST_DEVICE_PLUGINS",
                                                                "HOIST_PYTHON_PLUGINS",
                                                                "HOIST_TEST_DEVICES",
                                                                "HOIST_TEST_ALL",
                                                                "HOIST_BUDGET",
                                                                "HOIST_BUDGET_BYTES",
                                                                "HOIST_BUDGET_SHARE",
                                                                "HOIST_PINNED_LIMIT_BYTES",
                                                                "HOIST_PROFILE_STEPS",
                                                                "HOIST_RUN_AHEAD_STEPS",
                                                                "HOIST_PLAN_EFFORT",
                                                                "HOIST_PLACEMENT"};
  return names;
}

std::string environment_name(std::string_view key) {
  std::string name(prefix);
  for (char c : key) name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::optional<std::string> environment(std::string_view key) {
  const char* value = value_of(environment_name(key).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

void check_environment() {
  const auto& known = environment_names();
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view whole(*entry);
    if (whole.substr(0, prefix.size()) != prefix) continue;
    const std::string_view name = whole.substr(0, whole.find('='));
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      fail(HOIST_ERROR_INVALID_ARGUMENT, text("environment variable ", name, " is unknown"), nearest_hint(name, known));
    }
  }
  if (const char* value = value_of("HOIST_TRUST")) parse_switch("environment variable HOIST_TRUST", value);
  if (const char* value = value_of("HOIST_LOG"); value != nullptr && level_of(value) < 0) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("environment variable HOIST_LOG is '", value, "'"),
         "give debug, info, warning, error or off");
  }
}

bool trust_mode() noexcept {
  static const bool on = [] {
    const char* value = value_of("HOIST_TRUST");
    if (value == nullptr) return false;
    const std::string_view given(value);
    return given != "0" && given != "off" && given != "false" && given != "no";
  }();
  return on;
}

int log_threshold() noexcept {
  const char* value = value_of("HOIST_LOG");
  const int level = value == nullptr ? -1 : level_of(value);
  return level < 0 ? static_cast<int>(HOIST_LOG_WARNING) : level;
}

}  // namespace hoist
