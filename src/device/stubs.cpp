// SPDX-License-Identifier: Apache-2.0
#include "device/stubs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "base/error.hpp"
#include "device/services.hpp"

namespace hoist {
namespace {

// One function a signature: the number of arguments does not matter to it.
template <typename Signature>
struct Stub;

template <typename... Arguments>
struct Stub<hoist_status_t (*)(Arguments...)> {
  static hoist_status_t call(Arguments...) {
    device_services().error_set(HOIST_ERROR_UNSUPPORTED, "this kind of device cannot do it",
                                "see the device's capabilities");
    return HOIST_ERROR_UNSUPPORTED;
  }
};

template <typename... Arguments>
struct Stub<void (*)(Arguments...)> {
  static void call(Arguments...) {}
};

constexpr bool required = true;
constexpr bool optional = false;

// The one list of slots: every rule over the table is a visitor of it.
template <typename Visitor>
void for_each_slot(Visitor&& visit) {
#define HOIST_SLOT(slot, need) visit(#slot, &hoist_device_ops_t::slot, need)
  HOIST_SLOT(count, required);
  HOIST_SLOT(open, required);
  HOIST_SLOT(close, required);
  HOIST_SLOT(query, required);
  HOIST_SLOT(query_memory, required);
  HOIST_SLOT(set, optional);
  HOIST_SLOT(get_time, required);
  HOIST_SLOT(memory_create, required);
  HOIST_SLOT(memory_destroy, required);
  HOIST_SLOT(host_register, required);
  HOIST_SLOT(host_unregister, required);
  HOIST_SLOT(stream_create, required);
  HOIST_SLOT(stream_destroy, required);
  HOIST_SLOT(stream_wrap, optional);
  HOIST_SLOT(stream_wait, required);
  HOIST_SLOT(stream_wait_event, required);
  HOIST_SLOT(event_create, required);
  HOIST_SLOT(event_destroy, required);
  HOIST_SLOT(event_record, required);
  HOIST_SLOT(event_poll, required);
  HOIST_SLOT(event_wait, required);
  HOIST_SLOT(event_get_elapsed, required);
  HOIST_SLOT(copy, required);
  HOIST_SLOT(copy_batch, optional);
  HOIST_SLOT(fill, required);
  HOIST_SLOT(host_function, required);
  HOIST_SLOT(access_begin, optional);
  HOIST_SLOT(access_end, optional);
#undef HOIST_SLOT
}

constexpr std::size_t slot_count = 28;
static_assert(sizeof(hoist_device_ops_t) == offsetof(hoist_device_ops_t, count) + slot_count * sizeof(void*),
              "a slot was added: list it in for_each_slot");

// Level 1 ends with access_end; a later level may only append.
constexpr std::size_t level_1_size = offsetof(hoist_device_ops_t, access_end) + sizeof(void*);

void check_name(const char* name) {
  const std::string_view given = name == nullptr ? "" : name;
  const bool good = !given.empty() && given.size() <= 32 && std::all_of(given.begin(), given.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!good) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("device table: name is '", given, "'"),
         "use up to 32 lower-case letters, digits and underscores");
  }
}

void check_size(const hoist_device_ops_t& given) {
  if (given.struct_size < level_1_size) {
    fail(HOIST_ERROR_INVALID_ARGUMENT,
         text("device table: struct_size is ", given.struct_size, ", cut short of the ", level_1_size,
              " bytes of level 1"),
         "set struct_size to sizeof(hoist_device_ops_t)");
  }
  if (given.abi_version < 1 || given.abi_version > HOIST_DEVICE_ABI_VERSION) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("device table: abi_version is ", given.abi_version),
         text("this library serves levels 1 to ", HOIST_DEVICE_ABI_VERSION));
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(&given);
  for (std::size_t i = sizeof(hoist_device_ops_t); i < given.struct_size; ++i) {
    if (bytes[i] == 0) continue;
    fail(HOIST_ERROR_INVALID_ARGUMENT,
         text("device table: byte ", i, " is set, but this library knows the first ", sizeof(hoist_device_ops_t),
              " only"),
         "the table comes from the future: offer the level that the library asks for");
  }
}

}  // namespace

hoist_device_ops_t checked_table(const hoist_device_ops_t& given) {
  check_size(given);
  hoist_device_ops_t table{};
  std::memcpy(&table, &given, std::min(given.struct_size, sizeof table));
  table.struct_size = sizeof table;
  check_name(table.name);
  if (table.reserved != 0) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("device table ", table.name, ": reserved is ", table.reserved),
         "zero-initialise the table");
  }
  for_each_slot([&table](const char* name, auto slot, bool need) {
    if (table.*slot != nullptr) return;
    if (need) {
      fail(HOIST_ERROR_INVALID_ARGUMENT, text("device table ", table.name, ": required slot ", name, " is NULL"),
           "fill it in; see hoist/device_ops.h");
    }
    table.*slot = &Stub<std::remove_reference_t<decltype(table.*slot)>>::call;
  });
  return table;
}

}  // namespace hoist
