// SPDX-License-Identifier: Apache-2.0
#include "device/name.hpp"

#include <charconv>
#include <string_view>

#include "base/error.hpp"

namespace hoist {
namespace {

[[noreturn]] void bad(const std::string& name, const std::string& why) {
  fail(HOIST_ERROR_INVALID_ARGUMENT, text("device name '", name, "': ", why),
       "give kind:index, then options: host:0?mode=virtual&h2d_gbps=55");
}

// "./libnpu.so", "libnpu.so:1".
bool is_plugin(std::string_view path) {
  constexpr std::string_view suffix = ".so";
  const std::size_t at = path.rfind(suffix);
  const bool is_library =
      at != std::string_view::npos && (at + suffix.size() == path.size() || path[at + suffix.size()] == '.');
  return is_library || path.find('/') != std::string_view::npos;
}

[[noreturn]] void refuse_plugin(const std::string& name, std::string_view path) {
  fail(HOIST_ERROR_INVALID_ARGUMENT, text("device name '", name, "' is a path; a plugin's device is named kind:index"),
       text("load the plugin, by HOIST_DEVICE_PLUGINS=", path.find('/') == std::string_view::npos ? "./" : "", path,
            " in the environment for one; hoist info then lists its devices"));
}

void parse_option(DeviceName& result, std::string_view option) {
  const std::size_t equals = option.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    bad(result.full, text("option '", option, "' is not key=value"));
  }
  const std::string key(option.substr(0, equals));
  if (!result.options.emplace(key, option.substr(equals + 1)).second) {
    bad(result.full, text("option '", key, "' is given twice"));
  }
}

void parse_options(DeviceName& result) {
  std::string_view rest = result.option_text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('&');
    parse_option(result, rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
}

}  // namespace

DeviceName parse_device_name(const std::string& name) {
  DeviceName result;
  result.full = name;
  const std::size_t question = name.find('?');
  const std::string base = name.substr(0, question);
  if (question != std::string::npos) result.option_text = name.substr(question + 1);
  const std::string_view before = std::string_view(base).substr(0, base.rfind(':'));
  if (is_plugin(before)) refuse_plugin(name, before);
  const std::size_t colon = base.find(':');
  if (colon == std::string::npos || colon == 0) bad(name, "there is no index");
  result.kind = base.substr(0, colon);
  const char* end = base.data() + base.size();
  const auto [rest, error] = std::from_chars(base.data() + colon + 1, end, result.index);
  if (error != std::errc() || rest != end) bad(name, text("'", base.substr(colon + 1), "' is no index"));
  result.base = text(result.kind, ":", result.index);
  parse_options(result);
  return result;
}

}  // namespace hoist
