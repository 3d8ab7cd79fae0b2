// SPDX-License-Identifier: Apache-2.0
// One step's copies as they are submitted beside a graph that was captured: which unit's end is awaited, what is copied
// then, and which unit is told that its bytes are there. Compiled from a program; doc/design/graphs.md.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "exec/program.hpp"
#include "exec/residency.hpp"

namespace hoist {

struct GraphAction {
  enum class Kind : std::uint8_t {
    await,   // the end of the unit at a position; whoever waits takes the word back
    poison,  // trust mode: what has left
    copy,    // items into their places: one, or several that are neighbours on both sides
    tell     // the unit at a position: its bytes are there
  } kind = Kind::await;
  std::uint32_t position = 0;  // await, tell
  void* device = nullptr;
  const void* host = nullptr;
  std::uint64_t bytes = 0;
};

struct GraphProgram {
  std::vector<std::uint32_t> order;  // units
  std::vector<GraphAction> step;
  std::vector<GraphAction> initial;  // copies of all that is there as a step begins and that no unit writes
  std::vector<bool> ready;           // by position: its bytes are there as a step begins
  std::vector<std::uint32_t> written;
  std::vector<Range> views;  // by position, into addresses: one for each use
  std::vector<void*> addresses;
  std::uint64_t bytes = 0;  // copied in a step
};

// Throws Error(UNSUPPORTED) for a program that stores: who brings bytes home belongs into no graph.
std::shared_ptr<const GraphProgram> compile_graph(const Program& program, const std::vector<std::vector<UnitUse>>& uses,
                                                  const Residency& residency, bool trust);

}  // namespace hoist
