// SPDX-License-Identifier: Apache-2.0
// From choices to plans that have been simulated; the best one is kept.
#pragma once

#include <chrono>
#include <limits>
#include <optional>

#include "plan/choose.hpp"
#include "plan/model.hpp"
#include "plan/place.hpp"
#include "plan/planner.hpp"

namespace hoist::plan {

class Workshop {
 public:
  Workshop(const Model& model, const SolveOptions& options);

  // Places, emits and simulates; keeps the plan where it beats the best. Leads may grow to `most`. The step's time,
  // or nothing where it could not be placed.
  std::optional<double> try_draft(Draft draft, const std::vector<std::uint32_t>& most, const PlaceOptions& options);
  // The same in the order of time, with ever more bytes kept free until places are found: see timeline.hpp.
  std::optional<double> try_timed(const Draft& draft, const std::vector<std::uint32_t>& most);
  // What a draft's step takes there, by bytes alone.
  [[nodiscard]] std::optional<double> time_of(Draft draft, const std::vector<std::uint32_t>& most) const;
  double try_placed(Draft draft, const PlaceOptions& options);  // its places are set
  double try_plan(Plan plan);

  [[nodiscard]] bool has_best() const { return best_us_ < std::numeric_limits<double>::infinity(); }
  [[nodiscard]] double best_us() const { return best_us_; }
  [[nodiscard]] const Draft& best_draft() const { return best_draft_; }
  [[nodiscard]] const PlaceOptions& best_options() const { return best_options_; }
  [[nodiscard]] bool best_is_draft() const { return !best_draft_.evicted.empty(); }
  [[nodiscard]] const std::vector<double>& last_stalls() const { return last_stalls_; }
  void allow_packing() { packing_ = 200'000'000; }  // anew: so many pairs of stays
  Plan take_best() { return std::move(best_plan_); }

  // Throws Error(ABORTED) past the time limit, the only thing that a clock decides.
  void check_time() const;

  const Model& model;

 private:
  [[nodiscard]] std::uint64_t cap_of(std::size_t nth) const;

  const SolveOptions& options_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double best_us_ = std::numeric_limits<double>::infinity();
  Plan best_plan_;
  std::vector<double> last_stalls_;  // by unit, of the draft that was tried last
  Draft best_draft_;
  PlaceOptions best_options_;
  std::size_t packed_ = 0;     // which share of the arena was packed last
  std::uint64_t packing_ = 0;  // work that is left for packing
};

}  // namespace hoist::plan
