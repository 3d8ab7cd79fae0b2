// SPDX-License-Identifier: Apache-2.0
// Which devices a test runs on: HOIST_TEST_DEVICES, names with commas between, or every built-in kind.
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "device/device.hpp"

namespace hoist::test {

inline std::vector<std::string> device_names_to_test() {
  const char* given = std::getenv("HOIST_TEST_DEVICES");
  std::string list = given != nullptr ? given
                                      : "host:0?mode=inline,host:0?mode=threaded,host:0?mode=guarded,"
                                        "host:0?mode=virtual,cuda:0";
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) names.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

inline std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name;
  for (char c : info.param) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

// Opens the device of the test's parameter. A machine without a GPU skips, and says why; where devices were
// asked for by name nothing is skipped.
class OnDevice : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    try {
      device = Device::open(GetParam());
    } catch (const Error& error) {
      const bool absent = error.code() == HOIST_ERROR_NOT_FOUND && GetParam().rfind("cuda:", 0) == 0;
      if (!absent || std::getenv("HOIST_TEST_DEVICES") != nullptr) throw;
      GTEST_SKIP() << "no GPU here: " << error.what();
    }
  }

  std::shared_ptr<Device> device;
};

}  // namespace hoist::test
