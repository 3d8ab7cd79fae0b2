// SPDX-License-Identifier: Apache-2.0
#include "base/json_fault.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.hpp"

namespace hoist {
namespace {

using nlohmann::json;

constexpr std::string_view blanks = " \t\r\n";
constexpr std::string_view delimiters = " \t\r\n,:[]{}\"";
constexpr std::size_t bytes_shown = 24;

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// Follows the document to its fault.
class Follower : public json::json_sax_t {
 public:
  explicit Follower(std::string_view document) : document_(document) {}
  [[nodiscard]] const std::string& fault() const { return fault_; }

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(json::number_integer_t) override { return value(); }
  bool number_unsigned(json::number_unsigned_t) override { return value(); }
  bool number_float(json::number_float_t, const std::string&) override { return value(); }
  bool string(std::string&) override { return value(); }
  bool binary(json::binary_t&) override { return value(); }
  bool start_object(std::size_t) override { return open('{'); }
  bool start_array(std::size_t) override { return open('['); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string&) override { return is_key_ = true; }
  bool parse_error(std::size_t position, const std::string&, const json::exception& error) override;

 private:
  bool value() {
    is_key_ = false;
    is_first_ = false;
    return true;
  }
  bool open(char bracket) {
    is_key_ = false;
    is_first_ = true;
    open_.push_back(bracket);
    return true;
  }
  bool close() {
    open_.pop_back();
    return value();
  }
  [[nodiscard]] std::size_t word_begin(std::size_t end) const;
  [[nodiscard]] std::string word(std::size_t begin) const;
  [[nodiscard]] std::string expected(std::size_t begin) const;
  [[nodiscard]] std::string place(std::size_t at) const;

  std::string_view document_;
  std::string open_;      // brackets that stand open
  bool is_key_ = false;   // a key was the last that was read
  bool is_first_ = true;  // nothing has been read yet in what stands open
  std::string fault_;
};

// Of the word that was read last, which ends there.
std::size_t Follower::word_begin(std::size_t end) const {
  if (end == 0) return 0;
  std::size_t begin = end - 1;
  if (document_[begin] == '"' && begin > 0) {
    const std::size_t quote = document_.rfind('"', begin - 1);
    return quote == std::string_view::npos ? begin : quote;
  }
  if (delimiters.find(document_[begin]) != std::string_view::npos) return begin;
  while (begin > 0 && delimiters.find(document_[begin - 1]) == std::string_view::npos) --begin;
  return begin;
}

std::string Follower::word(std::size_t begin) const {
  std::size_t end = std::min(document_.find_first_of(delimiters, begin + 1), document_.size());
  if (document_[begin] == '"') end = std::min(document_.find('"', begin + 1), document_.size() - 1) + 1;
  std::string shown(document_.substr(begin, std::min(end - begin, bytes_shown)));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20U || static_cast<unsigned char>(c) >= 0x7FU) c = '?';
  }
  return text('\'', shown, end - begin > bytes_shown ? "...'" : "'");
}

// What would do in place of the word that begins there.
std::string Follower::expected(std::size_t begin) const {
  const std::size_t before = begin == 0 ? std::string_view::npos : document_.find_last_not_of(blanks, begin - 1);
  const char last = before == std::string_view::npos ? '\0' : document_[before];
  if (open_.empty()) return is_first_ ? "a value" : "the end";
  const bool in_object = open_.back() == '{';
  if (is_key_) return last == ':' ? "a value" : "a colon";
  if (is_first_) return in_object ? "a key in quotes or }" : "a value or ]";
  if (last == ',') return in_object ? "a key in quotes" : "a value";
  return in_object ? "a comma or }" : "a comma or ]";
}

std::string Follower::place(std::size_t at) const {
  const std::string_view before = document_.substr(0, at);
  const std::size_t line_end = before.rfind('\n');
  const std::string_view line = line_end == std::string_view::npos ? before : before.substr(line_end + 1);
  const auto column =
      line.size() - static_cast<std::size_t>(std::count_if(line.begin(), line.end(), continues_character));
  return text("line ", std::count(before.begin(), before.end(), '\n') + 1, ", column ", column + 1, ": ");
}

bool Follower::parse_error(std::size_t position, const std::string&, const json::exception& error) {
  const std::string said = error.what();
  const std::size_t end = std::min(position, document_.size());
  constexpr std::string_view in_string = "invalid string: ";
  if (said.find("unexpected end of input") != std::string::npos) {
    fault_ = text(place(document_.size()), "the text ends where ", expected(document_.size()), " is expected");
  } else if (const std::size_t at = said.find(in_string); at != std::string::npos) {
    const std::size_t why = at + in_string.size();
    fault_ = text(place(end == 0 ? 0 : end - 1), "in a string, ", said.substr(why, said.find("; last read") - why));
  } else {
    const std::size_t begin = word_begin(end);
    const bool is_range = dynamic_cast<const json::out_of_range*>(&error) != nullptr;
    fault_ = text(place(begin), word(begin),
                  is_range ? std::string(" is beyond the numbers of 64 bits")
                           : text(" stands where ", expected(begin), " is expected"));
  }
  return false;
}

}  // namespace

std::string json_fault(std::string_view document) {
  Follower follower(document);
  json::sax_parse(document.begin(), document.end(), &follower);
  return follower.fault();
}

}  // namespace hoist
