// SPDX-License-Identifier: Apache-2.0
#include "trace/chrome_trace.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/error.hpp"

namespace hoist {
namespace {

constexpr std::size_t block_bytes = 1 << 16;

// Whole nanoseconds: neighbours that touch in time touch in the file, whatever rounding did to the doubles.
std::int64_t to_ns(double us) {
  if (!std::isfinite(us)) fail(HOIST_ERROR_INVALID_ARGUMENT, text("a trace interval has the time ", us, " us"));
  return std::llround(us * 1000.0);
}

// to_chars, unlike printf, never asks the locale for its decimal point.
template <typename Number>
void append_number(std::string& out, Number number) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number);
  out.append(digits, end.ptr);
}

void append_us(std::string& out, std::int64_t ns) {
  if (ns < 0) out += '-';
  const auto size = static_cast<std::uint64_t>(std::abs(ns));
  append_number(out, size / 1000);
  const std::string rest = std::to_string(size % 1000);
  out.append(".").append(3 - rest.size(), '0').append(rest);
}

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

[[noreturn]] void fail_io(const std::string& path, const char* what) {
  const int code = errno;
  fail(HOIST_ERROR_IO, text("cannot ", what, " the trace file \"", path, "\": ", std::strerror(code)),
       "name a file in a folder that can be written, with room on its disk");
}

}  // namespace

ChromeTrace::ChromeTrace(std::string_view process) : process_(intern(process)) {}

ChromeTrace::Text ChromeTrace::intern(std::string_view value) {
  const auto [found, added] = ids_.try_emplace(std::string(value), static_cast<Text>(texts_.size()));
  if (added) {  // names come from users: bytes that are not UTF-8 become U+FFFD
    texts_.push_back(nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  return found->second;
}

void ChromeTrace::row(int id, std::string_view name) {
  const auto place = std::lower_bound(rows_.begin(), rows_.end(), id,
                                      [](const auto& known, int wanted) { return known.first < wanted; });
  if (place != rows_.end() && place->first == id) {
    place->second = intern(name);
  } else {
    rows_.insert(place, {id, intern(name)});
  }
}

void ChromeTrace::interval(int row, std::string_view name, double begin_us, double end_us,
                           std::initializer_list<Arg> args) {
  const std::int64_t begin = to_ns(begin_us);
  const std::int64_t end = to_ns(end_us);
  if (end < begin) fail(HOIST_ERROR_INVALID_ARGUMENT, text("the trace interval \"", name, "\" ends before it begins"));
  intervals_.push_back({begin, end, row, intern(name), static_cast<std::uint32_t>(args_.size()),
                        static_cast<std::uint32_t>(args.size())});
  for (const Arg& arg : args) {
    Stored stored{intern(arg.key), std::uint64_t{0}};
    if (const auto* number = std::get_if<std::uint64_t>(&arg.value)) stored.value = *number;
    if (const auto* real = std::get_if<double>(&arg.value)) stored.value = *real;
    if (const auto* words = std::get_if<std::string_view>(&arg.value)) stored.value = intern(*words);
    args_.push_back(stored);
  }
}

void ChromeTrace::note(std::string_view key, std::string_view value) {
  notes_.emplace_back(intern(key), intern(value));
}

void ChromeTrace::head(std::string& out) const {
  out += "{\"displayTimeUnit\":\"ms\",\"otherData\":{";
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    if (i != 0) out += ',';
    out.append(texts_[notes_[i].first]).append(":").append(texts_[notes_[i].second]);
  }
  out += "},\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":";
  out.append(texts_[process_]).append("}}");
  for (const auto& [id, name] : rows_) {
    const std::string meta = text(",\n{\"ph\":\"M\",\"pid\":1,\"tid\":", id, ",\"name\":\"thread_");
    out.append(meta).append("name\",\"args\":{\"name\":").append(texts_[name]).append("}}");
    out.append(meta).append("sort_index\",\"args\":{\"sort_index\":").append(std::to_string(id)).append("}}");
  }
}

void ChromeTrace::append(std::string& out, const Interval& interval) const {
  out += ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":";
  append_number(out, interval.row);
  out += ",\"ts\":";
  append_us(out, interval.begin_ns);
  out += ",\"dur\":";
  append_us(out, interval.end_ns - interval.begin_ns);
  out.append(",\"name\":").append(texts_[interval.name]).append(",\"args\":{");
  for (std::uint32_t i = 0; i < interval.arg_count; ++i) {
    const Stored& arg = args_[interval.first_arg + i];
    if (i != 0) out += ',';
    out.append(texts_[arg.key]).append(":");
    if (const auto* number = std::get_if<std::uint64_t>(&arg.value)) append_number(out, *number);
    if (const auto* words = std::get_if<Text>(&arg.value)) out += texts_[*words];
    if (const auto* real = std::get_if<double>(&arg.value)) {
      if (std::isfinite(*real)) append_number(out, *real);
      if (!std::isfinite(*real)) out += "null";  // JSON has no word for it
    }
  }
  out += "}}";
}

void ChromeTrace::emit(const Sink& sink) const {
  std::string block;
  head(block);
  for (const Interval& interval : intervals_) {
    append(block, interval);
    if (block.size() < block_bytes) continue;
    sink(block);
    block.clear();
  }
  block += "\n]}\n";
  sink(block);
}

std::string ChromeTrace::json() const {
  std::string out;
  emit([&](std::string_view block) { out += block; });
  return out;
}

void ChromeTrace::write(const std::string& path) const {
  // A pipe or a device is written into, and must not be replaced by a file.
  std::error_code ignored;  // what cannot be looked at cannot be created, which says why
  const bool replace = !std::filesystem::exists(path, ignored) || std::filesystem::is_regular_file(path, ignored);
  const std::string part = replace ? path + ".part" : path;
  std::unique_ptr<std::FILE, Close> file(std::fopen(part.c_str(), "wb"));
  if (!file) fail_io(path, "create");
  try {
    emit([&](std::string_view block) {
      if (std::fwrite(block.data(), 1, block.size(), file.get()) != block.size()) fail_io(path, "write");
    });
    if (std::fclose(file.release()) != 0) fail_io(path, "write");
    if (replace && std::rename(part.c_str(), path.c_str()) != 0) fail_io(path, "replace");
  } catch (...) {
    file.reset();
    if (replace) std::remove(part.c_str());
    throw;
  }
}

}  // namespace hoist
