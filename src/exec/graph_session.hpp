// SPDX-License-Identifier: Apache-2.0
// The steps of a budget that were captured: who feeds their replays, and where the present capture stands.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "exec/graph_program.hpp"
#include "exec/graph_runner.hpp"

namespace hoist {

struct GraphSession {
  GraphSession(std::shared_ptr<Device> device, std::shared_ptr<const GraphProgram> program_)
      : program(std::move(program_)),
        runner(std::make_shared<GraphRunner>(std::move(device), static_cast<std::uint32_t>(program->order.size()))) {}

  std::shared_ptr<const GraphProgram> program;
  std::shared_ptr<GraphRunner> runner;  // a launch on another thread may look at it
  std::uint64_t captures = 0;
  std::uint64_t counted = 0;  // replays that the budget has counted
  bool paused = true;

  // The capture that is under way.
  bool capturing = false;
  void* capture_stream = nullptr;
  std::uint32_t position = 0;  // the next unit
  bool unit_open = false;
};

}  // namespace hoist
