// SPDX-License-Identifier: Apache-2.0
#include "backends/host/options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include "backends/common/error.hpp"

namespace hoist_backend::host {
namespace {

[[noreturn]] void bad(std::string_view key, std::string_view value, const std::string& would_do) {
  fail(HOIST_ERROR_INVALID_ARGUMENT, text("option ", key, " is '", value, "'"), would_do);
}

std::uint64_t parse_count(std::string_view key, std::string_view value) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) bad(key, value, "give a whole number");
  return number;
}

Mode parse_mode(std::string_view value) {
  for (Mode mode : {Mode::inline_, Mode::threaded, Mode::guarded, Mode::virtual_}) {
    if (value == mode_name(mode)) return mode;
  }
  bad("mode", value, "give inline, threaded, guarded or virtual");
}

bool parse_real(std::string_view value) {
  if (value == "real") return true;
  if (value == "none") return false;
  bad("bytes", value, "give real or none");
}

// "remap+graph": as a device that cannot.
std::uint64_t parse_lacks(std::string_view value) {
  constexpr std::pair<std::string_view, std::uint64_t> known[] = {
      {"remap", HOIST_CAPABILITY_REMAP}, {"words", HOIST_CAPABILITY_WORDS}, {"graph", HOIST_CAPABILITY_GRAPH}};
  std::uint64_t lacks = 0;
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find('+', begin), value.size());
    const std::string_view name = value.substr(begin, end - begin);
    const auto* found = std::find_if(std::begin(known), std::end(known), [&](auto& it) { return it.first == name; });
    if (found == std::end(known)) bad("lacks", value, "give remap, words, graph, or several with + between");
    lacks |= found->second;
    begin = end + 1;
  }
  return lacks;
}

// 0 has a meaning of its own; smaller numbers than `least` would vanish in sums of times.
double parse_zero_or(std::string_view key, std::string_view value, double least, double most) {
  const double number = parse_number(key, value, 0, most);
  if (number != 0 && number < least) bad(key, value, text("give 0, or a number from ", least, " to ", most));
  return number;
}

double parse_rate(std::string_view key, std::string_view value) { return 1e3 * parse_zero_or(key, value, 1e-6, 1e6); }

struct Known {
  std::string_view key;
  void (*apply)(Options& options, std::string_view key, std::string_view value);
};

constexpr Known known_options[] = {
    {"mode", [](Options& o, std::string_view, std::string_view v) { o.mode = parse_mode(v); }},
    {"memory", [](Options& o, std::string_view k, std::string_view v) { o.memory_bytes = parse_bytes(k, v); }},
    {"h2d_gbps", [](Options& o, std::string_view k, std::string_view v) { o.h2d_bytes_per_us = parse_rate(k, v); }},
    {"d2h_gbps", [](Options& o, std::string_view k, std::string_view v) { o.d2h_bytes_per_us = parse_rate(k, v); }},
    {"latency_us",
     [](Options& o, std::string_view k, std::string_view v) { o.latency_us = parse_zero_or(k, v, 1e-3, 1e9); }},
    {"duplex_factor",
     [](Options& o, std::string_view k, std::string_view v) { o.duplex_factor = parse_number(k, v, 0.01, 1); }},
    {"alignment", [](Options& o, std::string_view k, std::string_view v) { o.alignment = parse_bytes(k, v); }},
    {"bytes", [](Options& o, std::string_view, std::string_view v) { o.move_bytes = parse_real(v); }},
    {"copy_delay_us",
     [](Options& o, std::string_view k, std::string_view v) { o.copy_delay_us = parse_number(k, v, 0, 1e6); }},
    {"lacks", [](Options& o, std::string_view, std::string_view v) { o.lacks = parse_lacks(v); }},
    {"seed", [](Options& o, std::string_view k, std::string_view v) { o.seed = parse_count(k, v); }},
};

void apply(Options& options, std::string_view key, std::string_view value) {
  std::vector<std::string_view> keys;
  for (const Known& known : known_options) {
    if (known.key == key) return known.apply(options, key, value);
    keys.push_back(known.key);
  }
  fail(HOIST_ERROR_INVALID_ARGUMENT, text("option '", key, "' is unknown"), nearest_hint(key, keys));
}

void check(const Options& options) {
  constexpr std::uint64_t page = 4096;
  const std::uint64_t a = options.alignment;
  if (a == 0 || (a & (a - 1)) != 0 || a > (std::uint64_t{1} << 30)) {
    bad("alignment", std::to_string(a), "give a power of two up to 1GiB");
  }
  if (options.mode == Mode::guarded && a % page != 0) {
    bad("alignment", std::to_string(a), "guarded mode protects pages: give a multiple of 4096");
  }
  if (options.memory_bytes == 0 || options.memory_bytes > (std::uint64_t{1} << 43)) {
    bad("memory", std::to_string(options.memory_bytes), "give 1 byte to 8TiB");
  }
}

}  // namespace

const char* mode_name(Mode mode) noexcept {
  constexpr const char* names[] = {"inline", "threaded", "guarded", "virtual"};
  return names[static_cast<int>(mode)];
}

std::uint64_t parse_bytes(std::string_view key, std::string_view value) {
  constexpr std::pair<std::string_view, int> suffixes[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};
  constexpr const char* would_do = "give bytes, such as 1000000 or 512MiB";
  int shift = 0;
  std::string_view digits = value;
  for (const auto& [suffix, bits] : suffixes) {
    if (value.size() > suffix.size() && value.substr(value.size() - suffix.size()) == suffix) {
      digits.remove_suffix(suffix.size());
      shift = bits;
    }
  }
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) bad(key, value, would_do);
  if (number > (~std::uint64_t{0} >> shift)) bad(key, value, would_do);
  return number << shift;
}

double parse_number(std::string_view key, std::string_view value, double least, double most) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool whole = error == std::errc() && end == value.data() + value.size();
  if (!whole || !(number >= least && number <= most)) bad(key, value, text("give a number from ", least, " to ", most));
  return number;
}

Options parse_options(std::string_view given) {
  Options options;
  bool aligned = false;
  while (!given.empty()) {
    const std::string_view option = given.substr(0, given.find('&'));
    given.remove_prefix(std::min(given.size(), option.size() + 1));
    const std::size_t equals = std::min(option.find('='), option.size());
    const std::string_view value = equals == option.size() ? std::string_view() : option.substr(equals + 1);
    apply(options, option.substr(0, equals), value);
    aligned = aligned || option.substr(0, equals) == "alignment";
  }
  if (!aligned && options.mode == Mode::guarded) options.alignment = 4096;
  check(options);
  return options;
}

}  // namespace hoist_backend::host
