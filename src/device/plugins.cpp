// SPDX-License-Identifier: Apache-2.0
#include "device/plugins.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "device/services.hpp"
#include "device/stubs.hpp"

namespace hoist {
namespace {

constexpr const char* symbol = "hoist_device_plugin_init";

// Room beyond this library's table: a plugin that writes its newer one all the same is found out, not written past.
struct Space {
  hoist_device_ops_t ops{};
  unsigned char more[2048] = {};
};

// Never unloaded: its devices, threads and strings may be in use until the process ends.
void* open_library(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  const char* why = dlerror();
  fail(HOIST_ERROR_NOT_FOUND, text("it cannot be loaded: ", why == nullptr ? "" : why),
       "give the path of a shared object; HOIST_DEVICE_PLUGINS lists name=path,name=path");
}

hoist_device_plugin_init_fn_t find_init(void* library) {
  void* found = dlsym(library, symbol);
  if (found == nullptr) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("it does not export ", symbol), "see hoist/device_ops.h");
  }
  return reinterpret_cast<hoist_device_plugin_init_fn_t>(found);
}

hoist_device_ops_t table_of(const Space& space, std::uint32_t requested) {
  const hoist_device_ops_t& ops = space.ops;
  if (ops.abi_version > requested) {
    fail(HOIST_ERROR_INVALID_ARGUMENT,
         text("its table comes from the future: asked for level ", requested, " it gives level ", ops.abi_version),
         "return HOIST_ERROR_UNSUPPORTED for levels that the plugin does not serve");
  }
  if (ops.struct_size > sizeof space) {
    fail(HOIST_ERROR_INVALID_ARGUMENT,
         text("its table's struct_size is ", ops.struct_size, "; level ", requested, " has ", sizeof ops, " bytes"),
         "set struct_size to the sizeof of the level that was asked for");
  }
  return checked_table(ops);
}

// Newest level first, then older ones.
hoist_device_ops_t negotiate(hoist_device_plugin_init_fn_t init) {
  for (std::uint32_t level = HOIST_DEVICE_ABI_VERSION; level >= 1; --level) {
    Space space;
    space.ops.struct_size = sizeof space.ops;
    const hoist_status_t status = init(level, &device_services(), &space.ops);
    if (status == HOIST_OK) return table_of(space, level);
    SlotError error = take_slot_error(status);
    if (status != HOIST_ERROR_UNSUPPORTED) fail(status, text("init: ", error.message), std::move(error.hint));
  }
  fail(HOIST_ERROR_UNSUPPORTED,
       text("it serves none of the levels 1 to ", HOIST_DEVICE_ABI_VERSION, " of this library"),
       "load a newer libhoist, or an older plugin");
}

bool is_kind(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// "npu=/opt/npu/libnpu.so", or a path alone.
Plugin load_listed(const std::string& entry) {
  const std::size_t equals = std::min(entry.find('='), entry.size());
  const std::string kind = entry.substr(0, equals);
  if (equals == entry.size() || !is_kind(kind)) return load_plugin(entry);
  Plugin plugin = load_plugin(entry.substr(equals + 1));
  if (kind != plugin.ops.name) {
    fail(HOIST_ERROR_INVALID_ARGUMENT,
         text("device plugin '", plugin.path, "' is of kind '", plugin.ops.name, "', not '", kind,
              "' as HOIST_DEVICE_PLUGINS says"),
         text("list it as ", plugin.ops.name, "=", plugin.path));
  }
  return plugin;
}

}  // namespace

Plugin load_plugin(const std::string& path) {
  try {
    Plugin plugin;
    plugin.path = path;
    void* library = open_library(path);
    plugin.library = library;
    plugin.ops = negotiate(find_init(library));
    return plugin;
  } catch (const Error& error) {
    fail(error.code(), text("device plugin '", path, "': ", error.what()), error.hint());
  }
}

std::vector<Plugin> load_listed_plugins() {
  std::vector<Plugin> plugins;
  const std::string listed = environment("device_plugins").value_or("");
  for (std::size_t begin = 0; begin < listed.size();) {
    const std::size_t end = std::min(listed.find(',', begin), listed.size());
    if (end != begin) plugins.push_back(load_listed(listed.substr(begin, end - begin)));
    begin = end + 1;
  }
  return plugins;
}

}  // namespace hoist
