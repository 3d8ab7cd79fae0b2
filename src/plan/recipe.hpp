// SPDX-License-Identifier: Apache-2.0
// Recipes: the few parameters from which a whole draft follows, and a descent over them.
#pragma once

#include <map>

#include "plan/candidates.hpp"
#include "plan/equalize.hpp"

namespace hoist::plan {

enum class Stream : std::uint8_t { greedy, above, carry };

// How far ahead loads may be: as early as possible, as a deadline schedule asks for, or that for the peer link alone.
enum class Leads : std::uint8_t { early, needed, peers_needed };

struct Recipe {
  Stream stream = Stream::carry;
  double reserve = 1;       // bytes kept for loads ahead, in what a unit streams on average
  std::uint8_t weight = 3;  // which share of link time each unit gets: see Cook::weights
  Leads leads = Leads::early;
  double loose = 0;           // as in EqualizeOptions
  std::uint8_t pressure = 0;  // rounds in which the loads of units that stalled became dearer
  double peer = 1;            // as in ChooseOptions
  double store = 1;           // as in ChooseOptions
  bool timed = false;         // leads and places in the order of time: see Workshop::try_timed
  bool narrow = false;        // as in ChooseOptions
  std::uint8_t late = 0;      // units by which stores wait
  std::uint8_t quiet = 0;     // which stalls stores keep out of: a row of Cook's `stalls_`
  double quiet_share = 1;     // of the arena, what such stores may fill
  PlaceOptions place{};

  friend bool operator<(const Recipe& a, const Recipe& b);
};

class Cook {
 public:
  Cook(Workshop& workshop, double bound_us);

  // The best recipes by coordinate descent from a few starts.
  void descend(std::uint64_t most_tries);
  [[nodiscard]] std::uint64_t tries() const { return tries_; }
  [[nodiscard]] bool is_good() const;
  [[nodiscard]] bool has_single_uses() const { return equalizer_.covers_all(); }
  [[nodiscard]] bool is_large() const { return model_.gaps.size() + model_.units >= 4000; }

 private:
  double taste(const Recipe& recipe);
  [[nodiscard]] std::vector<std::uint32_t> most_leads(const Recipe& recipe, const Draft& draft) const;
  [[nodiscard]] std::vector<double> first_reserves() const;
  [[nodiscard]] static std::vector<double> next_reserves(double at);
  void climb(Recipe& recipe, double& time);
  bool improve(Recipe& recipe, double& time);
  bool improve_choice(Recipe& recipe, double& time);
  bool improve_places(Recipe& recipe, double& time);
  struct Start {
    Stream stream = Stream::carry;
    bool narrow = false;
    bool timed = false;
  };
  [[nodiscard]] std::vector<Start> starts(std::uint64_t tries) const;
  void descend_lean(const Recipe& from);
  bool balance(Recipe& recipe, double& time);
  bool press(Recipe& recipe, double& time);
  bool quieten(Recipe& recipe, double& time);
  template <typename Set, typename Values>
  bool vary(Recipe& recipe, double& time, Set set, const Values& values);
  [[nodiscard]] std::vector<double> weights(std::uint8_t kind) const;
  std::optional<Draft> choose_draft(const Recipe& recipe);
  void set_late(const Recipe& recipe, std::uint64_t cap, Draft& draft) const;
  [[nodiscard]] std::uint64_t cap_of(const Recipe& recipe) const;

  Workshop& workshop_;
  const Model& model_;
  Equalizer equalizer_;
  double bound_us_ = 0;
  double stream_bytes_ = 0;                    // what a unit streams on average
  double largest_ = 0;                         // bytes of the largest item that is streamed
  double step_us_ = 0;                         // a first guess
  std::vector<std::vector<double>> pressure_;  // by round, then unit
  std::vector<std::vector<double>> stalls_;    // by row, then unit: of plans whose stores could wait
  std::vector<double> its_stalls_;             // by unit, of the recipe that a descent stands on
  bool stores_ = false;                        // whether any plan may store
  bool peers_ = false;                         // whether loads go over the peer link beside the host's
  std::uint64_t tries_ = 0;
  std::uint64_t most_tries_ = 0;
  std::map<Recipe, double> tasted_;
};

}  // namespace hoist::plan
