// SPDX-License-Identifier: Apache-2.0
// Tests of the manager run on the device that HOIST_TEST_DEVICES names, in the place of a threaded host device: the
// rest of the name's options stays, but for cuda, which has none. Other modes are other devices, and stay what they
// are.
#pragma once

#include <cstdlib>
#include <string>

namespace hoist::test {

inline std::string in_place_of(const std::string& name) {
  const std::string threaded = "host:0?mode=threaded";
  const char* given = std::getenv("HOIST_TEST_DEVICES");
  if (given == nullptr || name.compare(0, threaded.size(), threaded) != 0) return name;
  const std::string rest = name.substr(threaded.size());  // "" or "&memory=1MiB"
  return rest.empty() || std::string(given).compare(0, 5, "cuda:") == 0 ? given
                                                                        : std::string(given) + "?" + rest.substr(1);
}

}  // namespace hoist::test
