// SPDX-License-Identifier: Apache-2.0
// Reading JSON strictly, with errors that name the field and the value, and writing it canonically.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace hoist::plan {

using Json = nlohmann::json;

// Parses a document of version 1; refuses keys that repeat, which most parsers let pass.
Json parse_json(std::string_view text, std::string_view what);

// Where an object stands in its document: a field of another or an element of a list. Words only for errors:
// `items[3] "w".uses[0]`. The parts must outlive it.
struct Where {
  const char* name = "";
  const Where* parent = nullptr;
  std::size_t index = SIZE_MAX;  // SIZE_MAX: not an element
  const Json* named = nullptr;   // an object whose "name" tells people more

  [[nodiscard]] std::string words() const;
};

// An object of a document.
class Fields {
 public:
  Fields(const Json& json, Where where);

  // Refuses a field that is not listed.
  void only(std::initializer_list<std::string_view> names) const;
  [[nodiscard]] bool has(const char* name) const { return json_.contains(name); }
  [[nodiscard]] std::uint64_t bytes(const char* name) const;
  [[nodiscard]] std::uint64_t bytes(const char* name, std::uint64_t absent) const;
  [[nodiscard]] std::int32_t index(const char* name, std::int32_t least, std::size_t end) const;
  [[nodiscard]] double number(const char* name) const;
  [[nodiscard]] double number(const char* name, double absent) const;
  [[nodiscard]] bool boolean(const char* name, bool absent) const;
  [[nodiscard]] const std::string& string(const char* name) const;
  [[nodiscard]] const Json& array(const char* name) const;
  [[nodiscard]] const Json& object(const char* name) const;
  [[nodiscard]] const Json& any(const char* name) const;
  [[nodiscard]] const Where& where() const { return where_; }
  [[nodiscard]] std::string path(std::string_view name) const;
  [[noreturn]] void refuse(const char* name, const std::string& wanted) const;

 private:
  const Json& json_;
  Where where_;
};

// A value for an error message, cut to a readable length.
std::string shown(const Json& value);

inline void append_string(std::string& out, std::string_view value) {
  constexpr std::string_view digits = "0123456789abcdef";
  out.push_back('"');
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (byte < 0x20) {
      out.append("\\u00");
      out.push_back(digits[byte >> 4]);
      out.push_back(digits[byte & 15]);
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

inline void append_number(std::string& out, std::uint64_t value) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

inline void append_number(std::string& out, std::int64_t value) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

// The shortest digits that read back as the same double, always with a point or an exponent.
inline void append_number(std::string& out, double value) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  const std::string_view digits(buffer, static_cast<std::size_t>(end - buffer));
  out.append(digits);
  if (digits.find_first_of(".en") == std::string_view::npos) out.append(".0");
}

}  // namespace hoist::plan
