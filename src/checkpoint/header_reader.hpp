// SPDX-License-Identifier: Apache-2.0
// Reads a header's JSON in one pass, checking each tensor as it ends: a header of 100,000 tensors
// needs no document in memory, and a key that repeats cannot hide the first.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "checkpoint/corrupt.hpp"
#include "checkpoint/header.hpp"

namespace hoist {

// Counts what the parser has taken, so that every complaint can name its byte.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** taken) : at_(at), taken_(taken) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *taken_ = ++at_;
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** taken_;
};

// Where the JSON and the tensors' bytes lie in the file.
struct HeaderExtent {
  std::uint64_t json_begin = 8;
  std::uint64_t data_begin = 0;
  std::uint64_t file_size = 0;
};

class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  HeaderReader(const std::string& path, const HeaderExtent& extent) : path_(path), extent_(extent) {}

  // In the order of the header. Throws Error(CORRUPT).
  std::vector<HeaderTensor> read(std::string_view json);

  bool null() override;
  bool boolean(bool value) override;
  bool number_integer(number_integer_t value) override;
  bool number_unsigned(number_unsigned_t value) override;
  bool number_float(number_float_t value, const string_t& source) override;
  bool string(string_t& value) override;
  bool binary(binary_t& value) override;
  bool start_object(std::size_t elements) override;
  bool key(string_t& name) override;
  bool end_object() override;
  bool start_array(std::size_t elements) override;
  bool end_array() override;
  bool parse_error(std::size_t position, const std::string& last_token,
                   const nlohmann::json::exception& error) override;

 private:
  enum class Place { outside, top, metadata, tensor, shape, offsets };
  enum class Field { none, dtype, shape, offsets };

  [[noreturn]] void complain(const std::string& what, const std::string& hint = {}) const;
  [[noreturn]] void unexpected(const std::string& value) const;
  [[nodiscard]] std::uint64_t position() const;  // of the newest character taken
  void begin_tensor();
  void begin_field(const std::string& name);
  void set_dtype(const std::string& name);
  void end_tensor();
  void place_bytes();
  [[nodiscard]] std::uint64_t bytes_by_shape() const;

  const std::string& path_;
  HeaderExtent extent_;
  const char* json_ = nullptr;
  const char* taken_ = nullptr;

  Place place_ = Place::outside;
  Field field_ = Field::none;
  std::string last_key_;
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> metadata_keys_;
  std::optional<HeaderTensor> tensor_;
  std::vector<std::uint64_t> offsets_;
  bool has_shape_ = false;
  bool has_offsets_ = false;
  std::vector<HeaderTensor> tensors_;
};

}  // namespace hoist
