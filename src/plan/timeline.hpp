// SPDX-License-Identifier: Apache-2.0
// A draft run in time, by bytes alone: a load begins as soon as its link and its bytes are free, so that leads and the
// times at which bytes come and go are found together. pack() finds places for them.
#pragma once

#include <optional>

#include "plan/model.hpp"

namespace hoist::plan {

// When a stay's bytes are taken, in µs from the first step on.
struct Span {
  double begin = 0;
  double end = 0;
};

struct Timetable {
  double step_us = 0;
  std::vector<Stay> stays;  // that come and go, with the leads that were found
  std::vector<Span> spans;  // by stay
};

// Steps that repeat, with items in at most `cap` bytes and leads of at most `most` units, which are set in the draft;
// its stores wait for nothing. Nothing where a step gets stuck.
std::optional<Timetable> run_in_time(const Model& model, Draft& draft, const std::vector<std::uint32_t>& most,
                                     std::uint64_t cap);

}  // namespace hoist::plan
