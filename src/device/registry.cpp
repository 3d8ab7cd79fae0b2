// SPDX-License-Identifier: Apache-2.0
#include "device/registry.hpp"

#include <pthread.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/fork.hpp"
#include "base/nearest.hpp"
#include "device/device.hpp"
#include "device/name.hpp"
#include "device/plugins.hpp"
#include "device/services.hpp"
#include "device/stubs.hpp"

// The built-in devices: plugins that happen to be linked in.
extern "C" hoist_status_t hoist_host_plugin_init(std::uint32_t requested_abi, const hoist_device_services_t* services,
                                                 hoist_device_ops_t* out_ops);
extern "C" hoist_status_t hoist_cuda_plugin_init(std::uint32_t requested_abi, const hoist_device_services_t* services,
                                                 hoist_device_ops_t* out_ops);

namespace hoist {
namespace {

struct OpenDevice {
  std::weak_ptr<Device> device;
  DeviceName name;
  std::uint32_t generation = 0;
};

// A device may outlive a registration: what it uses never moves.
struct Kind {
  hoist_device_ops_t given;  // checked, NULL where its author left NULL
  hoist_device_ops_t ops;    // over stubs
  std::string origin;        // who brought it, for people
  const void* library;       // the plugin's
};

struct Registry {
  std::recursive_mutex mutex;  // a driver may fork while it opens: see lock_registry
  std::vector<std::unique_ptr<const Kind>> kinds;
  std::map<std::string, OpenDevice> open;

