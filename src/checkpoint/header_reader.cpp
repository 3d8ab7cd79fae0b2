// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/header_reader.hpp"

#include "base/error.hpp"
#include "hoist/checkpoint.h"

namespace hoist {

using nlohmann::json;

std::vector<HeaderTensor> HeaderReader::read(std::string_view text) {
  json_ = taken_ = text.data();
  json::sax_parse(CountingIterator(text.data(), &taken_), CountingIterator(text.data() + text.size(), &taken_), this);
  return std::move(tensors_);
}

std::uint64_t HeaderReader::position() const {
  const std::uint64_t taken = static_cast<std::uint64_t>(taken_ - json_);
  return extent_.json_begin + (taken == 0 ? 0 : taken - 1);
}

void HeaderReader::complain(const std::string& what, const std::string& hint) const {
  corrupt({path_, tensor_ ? std::string_view(tensor_->name) : std::string_view(), position()}, what, hint);
}

void HeaderReader::unexpected(const std::string& value) const {
  switch (place_) {
    case Place::outside:
      complain(text("the header is ", value, ", not an object"));
    case Place::top:
      complain(text("the entry ", quote_name(last_key_), " is ", value, ", not an object"));
    case Place::metadata:
      complain(text("__metadata__ has ", value, " for ", quote_name(last_key_), ", not a string"));
    case Place::tensor:
      complain(text("its ", quote_name(last_key_), " is ", value),
               "dtype is a string; shape an array of whole numbers; data_offsets an array of two");
    case Place::shape:
      complain(text("its shape holds ", value, ", not a whole number below 2^64"));
    default:
      complain(text("its data_offsets hold ", value, ", not a whole number below 2^64"));
  }
}

bool HeaderReader::null() { unexpected("null"); }
bool HeaderReader::boolean(bool value) { unexpected(value ? "true" : "false"); }
bool HeaderReader::number_integer(number_integer_t value) { unexpected(std::to_string(value)); }
bool HeaderReader::number_float(number_float_t, const string_t& source) { unexpected(source.substr(0, 40)); }
bool HeaderReader::binary(binary_t&) { unexpected("binary"); }

bool HeaderReader::number_unsigned(number_unsigned_t value) {
  if (place_ == Place::shape) {
    if (tensor_->shape.size() == HOIST_CHECKPOINT_RANK_MAX) {
      complain(text("its shape has more than ", HOIST_CHECKPOINT_RANK_MAX, " dimensions"));
    }
    tensor_->shape.push_back(value);
  } else if (place_ == Place::offsets) {
    if (offsets_.size() == 2) complain("its data_offsets hold more than two numbers");
    offsets_.push_back(value);
  } else {
    unexpected(std::to_string(value));
  }
  return true;
}

bool HeaderReader::string(string_t& value) {
  if (place_ == Place::metadata) return true;
  if (place_ != Place::tensor || field_ != Field::dtype) unexpected(text("the string ", quote_name(value)));
  set_dtype(value);
  return true;
}

void HeaderReader::set_dtype(const std::string& name) {
  tensor_->dtype = find_dtype(name);
  if (tensor_->dtype == nullptr) complain(text("unknown dtype ", quote_name(name)), text("known are ", dtype_names()));
}

bool HeaderReader::start_object(std::size_t) {
  if (place_ == Place::outside) {
    place_ = Place::top;
  } else if (place_ == Place::top && last_key_ == "__metadata__") {
    place_ = Place::metadata;
  } else if (place_ == Place::top) {
    begin_tensor();
  } else {
    unexpected("an object");
  }
  return true;
}

void HeaderReader::begin_tensor() {
  tensor_.emplace();
  tensor_->name = last_key_;
  offsets_.clear();
  field_ = Field::none;
  has_shape_ = has_offsets_ = false;
  place_ = Place::tensor;
}

bool HeaderReader::key(string_t& name) {
  last_key_ = name;
  if (place_ == Place::tensor) {
    begin_field(name);
  } else if (place_ == Place::metadata) {
    if (!metadata_keys_.insert(name).second) complain(text("__metadata__ has ", quote_name(name), " twice"));
  } else {
    if (name.find('\0') != std::string::npos) complain("a tensor's name holds a zero character");
    if (!names_.insert(name).second) complain(text("the name ", quote_name(name), " comes twice"));
  }
  return true;
}

void HeaderReader::begin_field(const std::string& name) {
  const bool dtype = name == "dtype";
  const bool shape = name == "shape";
  if (!dtype && !shape && name != "data_offsets") {
    complain(text("unknown field ", quote_name(name)), "a tensor has dtype, shape and data_offsets");
  }
  const bool repeated = dtype ? tensor_->dtype != nullptr : shape ? has_shape_ : has_offsets_;
  if (repeated) complain(text("its ", name, " comes twice"));
  field_ = dtype ? Field::dtype : shape ? Field::shape : Field::offsets;
}

bool HeaderReader::start_array(std::size_t) {
  if (place_ != Place::tensor || field_ == Field::none || field_ == Field::dtype) unexpected("an array");
  place_ = field_ == Field::shape ? Place::shape : Place::offsets;
  return true;
}

bool HeaderReader::end_array() {
  if (place_ == Place::shape) {
    has_shape_ = true;
  } else {
    if (offsets_.size() != 2) complain("its data_offsets hold fewer than two numbers");
    has_offsets_ = true;
  }
  place_ = Place::tensor;
  field_ = Field::none;
  return true;
}

bool HeaderReader::end_object() {
  if (place_ == Place::tensor) end_tensor();
  place_ = place_ == Place::top ? Place::outside : Place::top;
  return true;
}

void HeaderReader::end_tensor() {
  if (tensor_->dtype == nullptr) complain("it has no dtype", text("known are ", dtype_names()));
  if (!has_shape_) complain("it has no shape");
  if (!has_offsets_) complain("it has no data_offsets");
  place_bytes();
  tensors_.push_back(std::move(*tensor_));
  tensor_.reset();
}

void HeaderReader::place_bytes() {
  const std::uint64_t begin = offsets_[0];
  const std::uint64_t end = offsets_[1];
  if (end < begin) complain(text("its data_offsets end (", end, ") before they begin (", begin, ")"));
  const std::uint64_t room = extent_.file_size - extent_.data_begin;
  if (end > room) {
    complain(text("its data_offsets end at ", end, ", but the file holds ", room, " bytes of tensors"),
             "the file is truncated or its header lies; fetch or write it again");
  }
  const std::uint64_t bytes = bytes_by_shape();
  if (bytes != end - begin) {
    complain(text(tensor_->dtype->name, " in its shape is ", bytes, " bytes, but its data_offsets [", begin, ", ", end,
                  "] are ", end - begin));
  }
  tensor_->offset = extent_.data_begin + begin;
  tensor_->bytes = bytes;
}

std::uint64_t HeaderReader::bytes_by_shape() const {
  std::uint64_t bits = tensor_->dtype->bits;
  for (const std::uint64_t extent : tensor_->shape) {
    if (__builtin_mul_overflow(bits, extent, &bits)) complain("its shape has more than 2^64 bits");
  }
  if (bits % 8 != 0) complain(text(tensor_->dtype->name, " in its shape is ", bits, " bits, not whole bytes"));
  return bits / 8;
}

bool HeaderReader::parse_error(std::size_t, const std::string&, const json::exception& error) {
  complain(text("the header is not valid JSON: ", json_reason(error)));
}

}  // namespace hoist
