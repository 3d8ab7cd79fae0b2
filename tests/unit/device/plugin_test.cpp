// SPDX-License-Identifier: Apache-2.0
// Plugins by HOIST_DEVICE_PLUGINS and by path. What loads, loads once a process: the tests run in this order.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstdlib>

#include "device/registry.hpp"
#include "unit/host/bench.hpp"

namespace hoist {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string good = HOIST_TEST_PLUGIN;
const std::string twin = HOIST_TEST_PLUGIN_TWIN;

std::string failure_with(const std::string& listed, hoist_status_t want) {
  ::setenv("HOIST_DEVICE_PLUGINS", listed.c_str(), 1);
  std::string message;
  EXPECT_EQ(want, status_of([] { Device::open("host:0?mode=inline"); }, &message)) << listed << ": " << message;
  EXPECT_THAT(message, HasSubstr(listed.substr(listed.rfind('/')))) << "it is named";
  return message;
}

// What was meant as a plugin's list, or as any other setting, is not passed over.
TEST(Environment, AnUnknownNameIsAnErrorOfTheFirstUse) {
  std::string message;
  ::setenv("HOIST_DEVICE_PLUGIN", good.c_str(), 1);
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([] { device_count(); }, &message));
  EXPECT_THAT(message, AllOf(HasSubstr("HOIST_DEVICE_PLUGIN is unknown"), HasSubstr("'HOIST_DEVICE_PLUGINS'")));
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([] { Device::open("host:0"); }, &message));
  ::unsetenv("HOIST_DEVICE_PLUGIN");
}

TEST(Plugins, EachFailureNamesThePluginAndWhatIsWrong) {
  EXPECT_THAT(failure_with("/nowhere/libmini.so", HOIST_ERROR_NOT_FOUND), HasSubstr("cannot be loaded"));
  EXPECT_THAT(failure_with("mini=/nowhere/libmini.so", HOIST_ERROR_NOT_FOUND), HasSubstr("'/nowhere/libmini.so'"));
  ::setenv("HOIST_DEVICE_PLUGINS", "libm.so.6", 1);
  std::string message;
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([] { Device::open("host:0"); }, &message));
  EXPECT_THAT(message, AllOf(HasSubstr("libm.so.6"), HasSubstr("does not export hoist_device_plugin_init")));
  struct Case {
    const char* mood;
    hoist_status_t status;
    const char* words;
  };
  for (const Case& c : {Case{"refuses", HOIST_ERROR_DEVICE, "init: the card is on fire | put it out"},
                        Case{"no level", HOIST_ERROR_UNSUPPORTED, "none of the levels 1 to"},
                        Case{"no copy", HOIST_ERROR_INVALID_ARGUMENT, "required slot copy is NULL"},
                        Case{"short", HOIST_ERROR_INVALID_ARGUMENT, "cut short"},
                        Case{"past", HOIST_ERROR_INVALID_ARGUMENT, "abi_version is 0"},
                        Case{"future", HOIST_ERROR_INVALID_ARGUMENT, "asked for level 1 it gives level 2"},
                        Case{"endless", HOIST_ERROR_INVALID_ARGUMENT, "struct_size is 1048576"},
                        Case{"more", HOIST_ERROR_INVALID_ARGUMENT, "from the future"}}) {
    ::setenv("PLUGIN_MOOD", c.mood, 1);
    EXPECT_THAT(failure_with(good, c.status), HasSubstr(c.words)) << c.mood;
    ::unsetenv("PLUGIN_MOOD");
  }
  EXPECT_THAT(failure_with("maxi=" + good, HOIST_ERROR_INVALID_ARGUMENT), HasSubstr("of kind 'mini', not 'maxi'"));
  // Two that claim one kind: both are named.
  EXPECT_THAT(failure_with(good + "," + twin, HOIST_ERROR_ALREADY_EXISTS),
              AllOf(HasSubstr("'mini'"), HasSubstr(good), HasSubstr(twin)));
}

TEST(Plugins, ListedOnesServeAndByPathOneMoreIsRefused) {
  ::setenv("HOIST_DEVICE_PLUGINS", (",mini=" + good + "," + good + ",").c_str(), 1);
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < device_count(); ++i) names.emplace_back(device_properties(i).name);
  EXPECT_THAT(names, testing::IsSupersetOf({"host:0", "host:1", "mini"}));
  {
    auto device = Device::open("mini:1");
    EXPECT_EQ(42, device->time_us());
    EXPECT_EQ(128u, device->properties().alignment);
  }
  EXPECT_STREQ("mini", load_device_plugin(good));
  std::string message;
  EXPECT_EQ(HOIST_ERROR_ALREADY_EXISTS, status_of([] { load_device_plugin(twin); }, &message));
  EXPECT_THAT(message, AllOf(HasSubstr("'mini'"), HasSubstr(good), HasSubstr(twin)));
  EXPECT_EQ(HOIST_ERROR_NOT_FOUND, status_of([] { load_device_plugin("/nowhere/libmini.so"); }, &message));
  EXPECT_THAT(message, HasSubstr("'/nowhere/libmini.so'"));
  ::setenv("PLUGIN_MOOD", "claims", 1);
  EXPECT_EQ(HOIST_ERROR_DEVICE, status_of([] { Device::open("mini:2"); }, &message));
  EXPECT_THAT(message, AllOf(HasSubstr("mini:2"), HasSubstr("slot access_begin is NULL")));
  ::unsetenv("PLUGIN_MOOD");
  // With its last device gone it stays.
  void* library = dlopen(good.c_str(), RTLD_NOW | RTLD_NOLOAD);
  EXPECT_NE(nullptr, library);
  if (library != nullptr) dlclose(library);
}

}  // namespace
}  // namespace hoist
