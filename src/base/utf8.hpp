// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace hoist {

// Well-formed UTF-8, no overlong forms and no surrogates: names go into JSON and into digests.
bool is_utf8(std::string_view text) noexcept;

}  // namespace hoist
