// SPDX-License-Identifier: Apache-2.0
#include "hoist/device.h"

#include <atomic>
#include <map>
#include <mutex>

#include "device/registry.hpp"
#include "device_handle.hpp"
#include "guard.hpp"
#include "options.hpp"

using namespace hoist;
using namespace hoist::capi;

namespace {

struct Shelf {
  std::mutex mutex;
  std::map<Device*, hoist_device_t*> handles;
  std::uint32_t generation = fork_generation();
};

// A child gets a shelf of its own: the parent's lock may be held for ever.
Shelf& shelf() {
  static std::atomic<Shelf*> current{new Shelf};
  Shelf* found = current.load(std::memory_order_acquire);
  if (found->generation != fork_generation()) {
    Shelf* fresh = new Shelf;
    if (current.compare_exchange_strong(found, fresh)) return *fresh;
    delete fresh;
  }
  return *found;
}

hoist_device_t* open_handle(const std::shared_ptr<Device>& device) {
  Shelf& all = shelf();
  std::lock_guard lock(all.mutex);
  hoist_device_t*& handle = all.handles[device.get()];
  if (handle == nullptr)
    handle = create_handle<hoist_device_t>(OpenDevice{device, 0, std::make_unique<PinnedArena>(device, 0)});
  ++handle->value->opens;
  return handle;
}

// True for the last close. The handle is off the shelf then.
bool close_handle(hoist_device_t* handle) {
  Shelf& all = shelf();
  std::lock_guard lock(all.mutex);
  OpenDevice& open = value_of(handle, "device");
  if (--open.opens != 0) return false;
  all.handles.erase(open.device.get());
  return true;
}

bool is_parents(const hoist_device_t* handle) {
  return handle->magic == magic_of<hoist_device_t>() && handle->generation != fork_generation();
}

}  // namespace

hoist_status_t hoist_device_count(uint32_t* out_count) noexcept {
  return guarded("hoist_device_count", [&] { required(out_count, "out_count") = device_count(); });
}

hoist_status_t hoist_device_get_properties(uint32_t index, hoist_device_properties_t* out_properties) noexcept {
  return guarded("hoist_device_get_properties", [&] {
    check_out(out_properties, "out_properties");
    write_struct(*out_properties, device_properties(index));
  });
}

hoist_status_t hoist_device_open(const char* name, hoist_device_t** out_device) noexcept {
  return guarded("hoist_device_open", [&] {
    required(out_device, "out_device");
    *out_device = open_handle(Device::open(&required(name, "name")));
  });
}

void hoist_device_close(hoist_device_t* device) noexcept {
  guarded_void("hoist_device_close", [&] {
    if (device == nullptr || is_parents(device)) return;
    if (close_handle(device)) destroy_handle(device, "hoist_device_close");
  });
}

hoist_status_t hoist_device_query(const hoist_device_t* device, hoist_device_properties_t* out_properties) noexcept {
  return guarded("hoist_device_query", [&] {
    const auto& target = device_of(device);
    write_struct(check_out(out_properties, "out_properties"), target->properties());
  });
}

hoist_status_t hoist_device_query_memory(const hoist_device_t* device, uint64_t* out_free,
                                         uint64_t* out_total) noexcept {
  return guarded("hoist_device_query_memory", [&] {
    const auto& target = device_of(device);
    required(out_free, "out_free");
    required(out_total, "out_total");
    uint64_t free = 0;
    uint64_t total = 0;
    target->query_memory(free, total);
    *out_free = free;
    *out_total = total;
  });
}

hoist_status_t hoist_device_set(hoist_device_t* device, const char* key, const char* value) noexcept {
  return guarded("hoist_device_set", [&] { device_of(device)->set(&required(key, "key"), &required(value, "value")); });
}

hoist_status_t hoist_device_get_time(const hoist_device_t* device, double* out_us) noexcept {
  return guarded("hoist_device_get_time", [&] {
    const auto& target = device_of(device);
    required(out_us, "out_us") = target->time_us();
  });
}

hoist_status_t hoist_memory_create(hoist_device_t* device, uint64_t bytes, void** out_memory) noexcept {
  return guarded("hoist_memory_create", [&] {
    const auto& target = device_of(device);
    required(out_memory, "out_memory");
    *out_memory = target->memory_create(bytes);
  });
}

void hoist_memory_destroy(hoist_device_t* device, void* memory) noexcept {
  if (memory == nullptr || (device != nullptr && is_parents(device))) return;
  guarded_void("hoist_memory_destroy", [&] { device_of(device)->memory_destroy(memory); });
}

hoist_status_t hoist_device_register(const hoist_device_ops_t* ops,
                                     const hoist_device_services_t** out_services) noexcept {
  return guarded("hoist_device_register", [&] {
    required(out_services, "out_services");
    *out_services = register_device(required(ops, "ops"));
  });
}

hoist_status_t hoist_device_get_ops(const char* kind, hoist_device_ops_t* out_ops) noexcept {
  return guarded("hoist_device_get_ops", [&] {
    check_out(out_ops, "out_ops");
    write_struct(*out_ops, device_ops(&required(kind, "kind")));
  });
}
