// SPDX-License-Identifier: Apache-2.0
// Structs that cross the ABI: sized, append-only, zero means default. And fields by name, one table a struct.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/parse.hpp"
#include "hoist/status.h"

namespace hoist::capi {

template <typename T>
T& required(T* pointer, const char* parameter) {
  if (pointer == nullptr) fail(HOIST_ERROR_INVALID_ARGUMENT, text(parameter, " is NULL"), "give a valid pointer");
  return *pointer;
}

inline void check_struct_size(std::size_t size, std::size_t least, const char* parameter) {
  if (size >= least && size <= (std::size_t{1} << 20)) return;
  fail(HOIST_ERROR_INVALID_ARGUMENT, text(parameter, "->struct_size is ", size),
       text("set it to the struct's sizeof, or use its _INIT; this library's has at least ", least, " bytes"));
}

// Bytes that a newer caller set and this library does not know would be ignored silently.
inline void check_tail(const void* given, std::size_t size, std::size_t known, const char* parameter) {
  const auto* bytes = static_cast<const unsigned char*>(given);
  for (std::size_t i = known; i < size; ++i) {
    if (bytes[i] == 0) continue;
    fail(HOIST_ERROR_INVALID_ARGUMENT,
         text(parameter, ": byte ", i, " is set, but this library knows the first ", known, " bytes only"),
         "leave fields of newer versions zero, or load a newer library");
  }
}

// A copy at this library's size; NULL gives all defaults where it is allowed.
template <typename S>
S read_struct(const S* given, const char* parameter) {
  check_struct_size(required(given, parameter).struct_size, sizeof(std::size_t), parameter);
  S known{};
  check_tail(given, given->struct_size, sizeof(S), parameter);
  std::memcpy(&known, given, std::min(given->struct_size, sizeof(S)));
  known.struct_size = sizeof(S);
  return known;
}

template <typename S>
S read_options(const S* given, const char* parameter) {
  if (given != nullptr) return read_struct(given, parameter);
  S defaults{};
  defaults.struct_size = sizeof(S);
  return defaults;
}

// Before the work, so that a call which fails has done nothing.
template <typename S>
S& check_out(S* out, const char* parameter, std::size_t least = sizeof(std::size_t)) {
  check_struct_size(required(out, parameter).struct_size, least, parameter);
  return *out;
}

// Writes what the caller has room for; what it knows and this library does not reads as zero.
template <typename S>
void write_struct(S& out, const S& full) {
  const std::size_t size = out.struct_size;
  constexpr std::size_t first = sizeof(std::size_t);
  auto* target = reinterpret_cast<unsigned char*>(&out);
  const auto* source = reinterpret_cast<const unsigned char*>(&full);
  if (size == sizeof(S)) {  // of a size that the compiler knows: moves, no call
    std::memcpy(target + first, source + first, sizeof(S) - first);
    return;
  }
  const std::size_t known = std::min(size, sizeof(S));
  std::memcpy(target + first, source + first, known - first);
  std::memset(target + known, 0, size - known);
}

// As write_struct, with `fill` to set every field but the size. Where the caller's struct is of this library's size it
// is set there: to copy what has just been written, in other pieces than it was, waits for each write.
template <typename S, typename Fill>
void fill_struct(S& out, const Fill& fill) {
  if (out.struct_size == sizeof(S)) return fill(out);
  S full{};
  fill(full);
  write_struct(out, full);
}

// A field by name, for hoist_*_options_set and HOIST_<KEY>.
template <typename S>
struct Field {
  std::string_view key;
  void (*set)(S& options, std::string_view what, std::string_view value);
  bool (*is_default)(const S& options);  // the environment may set it
};

template <typename S>
void set_option(S& options, std::span<const Field<S>> fields, std::string_view key, std::string_view value) {
  std::vector<std::string_view> keys;
  for (const Field<S>& field : fields) {
    if (field.key == key) return field.set(options, text("option ", key), value);
    keys.push_back(field.key);
  }
  fail(HOIST_ERROR_INVALID_ARGUMENT, text("option '", key, "' is unknown"), nearest_hint(key, keys));
}

// What the call has not set comes from the environment; unknown names there are refused.
template <typename S>
void apply_environment(S& options, std::span<const Field<S>> fields) {
  check_environment();
  const S given = options;
  for (const Field<S>& field : fields) {
    const auto value = environment(field.key);
    if (!value || !field.is_default(given)) continue;
    field.set(options, text("environment variable ", environment_name(field.key)), *value);
  }
}

}  // namespace hoist::capi
