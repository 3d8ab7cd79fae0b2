// SPDX-License-Identifier: Apache-2.0
#include "hoist/manager.h"

#include <string>
#include <thread>

#include "guard.hpp"
#include "manager_handle.hpp"
#include "options.hpp"

using namespace hoist;
using namespace hoist::capi;

namespace {

plan::Mode core_mode(hoist_use_mode_t mode) {
  if (mode >= HOIST_USE_READ && mode <= HOIST_USE_READ_WRITE) return static_cast<plan::Mode>(mode);
  fail(HOIST_ERROR_INVALID_ARGUMENT, text("mode is ", static_cast<int>(mode)), "give read, write or read-write");
}

plan::ItemClass core_class(hoist_tensor_class_t tensor_class) {
  if (tensor_class >= HOIST_CLASS_WEIGHT && tensor_class <= HOIST_CLASS_ACTIVATION) {
    return static_cast<plan::ItemClass>(tensor_class);
  }
  fail(HOIST_ERROR_INVALID_ARGUMENT, text("tensor_class is ", static_cast<int>(tensor_class)),
       "give weight, state or activation");
}

std::string_view name_of(const char* name) {
  const std::string_view text_of = &required(name, "name");
  if (text_of.empty()) fail(HOIST_ERROR_INVALID_ARGUMENT, "name is empty", "give a name that is unique in the manager");
  return text_of;
}

void find(const Manager& manager, const char* name, hoist_tensor_t* out_tensor) {
  required(out_tensor, "out_tensor");
  *out_tensor = manager.find_tensor(name_of(name));
}

TensorSpec tensor_spec(const hoist_tensor_desc_t* given) {
  const hoist_tensor_desc_t desc = read_struct(given, "desc");
  if (desc.reserved != 0) fail(HOIST_ERROR_INVALID_ARGUMENT, text("desc->reserved is ", desc.reserved), "leave it 0");
  TensorSpec spec;
  spec.name = name_of(desc.name);
  spec.bytes = desc.bytes;
  spec.host = desc.host;
  spec.flags = desc.flags;
  spec.mode = core_mode(desc.mode);
  spec.item_class = core_class(desc.tensor_class);
  spec.release = desc.release;
  spec.user_data = desc.user_data;
  return spec;
}

std::shared_ptr<Budget> budget_for(const std::shared_ptr<Device>& device, const hoist_manager_options_t& options) {
  if (options.budget == nullptr) return std::make_shared<Budget>(device, budget_options(nullptr));
  const std::shared_ptr<Budget>& budget = value_of(options.budget, "options->budget");
  if (budget->device() == device) return budget;
  fail(HOIST_ERROR_INVALID_ARGUMENT,
       text("the budget is over ", budget->device()->name(), ", the manager asks for ", device->name()),
       "create the manager on the budget's device");
}

}  // namespace

