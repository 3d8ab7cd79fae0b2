// SPDX-License-Identifier: Apache-2.0
#include "plan/json.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "base/json_fault.hpp"

namespace hoist::plan {
namespace {

// Before anything else: a later version has fields of its own.
void check_version(const Json& document, std::string_view what) {
  if (!document.is_object() || !document.contains("version")) return;
  const Json& version = document.at("version");
  if (version.is_number_unsigned() && version == 1) return;
  fail(HOIST_ERROR_CORRUPT, text(what, ".version is ", shown(version), "; this library reads version 1"),
       version.is_number_unsigned() && version > 1 ? "a newer hoist wrote it: read it with that one" : "write 1");
}

}  // namespace

Json parse_json(std::string_view text, std::string_view what) {
  std::vector<std::set<std::string>> open;
  std::string repeated;
  const auto watch = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(value.get<std::string>()).second) {
      repeated = value.get<std::string>();
    }
    return true;
  };
  try {
    Json json = Json::parse(text.begin(), text.end(), watch);
    if (!repeated.empty()) {
      fail(HOIST_ERROR_CORRUPT, hoist::text(what, ": the key \"", repeated, "\" stands twice in one object"));
    }
    check_version(json, what);
    return json;
  } catch (const Json::exception&) {
    fail(HOIST_ERROR_CORRUPT, hoist::text(what, " is not JSON: ", json_fault(text)));
  }
}

std::string shown(const Json& value) {
  std::string out = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (out.size() > 60) out = out.substr(0, 57) + "...";
  return out;
}

std::string Where::words() const {
  std::string out = parent != nullptr ? text(parent->words(), ".", name) : name;
  if (index != SIZE_MAX) out += text("[", index, "]");
  const bool has_name = named != nullptr && named->is_object() && named->contains("name");
  if (has_name && named->at("name").is_string()) out += text(" ", shown(named->at("name")));
  return out;
}

Fields::Fields(const Json& json, Where where) : json_(json), where_(where) {
  if (!json_.is_object())
    fail(HOIST_ERROR_CORRUPT, text(where_.words(), " is ", shown(json_), "; an object is wanted"));
}

std::string Fields::path(std::string_view name) const { return text(where_.words(), ".", name); }

void Fields::refuse(const char* name, const std::string& wanted) const {
  fail(HOIST_ERROR_CORRUPT, text(path(name), " is ", shown(json_.at(name)), "; wanted: ", wanted));
}

void Fields::only(std::initializer_list<std::string_view> names) const {
  for (const auto& [key, value] : json_.items()) {
    if (std::find(names.begin(), names.end(), key) != names.end()) continue;
    std::string known;
    for (const std::string_view name : names) known += text(known.empty() ? "" : ", ", name);
    fail(HOIST_ERROR_CORRUPT, text(path(key), " is not a known field; its value is ", shown(value)),
         text("known fields of ", where_.words(), ": ", known));
  }
}

const Json& Fields::any(const char* name) const {
  const auto found = json_.find(name);
  if (found == json_.end()) fail(HOIST_ERROR_CORRUPT, text(path(name), " is missing"));
  return *found;
}

std::uint64_t Fields::bytes(const char* name) const {
  const Json& value = any(name);
  if (!value.is_number_unsigned()) refuse(name, "a whole number of bytes, not negative");
  return value.get<std::uint64_t>();
}

std::uint64_t Fields::bytes(const char* name, std::uint64_t absent) const { return has(name) ? bytes(name) : absent; }

std::int32_t Fields::index(const char* name, std::int32_t least, std::size_t end) const {
  const Json& value = any(name);
  const bool is_above = value.is_number_unsigned() && value.get<std::uint64_t>() >= end;
  const bool is_below = !value.is_number_unsigned() && value.is_number_integer() && value.get<std::int64_t>() < least;
  if (!value.is_number_integer() || is_above || is_below) {
    refuse(name, text("a whole number from ", least, " to ", static_cast<std::int64_t>(end) - 1));
  }
  return static_cast<std::int32_t>(value.get<std::int64_t>());
}

double Fields::number(const char* name) const {
  const Json& value = any(name);
  if (!value.is_number() || !std::isfinite(value.get<double>())) refuse(name, "a finite number");
  return value.get<double>();
}

double Fields::number(const char* name, double absent) const { return has(name) ? number(name) : absent; }

bool Fields::boolean(const char* name, bool absent) const {
  if (!has(name)) return absent;
  if (!json_.at(name).is_boolean()) refuse(name, "true or false");
  return json_.at(name).get<bool>();
}

const std::string& Fields::string(const char* name) const {
  const Json& value = any(name);
  if (!value.is_string()) refuse(name, "a string");
  return value.get_ref<const std::string&>();
}

const Json& Fields::array(const char* name) const {
  const Json& value = any(name);
  if (!value.is_array()) refuse(name, "an array");
  return value;
}

const Json& Fields::object(const char* name) const {
  const Json& value = any(name);
  if (!value.is_object()) refuse(name, "an object");
  return value;
}

}  // namespace hoist::plan
