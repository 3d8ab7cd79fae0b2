// SPDX-License-Identifier: Apache-2.0
#include "base/parse.hpp"

#include <charconv>
#include <cmath>

#include "base/error.hpp"

namespace hoist {
namespace {

[[noreturn]] void bad(std::string_view what, std::string_view value, const char* would_do) {
  fail(HOIST_ERROR_INVALID_ARGUMENT, text(what, " is '", value, "'"), would_do);
}

// from_chars, not strtod: no locale, no leading blanks, no hexadecimal.
bool take_number(std::string_view& rest, double& value) {
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return false;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return true;
}

// 0 for an unknown suffix.
double bytes_of_suffix(std::string_view suffix) {
  static constexpr struct {
    std::string_view name;
    double bytes;
  } suffixes[] = {{"", 1},     {"B", 1},    {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
                  {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12}};
  for (const auto& known : suffixes) {
    if (known.name == suffix) return known.bytes;
  }
  return 0;
}

}  // namespace

std::uint64_t parse_bytes(std::string_view what, std::string_view value) {
  constexpr const char* would_do = "give bytes, such as 1000000, 512MiB or 24GiB";
  std::uint64_t whole = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), whole);
  if (error == std::errc() && end == value.data() + value.size()) return whole;  // exact beyond 2^53
  std::string_view rest = value;
  double number = 0;
  if (!take_number(rest, number) || number < 0) bad(what, value, would_do);
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  const double unit = bytes_of_suffix(rest);
  if (unit == 0 || number * unit >= 0x1p64) bad(what, value, would_do);
  return static_cast<std::uint64_t>(number * unit);
}

bool is_share(std::string_view value) { return !value.empty() && value.back() == '%'; }

double parse_share(std::string_view what, std::string_view value) {
  std::string_view rest = value;
  double number = 0;
  const bool percent = is_share(value);
  if (percent) rest.remove_suffix(1);
  const double all = percent ? 100 : 1;
  if (!take_number(rest, number) || !rest.empty() || !(number > 0) || number > all) {
    bad(what, value, "give a share above 0 and up to 100%, which keeps everything; or bytes, such as 24GiB");
  }
  return number / all;
}

std::uint64_t parse_count(std::string_view what, std::string_view value, std::uint64_t most) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number > most) {
    bad(what, value, text("give a whole number from 0 to ", most).c_str());
  }
  return number;
}

double parse_number(std::string_view what, std::string_view value) {
  std::string_view rest = value;
  double number = 0;
  if (!take_number(rest, number) || !rest.empty()) bad(what, value, "give a number, such as 2.5");
  return number;
}

bool parse_switch(std::string_view what, std::string_view value) {
  for (std::string_view on : {"1", "on", "true", "yes"}) {
    if (value == on) return true;
  }
  for (std::string_view off : {"0", "off", "false", "no"}) {
    if (value == off) return false;
  }
  bad(what, value, "give 1 or 0");
}

}  // namespace hoist
