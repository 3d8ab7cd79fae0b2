// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hoist/hoist.hpp"
#include "stream_load.hpp"
#include "stream_options.hpp"
#include "stream_run.hpp"

namespace tool {

// What was wrong with the run, in one line; "" for nothing.
std::string complaint_of(const StreamResult& result);

void print_stream(const StreamOptions& options, const Model& model, const StreamResult& result,
                  const hoist::Manager& manager);
void print_stream_json(const StreamOptions& options, const Model& model, const StreamResult& result,
                       const hoist::Manager& manager);

}  // namespace tool
