// SPDX-License-Identifier: Apache-2.0
// Plugins that HOIST_DEVICE_PLUGINS lists. One test: what loads, loads once a process.
#include <gmock/gmock.h>

#include <cstdlib>

#include "device/registry.hpp"
#include "unit/host/bench.hpp"

namespace hoist {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::string failure_with(const std::string& plugins, hoist_status_t want) {
  ::setenv("HOIST_DEVICE_PLUGINS", plugins.c_str(), 1);
  std::string message;
  EXPECT_EQ(want, status_of([] { Device::open("host:0?mode=inline"); }, &message));
  return message;
}

TEST(Plugins, BadOnesAreNamedUntilTheListIsGoodThenTheirDevicesOpen) {
  EXPECT_THAT(failure_with("/nowhere/libmini.so", HOIST_ERROR_NOT_FOUND), HasSubstr("'/nowhere/libmini.so'"));
  EXPECT_THAT(failure_with("libm.so.6", HOIST_ERROR_INVALID_ARGUMENT), HasSubstr("hoist_device_plugin_init"));
  ::setenv("PLUGIN_REFUSES", "1", 1);
  EXPECT_THAT(failure_with(HOIST_TEST_PLUGIN, HOIST_ERROR_DEVICE), HasSubstr("the card is on fire | put it out"));
  ::unsetenv("PLUGIN_REFUSES");
  EXPECT_THAT(failure_with(HOIST_TEST_PLUGIN ":" HOIST_TEST_PLUGIN, HOIST_ERROR_ALREADY_EXISTS), HasSubstr("'mini'"));
  ::setenv("HOIST_DEVICE_PLUGINS", ":" HOIST_TEST_PLUGIN ":", 1);
  EXPECT_THAT(device_names(), Contains("mini:2"));
  EXPECT_THAT(device_names(), Contains("host:0"));
  auto device = Device::open("mini:1");
  EXPECT_EQ(42, device->time_us());
  EXPECT_EQ(128u, device->properties().alignment);
}

}  // namespace
}  // namespace hoist
