// SPDX-License-Identifier: Apache-2.0
#include "device/stubs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/error.hpp"
#include "device/services.hpp"
#include "device/slots.hpp"

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

// Visits (name, member, since, need) of every slot.
template <typename Visitor>
constexpr void for_each_slot(Visitor&& visit) {
#define HOIST_SLOT(slot, since, need) visit(#slot, &hoist_device_ops_t::slot, since, need);
  HOIST_DEVICE_SLOTS(HOIST_SLOT)
#undef HOIST_SLOT
}

constexpr std::size_t count_slots() {
  std::size_t count = 0;
  for_each_slot([&count](const char*, auto, auto, auto) { ++count; });
  return count;
}
static_assert(sizeof(hoist_device_ops_t) == offsetof(hoist_device_ops_t, count) + count_slots() * sizeof(void*),
              "a slot was added: list it in slots.hpp");

// A level ends with its last slot; a later one only appends.
std::size_t size_of_level(std::uint32_t level) {
  std::size_t slots = 0;
  for_each_slot([&](const char*, auto, std::uint32_t since, std::uint64_t) { slots += since <= level ? 1 : 0; });
  return offsetof(hoist_device_ops_t, count) + slots * sizeof(void*);
}

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
  if (given.abi_version < 1 || given.abi_version > HOIST_DEVICE_ABI_VERSION) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("device table: abi_version is ", given.abi_version),
         text("this library serves levels 1 to ", HOIST_DEVICE_ABI_VERSION));
  }
  const std::size_t least = size_of_level(given.abi_version);
  if (given.struct_size < least) {
    fail(HOIST_ERROR_INVALID_ARGUMENT,
         text("device table: struct_size is ", given.struct_size, ", cut short of the ", least, " bytes of level ",
              given.abi_version),
         "set struct_size to sizeof(hoist_device_ops_t)");
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
  for_each_slot([&](const char* name, auto slot, std::uint32_t since, std::uint64_t need) {
    if (table.*slot != nullptr || need != slot_required || since > table.abi_version) return;
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("device table ", table.name, ": required slot ", name, " is NULL"),
         "fill it in; see hoist/device_ops.h");
  });
  return table;
}

hoist_device_ops_t over_stubs(const hoist_device_ops_t& checked) {
  hoist_device_ops_t table = checked;
  for_each_slot([&](const char*, auto slot, std::uint32_t, std::uint64_t) {
    if (table.*slot == nullptr) table.*slot = &Stub<std::remove_reference_t<decltype(table.*slot)>>::call;
  });
  return table;
}

void check_capabilities(const hoist_device_ops_t& checked, const std::string& name, std::uint64_t capabilities) {
  for_each_slot([&](const char* slot_name, auto slot, std::uint32_t, std::uint64_t need) {
    if (checked.*slot != nullptr || (need & capabilities) == 0) return;
    fail(HOIST_ERROR_DEVICE, text(name, ": capability ", need, " is claimed, but slot ", slot_name, " is NULL"),
         "fill the slot in, or leave the bit of hoist_capability_t out; see hoist/device_ops.h");
  });
}

}  // namespace hoist
