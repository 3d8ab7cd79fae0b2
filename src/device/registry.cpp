// SPDX-License-Identifier: Apache-2.0
#include "device/registry.hpp"

#include <pthread.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>

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

struct Registry {
  std::recursive_mutex mutex;                              // a driver may fork while it opens: see lock_registry
  std::vector<std::unique_ptr<hoist_device_ops_t>> kinds;  // never move: a device may outlive a registration
  std::map<std::string, OpenDevice> open;

  Registry();
  void add(const hoist_device_ops_t& ops);
  const hoist_device_ops_t& kind(const std::string& name) const;
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
  for (auto init : {hoist_host_plugin_init, hoist_cuda_plugin_init}) {
    hoist_device_ops_t ops{};
    ops.struct_size = sizeof ops;
    if (init(HOIST_DEVICE_ABI_VERSION, &device_services(), &ops) == HOIST_OK) add(ops);
  }
  for (const hoist_device_ops_t& ops : load_plugins()) add(ops);
}

void Registry::add(const hoist_device_ops_t& ops) {
  auto table = std::make_unique<hoist_device_ops_t>(checked_table(ops));
  const std::string_view name = table->name;
  for (const auto& known : kinds) {
    if (known->name == name) {
      fail(HOIST_ERROR_ALREADY_EXISTS, text("device kind '", name, "' is registered already"), "choose another name");
    }
  }
  kinds.push_back(std::move(table));
}

const hoist_device_ops_t& Registry::kind(const std::string& name) const {
  std::vector<std::string_view> names;
  for (const auto& known : kinds) {
    if (name == known->name) return *known;
    names.emplace_back(known->name);
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

std::shared_ptr<Device> open_new(const hoist_device_ops_t& ops, const DeviceName& name) {
  void* self = nullptr;
  const hoist_status_t status = ops.open(ops.driver, name.index, name.option_text.c_str(), &self);
  if (status != HOIST_OK) {
    SlotError error = take_slot_error(status);
    fail(status, text(name.full, ": open: ", error.message), std::move(error.hint));
  }
  return std::make_shared<Device>(ops, name.base, self);
}

}  // namespace

const hoist_device_services_t* register_device(const hoist_device_ops_t& ops) {
  Registry& all = ready_registry();
  std::lock_guard lock(all.mutex);
  all.add(ops);
  return &device_services();
}

std::uint32_t device_count() { return static_cast<std::uint32_t>(device_names().size()); }

std::vector<std::string> device_names() {
  Registry& all = ready_registry();
  std::lock_guard lock(all.mutex);
  std::vector<std::string> names;
  for (const auto& kind : all.kinds) {
    const std::uint32_t count = count_of(*kind);
    for (std::uint32_t i = 0; i < count; ++i) names.push_back(text(kind->name, ":", i));
  }
  return names;
}

std::shared_ptr<Device> Device::open(const std::string& name) {
  const DeviceName asked = parse_device_name(name);
  Registry& all = ready_registry();
  std::lock_guard lock(all.mutex);
  const hoist_device_ops_t& ops = all.kind(asked.kind);
  check_index(ops, asked);
  OpenDevice& entry = all.open[asked.base];
  if (auto device = entry.device.lock(); device != nullptr && entry.generation == fork_generation()) {
    check_same_options(entry.name, asked);
    return device;
  }
  auto device = open_new(ops, asked);
  entry = {device, asked, fork_generation()};
  return device;
}

}  // namespace hoist