namespace hoist::capi {

void end_manager(std::unique_ptr<Manager> manager) {
  const std::shared_ptr<Budget> budget = manager->shared_budget();
  const Inside inside(*budget);
  while (budget->busy().exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  budget->end(std::move(manager));
  budget->busy().store(false, std::memory_order_release);
}

}  // namespace hoist::capi

hoist_status_t hoist_manager_options_init(hoist_manager_options_t* out_options) noexcept {
  return guarded("hoist_manager_options_init", [&] {
    const hoist_manager_options_t defaults = HOIST_MANAGER_OPTIONS_INIT;
    write_struct(check_out(out_options, "out_options"), defaults);
  });
}

hoist_status_t hoist_manager_create(hoist_device_t* device, const hoist_manager_options_t* options,
                                    hoist_manager_t** out_manager) noexcept {
  return guarded("hoist_manager_create", [&] {
    const auto& target = device_of(device);
    const auto known = read_options(options, "options");
    required(out_manager, "out_manager");
    std::shared_ptr<Budget> budget = budget_for(target, known);
    const Busy busy(budget->busy(), "budget");
    *out_manager = create_handle<hoist_manager_t>(std::make_unique<Manager>(budget));
  });
}

void hoist_manager_destroy(hoist_manager_t* manager) noexcept {
  destroy_handle(manager, "hoist_manager_destroy", [](std::unique_ptr<Manager>& value) {
    Inside* inside = Inside::of(value->budget());
    if (inside != nullptr) return inside->end_later(std::move(value));
    end_manager(std::move(value));
  });
}

hoist_status_t hoist_manager_add_unit(hoist_manager_t* manager, const char* name, hoist_unit_t* out_unit) noexcept {
  return guarded("hoist_manager_add_unit", [&] {
    const HeldManager held(manager);
    required(out_unit, "out_unit");
    *out_unit = held->add_unit(std::string(name_of(name)));
  });
}

hoist_status_t hoist_manager_set_workspace(hoist_manager_t* manager, hoist_unit_t unit, std::uint64_t bytes) noexcept {
  return guarded("hoist_manager_set_workspace", [&] { HeldManager(manager)->set_workspace(unit, bytes); });
}

hoist_status_t hoist_manager_add_tensor(hoist_manager_t* manager, hoist_unit_t unit, const hoist_tensor_desc_t* desc,
                                        hoist_tensor_t* out_tensor) noexcept {
  return guarded("hoist_manager_add_tensor", [&] {
    const HeldManager held(manager);
    required(out_tensor, "out_tensor");
    *out_tensor = held->add_tensor(unit, tensor_spec(desc));
  });
}

hoist_status_t hoist_manager_add_use(hoist_manager_t* manager, hoist_unit_t unit, hoist_tensor_t tensor,
                                     hoist_use_mode_t mode) noexcept {
  return guarded("hoist_manager_add_use", [&] { HeldManager(manager)->add_use(unit, tensor, core_mode(mode)); });
}

hoist_status_t hoist_manager_add_alias(hoist_manager_t* manager, const char* name, hoist_tensor_t tensor) noexcept {
  return guarded("hoist_manager_add_alias",
                 [&] { HeldManager(manager)->add_alias(std::string(name_of(name)), tensor); });
}

hoist_status_t hoist_manager_get_tensor(const hoist_manager_t* manager, const char* name,
                                        hoist_tensor_t* out_tensor) noexcept {
  return guarded("hoist_manager_get_tensor", [&] {
    const Manager& named = *value_of(manager, "manager");
    if (named.committed()) return find(named, name, out_tensor);
    const HeldManager held(manager);
    find(named, name, out_tensor);
  });
}

hoist_status_t hoist_manager_commit(hoist_manager_t* manager) noexcept {
  return guarded("hoist_manager_commit", [&] { HeldManager(manager)->commit(); });
}

hoist_status_t hoist_manager_drain(hoist_manager_t* manager) noexcept {
  return guarded("hoist_manager_drain", [&] { HeldManager(manager).budget().drain(); });
}

hoist_status_t hoist_manager_suspend(hoist_manager_t* manager) noexcept {
  return guarded("hoist_manager_suspend", [&] { HeldManager(manager).budget().suspend(); });
}

hoist_status_t hoist_manager_resume(hoist_manager_t* manager) noexcept {
  return guarded("hoist_manager_resume", [&] { HeldManager(manager).budget().resume(); });
}

hoist_status_t hoist_manager_query(const hoist_manager_t* manager, hoist_budget_status_t* out_status) noexcept {
  return guarded("hoist_manager_query", [&] {
    const HeldManager held(manager);
    check_out(out_status, "out_status");
    write_status(held.budget(), *out_status);
  });
}

hoist_status_t hoist_tensor_update(hoist_manager_t* manager, hoist_tensor_t tensor, const void* src,
                                   std::uint64_t bytes, hoist_stream_t* stream) noexcept {
  return guarded("hoist_tensor_update", [&] {
    const HeldManager held(manager);
    static_cast<void>(held.stream(stream));
    if (bytes != 0) required(static_cast<const char*>(src), "src");
    held->update(tensor, src, bytes);
  });
}

hoist_status_t hoist_tensor_read(hoist_manager_t* manager, hoist_tensor_t tensor, void* dst,
                                 std::uint64_t bytes) noexcept {
  return guarded("hoist_tensor_read", [&] {
    const HeldManager held(manager);
    if (bytes != 0) required(static_cast<char*>(dst), "dst");
    held->read(tensor, dst, bytes);
  });
}

hoist_status_t hoist_tensor_query(const hoist_manager_t* manager, hoist_tensor_t tensor,
                                  hoist_tensor_info_t* out_info) noexcept {
  return guarded("hoist_tensor_query", [&] {
    const HeldManager held(manager);
    check_out(out_info, "out_info");
    const TensorFacts facts = held->facts(tensor);
    fill_struct(*out_info, [&](hoist_tensor_info_t& info) {
      info.name = facts.name;
      info.bytes = facts.bytes;
      info.host = facts.host;
      info.version = facts.version;
      info.on_device = facts.on_device ? 1 : 0;
      info.host_current = facts.host_current ? 1 : 0;
      info.flags = facts.flags;
      info.tensor_class = static_cast<hoist_tensor_class_t>(facts.item_class);
    });
  });
}
