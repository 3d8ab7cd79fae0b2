// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/corrupt.hpp"

#include "base/error.hpp"

namespace hoist {
namespace {

constexpr std::size_t name_bytes_shown = 200;
constexpr const char* usual_hint = "the file is damaged or not a safetensors file; fetch or write it again";

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

std::string quote_name(std::string_view name) {
  if (name.size() <= name_bytes_shown) return text('\'', name, '\'');
  std::size_t end = name_bytes_shown;
  while (end > 0 && continues_character(name[end])) --end;
  return text('\'', name.substr(0, end), "...' (", name.size(), " bytes)");
}

std::string json_reason(const std::exception& error) {
  const std::string whole = error.what();
  std::string reason = whole.substr(whole.find("] ") + 2, name_bytes_shown);
  for (char& c : reason) {
    if (static_cast<unsigned char>(c) >= 0x80U) c = '?';
  }
  return reason;
}

void corrupt(const Spot& spot, const std::string& what, const std::string& hint) {
  const std::string tensor = spot.tensor.data() == nullptr ? "" : text(", tensor ", quote_name(spot.tensor));
  fail(HOIST_ERROR_CORRUPT, text(spot.path, tensor, ", byte ", spot.offset, ": ", what),
       hint.empty() ? usual_hint : hint);
}

}  // namespace hoist
