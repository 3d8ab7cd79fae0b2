// SPDX-License-Identifier: Apache-2.0
// A timeline as Chrome trace JSON, which Perfetto and chrome://tracing open: named rows of intervals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace hoist {

// Names are kept once and intervals in 32 bytes each (24 more an argument), so that a million of them are
// cheap to hold; text is made while writing, a block at a time. Intervals of one row must not overlap
// unless one holds the other: viewers draw them as a stack.
class ChromeTrace {
 public:
  struct Arg {
    std::string_view key;
    std::variant<std::uint64_t, double, std::string_view> value;
  };

  explicit ChromeTrace(std::string_view process = "hoist");

  // Rows are shown in the order of their ids. Naming a row again renames it.
  void row(int id, std::string_view name);
  void interval(int row, std::string_view name, double begin_us, double end_us, std::initializer_list<Arg> args = {});
  // Shown at the head of the file under "otherData": what was dropped, which version wrote it.
  void note(std::string_view key, std::string_view value);
  [[nodiscard]] std::size_t size() const noexcept { return intervals_.size(); }

  [[nodiscard]] std::string json() const;
  // Replaces a file whole or not at all; writes into a pipe. Throws Error(IO) that names the path and the reason.
  void write(const std::string& path) const;

 private:
  using Sink = std::function<void(std::string_view)>;
  using Text = std::uint32_t;  // index into texts_
  struct Stored {
    Text key;
    std::variant<std::uint64_t, double, Text> value;
  };
  struct Interval {
    std::int64_t begin_ns;
    std::int64_t end_ns;
    int row;
    Text name;
    std::uint32_t first_arg;
    std::uint32_t arg_count;
  };

  Text intern(std::string_view text);
  void head(std::string& out) const;
  void append(std::string& out, const Interval& interval) const;
  void emit(const Sink& sink) const;

  std::unordered_map<std::string, Text> ids_;
  std::vector<std::string> texts_;  // JSON literals, quotes included
  Text process_;
  std::vector<std::pair<int, Text>> rows_;
  std::vector<std::pair<Text, Text>> notes_;
  std::vector<Stored> args_;
  std::vector<Interval> intervals_;
};

}  // namespace hoist
