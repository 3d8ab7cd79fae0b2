// SPDX-License-Identifier: Apache-2.0
#include "device/plugins.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "device/services.hpp"

namespace hoist {
namespace {

constexpr const char* symbol = "hoist_device_plugin_init";

// Never unloaded: its devices, threads and strings may be in use until the process ends.
hoist_device_plugin_init_fn_t find_init(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    fail(HOIST_ERROR_NOT_FOUND, text("device plugin '", path, "' cannot be loaded: ", dlerror()),
         "HOIST_DEVICE_PLUGINS lists paths, separated by colons");
  }
  void* found = dlsym(library, symbol);
  if (found == nullptr) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("device plugin '", path, "' does not export ", symbol),
         "see hoist/device_ops.h");
  }
  return reinterpret_cast<hoist_device_plugin_init_fn_t>(found);
}

hoist_device_ops_t load_plugin(const std::string& path) {
  const hoist_device_plugin_init_fn_t init = find_init(path);
  hoist_status_t status = HOIST_ERROR_UNSUPPORTED;
  for (std::uint32_t level = HOIST_DEVICE_ABI_VERSION; level >= 1 && status == HOIST_ERROR_UNSUPPORTED; --level) {
    hoist_device_ops_t ops{};
    status = init(level, &device_services(), &ops);
    if (status == HOIST_OK) return ops;
  }
  SlotError error = take_slot_error(status);
  fail(status, text("device plugin '", path, "': ", error.message), std::move(error.hint));
}

}  // namespace

std::vector<hoist_device_ops_t> load_plugins() {
  std::vector<hoist_device_ops_t> tables;
  const std::string paths = environment("device_plugins").value_or("");
  for (std::size_t begin = 0; begin < paths.size();) {
    const std::size_t end = std::min(paths.find(':', begin), paths.size());
    if (end != begin) tables.push_back(load_plugin(paths.substr(begin, end - begin)));
    begin = end + 1;
  }
  return tables;
}

}  // namespace hoist
