// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"

#include <cstddef>

namespace hoist {

bool is_utf8(std::string_view name) noexcept {
  const auto byte = [&](std::size_t i) { return i < name.size() ? static_cast<unsigned char>(name[i]) : 0U; };
  for (std::size_t i = 0; i < name.size();) {
    const unsigned lead = byte(i);
    const std::size_t more = lead < 0x80 ? 0 : lead >= 0xc2 && lead < 0xe0 ? 1 : lead >> 4 == 0xe ? 2 : 3;
    if ((more == 3 && (lead < 0xf0 || lead > 0xf4)) || (lead == 0xe0 && byte(i + 1) < 0xa0) ||
        (lead == 0xed && byte(i + 1) > 0x9f) || (lead == 0xf0 && byte(i + 1) < 0x90) ||
        (lead == 0xf4 && byte(i + 1) > 0x8f)) {
      return false;
    }
    for (std::size_t k = 1; k <= more; ++k) {
      if (byte(i + k) >> 6 != 2) return false;
    }
    i += more + 1;
  }
  return true;
}

}  // namespace hoist
