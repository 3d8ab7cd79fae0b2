// SPDX-License-Identifier: Apache-2.0
#include "hoist/plugin.h"

#include "device/registry.hpp"
#include "guard.hpp"
#include "options.hpp"

using namespace hoist;
using namespace hoist::capi;

hoist_status_t hoist_plugin_load(const char* path, const char** out_kind) noexcept {
  return guarded("hoist_plugin_load", [&] {
    const char* kind = load_device_plugin(&required(path, "path"));
    if (out_kind != nullptr) *out_kind = kind;
  });
}