  Registry();
  void add(const hoist_device_ops_t& given, const std::string& origin, const void* library = nullptr);
  const Kind& add(const Plugin& plugin);
  const Kind& kind(const std::string& name) const;
};

Registry& registry() {
  static Registry* instance = new Registry;  // never freed: devices may close at exit
  return *instance;
}

// A fork while another thread opens a device must not leave the child a locked registry.
void lock_registry() { registry().mutex.lock(); }
void unlock_registry() { registry().mutex.unlock(); }
void renew_registry_lock() { new (&registry().mutex) std::recursive_mutex; }  // the child's thread has another id

Registry::Registry() {
  check_environment();
  for (auto init : {hoist_host_plugin_init, hoist_cuda_plugin_init}) {
    hoist_device_ops_t ops{};
    ops.struct_size = sizeof ops;
    if (init(HOIST_DEVICE_ABI_VERSION, &device_services(), &ops) == HOIST_OK) add(ops, "libhoist itself");
  }
  for (const Plugin& plugin : load_listed_plugins()) add(plugin);
}

void Registry::add(const hoist_device_ops_t& given, const std::string& origin, const void* library) {
  const hoist_device_ops_t checked = checked_table(given);
  const std::string_view name = checked.name;
  for (const auto& known : kinds) {
    if (known->given.name != name) continue;
    fail(HOIST_ERROR_ALREADY_EXISTS,
         text("device kind '", name, "' of ", origin, " is registered already, by ", known->origin),
         "leave one of them out, or choose another name");
  }
  kinds.push_back(std::make_unique<const Kind>(Kind{checked, over_stubs(checked), origin, library}));
}

// The same file again is no news.
const Kind& Registry::add(const Plugin& plugin) {
  for (const auto& known : kinds) {
    if (known->library == plugin.library) return *known;
  }
  add(plugin.ops, text("device plugin '", plugin.path, "'"), plugin.library);
  return *kinds.back();
}

const Kind& Registry::kind(const std::string& name) const {
  std::vector<std::string_view> names;
  for (const auto& known : kinds) {
    if (name == known->given.name) return *known;
    names.emplace_back(known->given.name);
  }
  fail(HOIST_ERROR_NOT_FOUND, text("no kind of device is called '", name, "'"), nearest_hint(name, names));
}

Registry& ready_registry() {
  registry();  // first: a handler of fork cannot tell that a plugin could not be loaded
  static const int installed = pthread_atfork(lock_registry, unlock_registry, renew_registry_lock);
  static_cast<void>(installed);
  return registry();
}

std::uint32_t count_of(const hoist_device_ops_t& ops) {
  std::uint32_t count = 0;
  const hoist_status_t status = ops.count(ops.driver, &count);
  if (status != HOIST_OK) {
    SlotError error = take_slot_error(status);
    fail(status, text(ops.name, ": count: ", error.message), std::move(error.hint));
  }
  return count;
}

void check_index(const hoist_device_ops_t& ops, const DeviceName& name) {
  const std::uint32_t count = count_of(ops);
  // A kind without devices knows why: its open says so.
  if (name.index < count || count == 0) return;
  fail(HOIST_ERROR_NOT_FOUND, text("no device is called '", name.base, "'"),
       count == 1 ? text("the one ", ops.name, " device is ", ops.name, ":0")
                  : text("there are ", ops.name, ":0 to ", ops.name, ":", count - 1));
}

// Whoever states an option gets it; whoever states none takes the device as it is.
void check_same_options(const DeviceName& open, const DeviceName& asked) {
  for (const auto& [key, value] : asked.options) {
    const auto found = open.options.find(key);
    if (found != open.options.end() && found->second == value) continue;
    fail(HOIST_ERROR_ALREADY_EXISTS, text(asked.base, " is open as '", open.full, "', without ", key, "=", value),
         "close it first, or open it with the same options");
  }
}

std::shared_ptr<Device> open_new(const Kind& kind, const DeviceName& name) {
  void* self = nullptr;
  const hoist_status_t status = kind.ops.open(kind.ops.driver, name.index, name.option_text.c_str(), &self);
  if (status != HOIST_OK) {
    SlotError error = take_slot_error(status);
    fail(status, text(name.full, ": open: ", error.message), std::move(error.hint));
  }
  auto device = std::make_shared<Device>(kind.ops, name.base, self);
  check_capabilities(kind.given, name.base, device->properties().capabilities);
  return device;
}

hoist_device_properties_t describe(const hoist_device_ops_t& ops, std::uint32_t index) {
  hoist_device_properties_t facts{};
  facts.struct_size = sizeof facts;
  const hoist_status_t status = ops.describe(ops.driver, index, &facts);
  if (status == HOIST_OK) return facts;
  SlotError error = take_slot_error(status);
  fail(status, text(ops.name, ":", index, ": describe: ", error.message), std::move(error.hint));
}

}  // namespace

const hoist_device_services_t* register_device(const hoist_device_ops_t& ops) {
  Registry& all = ready_registry();
  std::lock_guard lock(all.mutex);
  all.add(ops, "hoist_device_register");
  return &device_services();
}

const char* load_device_plugin(const std::string& path) {
  Registry& all = ready_registry();
  std::lock_guard lock(all.mutex);
  return all.add(load_plugin(path)).given.name;
}

hoist_device_ops_t device_ops(const std::string& kind) {
  Registry& all = ready_registry();
  std::lock_guard lock(all.mutex);
  return all.kind(kind).given;
}

std::uint32_t device_count() {
  Registry& all = ready_registry();
  std::lock_guard lock(all.mutex);
  std::uint32_t count = 0;
  for (const auto& kind : all.kinds) count += count_of(kind->ops);
  return count;
}

hoist_device_properties_t device_properties(std::uint32_t index) {
  Registry& all = ready_registry();
  std::lock_guard lock(all.mutex);
  std::uint32_t first = 0;  // of the kind
  for (const auto& kind : all.kinds) {
    const std::uint32_t count = count_of(kind->ops);
    if (index - first < count) return describe(kind->ops, index - first);
    first += count;
  }
  fail(HOIST_ERROR_NOT_FOUND, text("there is no device of index ", index), text("there are ", first));
}

std::shared_ptr<Device> Device::open(const std::string& name) {
  const DeviceName asked = parse_device_name(name);
  Registry& all = ready_registry();
  std::lock_guard lock(all.mutex);
  const Kind& kind = all.kind(asked.kind);
  check_index(kind.ops, asked);
  OpenDevice& entry = all.open[asked.base];
  if (auto device = entry.device.lock(); device != nullptr && entry.generation == fork_generation()) {
    check_same_options(entry.name, asked);
    return device;
  }
  auto device = open_new(kind, asked);
  entry = {device, asked, fork_generation()};
  return device;
}

}  // namespace hoist
