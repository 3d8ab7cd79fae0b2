// SPDX-License-Identifier: Apache-2.0
// A C++ program outside the tree: finds hoist by find_package, opens a device over the C++ header.
#include <cstdio>
#include <hoist/hoist.hpp>

int main() {
  const hoist::Device device("host:0");
  const hoist_device_properties_t properties = device.query();
  std::printf("C++: hoist %s, %s\n", hoist_version_string(), properties.name);
  return properties.memory_bytes > 0 ? 0 : 1;
}
