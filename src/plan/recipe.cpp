// SPDX-License-Identifier: Apache-2.0
#include "plan/recipe.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "plan/launch.hpp"
#include "plan/sizes.hpp"
#include "plan/stores.hpp"

namespace hoist::plan {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr std::uint8_t weight_kinds = 10;

auto as_tuple(const Recipe& r) {
  return std::make_tuple(r.stream, r.reserve, r.weight, r.loose, r.pressure, r.peer, r.store, r.narrow, r.timed,
                         r.leads, r.late, r.quiet, r.quiet_share, r.place.order, r.place.best_fit, r.place.tail,
                         r.place.echo, r.place.split, r.place.grow, r.place.by_offset);
}

}  // namespace

bool operator<(const Recipe& a, const Recipe& b) { return as_tuple(a) < as_tuple(b); }

Cook::Cook(Workshop& workshop, double bound_us)
    : workshop_(workshop), model_(workshop.model), equalizer_(workshop.model), bound_us_(bound_us) {
  pressure_.assign(1, {});
  stalls_.assign(1, {});
  step_us_ = model_.compute_us;
  const auto& items = model_.problem.items;
  const bool peers = std::any_of(items.begin(), items.end(), [](const Item& it) { return it.link == LinkId::peer; });
  peers_ = peers && std::any_of(items.begin(), items.end(), [](const Item& it) { return it.link == LinkId::h2d; });
  stores_ = model_.problem.cyclic && std::any_of(items.begin(), items.end(), is_written);
  Recipe bare;
  bare.weight = 0;
  bare.reserve = 0;
  const std::optional<Draft> draft = choose_draft(bare);
  if (!draft) return;
  for (std::uint32_t g = 0; g < model_.gaps.size(); ++g) {
    if (draft->evicted[g] == 0 || !model_.gaps[g].loads) continue;
    const auto size = static_cast<double>(model_.size[model_.gaps[g].item]);
    stream_bytes_ += size / model_.units;
    largest_ = std::max(largest_, size);
  }
  // By bytes all may fit, and yet places may not: then reserves are shares of the arena.
  if (stream_bytes_ <= 0) stream_bytes_ = 0.02 * static_cast<double>(model_.arena);
  step_us_ = std::max(step_us_, copies_us(model_, *draft));
}

// Small problems are worth all tries. Of large ones a plan costs much, and their many copies have latencies that the
// bound leaves out but step_us_ has: the more has been tried, the less is worth trying on.
bool Cook::is_good() const {
  if (!is_large()) return workshop_.best_us() <= bound_us_ * (1 + 1e-6);
  const double work = static_cast<double>(tries_) * static_cast<double>(model_.gaps.size() + model_.units);
  return workshop_.best_us() <= std::max(bound_us_, step_us_) * (1 + 1e-6 + 0.02 * std::min(1.0, work / 50'000));
}

// A share of 1 on average: equal, by own compute, by that of the unit before (its loads come then), or by the mean
// of the neighbours' (the middle of what a full link allows); mixed with equal shares of the stall; or capped.
std::vector<double> Cook::weights(std::uint8_t kind) const {
  std::vector<double> weight(model_.units, 1);
  const double mean = model_.compute_us / model_.units;
  if (kind == 0 || mean <= 0) return weight;
  const double part = kind <= 3 ? model_.compute_us / step_us_ : 1;
  const std::uint32_t where = (kind - 1U) % 3;
  for (std::uint32_t u = 0; u < model_.units; ++u) {
    const auto compute = [&](std::int64_t unit) { return model_.problem.units[model_.wrap(unit)].compute_us / mean; };
    const double own = compute(u);
    const double before = compute(std::int64_t{u} - 1);
    const double around = (before + compute(std::int64_t{u} + 1)) / 2;
    const double share = where == 0 ? own : where == 1 ? before : around;
    weight[u] = std::max(0.01, 1 - part + part * (kind >= 7 ? std::min(share, 1.5) : share));
  }
  return weight;
}

std::uint64_t Cook::cap_of(const Recipe& recipe) const {
  const double reserve = recipe.reserve * stream_bytes_;
  return reserve >= static_cast<double>(model_.arena) ? 0 : model_.arena - static_cast<std::uint64_t>(reserve);
}

std::optional<Draft> Cook::choose_draft(const Recipe& recipe) {
  const std::uint64_t cap = cap_of(recipe);
  if (cap == 0 && model_.arena > 0) return std::nullopt;
  Draft draft = keep_everything(model_);
  const std::vector<double> weight = weights(recipe.weight);
  const bool alone = recipe.stream != Stream::greedy && equalizer_.covers_all();
  if (!alone &&
      !choose(model_, {cap, weight, pressure_[recipe.pressure], recipe.peer, recipe.store, recipe.narrow}, draft))
    return std::nullopt;
  if (recipe.stream == Stream::greedy) return draft;
  const EqualizeOptions options{cap, weight, recipe.stream == Stream::carry, recipe.loose};
  if (!equalizer_.run(options, draft) && alone) return std::nullopt;
  return draft;
}

void Cook::set_late(const Recipe& recipe, std::uint64_t cap, Draft& draft) const {
  if (recipe.quiet > 0) {
    const auto share = static_cast<std::uint64_t>(recipe.quiet_share * static_cast<double>(model_.arena));
    quiet_stores(model_, draft, std::min(cap, share), stalls_[recipe.quiet]);
  }
  if (recipe.late == 0) return;
  for (const Stay& stay : stays_of(model_, draft)) {
    if (stay.out == none || stay.written < 0 || model_.gaps[stay.out].outside) continue;
    if (draft.late[stay.out] > 0 || draft.pause[stay.out] > 0 || model_.gaps[stay.out].between == 0) continue;
    draft.late[stay.out] = std::min<std::uint32_t>(recipe.late, model_.gaps[stay.out].between - 1);
  }
}

// Leads far beyond what a schedule asks for only take bytes.
std::vector<std::uint32_t> Cook::most_leads(const Recipe& recipe, const Draft& draft) const {
  std::vector<std::uint32_t> most = needed_leads(model_, draft, std::max(step_us_, copies_us(model_, draft)));
  if (recipe.leads == Leads::needed) return most;
  for (std::uint32_t g = 0; g < most.size(); ++g) {
    if (recipe.leads == Leads::peers_needed && model_.link(model_.gaps[g]) == LinkId::peer) {
      ++most[g];
    } else {
      most[g] = model_.problem.cyclic ? 2 * most[g] + 8 : model_.units;
    }
  }
  return most;
}

double Cook::taste(const Recipe& recipe) {
  Recipe what = recipe;
  if (what.timed) {  // places, and when stores begin, follow from the times
    what.place = {};
    what.late = what.quiet = 0;
    what.quiet_share = 1;
  }
  const auto known = tasted_.find(what);
  if (known != tasted_.end()) return known->second;
  double& time = tasted_[what];
  time = never;
  ++tries_;
  std::optional<Draft> draft = choose_draft(recipe);
  if (!draft) return time;
  set_late(recipe, cap_of(recipe), *draft);
  const std::vector<std::uint32_t> most = most_leads(recipe, *draft);
  if (recipe.timed) return time = workshop_.try_timed(*draft, most).value_or(never);
  grow(model_, *draft, model_.arena, most);
  time = workshop_.try_draft(std::move(*draft), most, recipe.place).value_or(never);
  return time;
}

template <typename Set, typename Values>
bool Cook::vary(Recipe& recipe, double& time, Set set, const Values& values) {
  const Recipe from = recipe;
  bool better = false;
  for (const auto value : values) {
    if (tries_ >= most_tries_ || is_good()) break;
    Recipe other = from;
    set(other, value);
    const double its = taste(other);
    if (its >= time) continue;
    time = its;
    recipe = other;
    its_stalls_ = workshop_.last_stalls();
    better = true;
  }
  return better;
}

// Stores slow the loads beside them: those that can wait keep out of where units stall.
bool Cook::quieten(Recipe& recipe, double& time) {
  bool better = false;
  for (int round = 0; round < 3 && stalls_.size() < 250 && !its_stalls_.empty(); ++round) {
    stalls_.push_back(its_stalls_);
    Recipe quiet = recipe;
    quiet.quiet = static_cast<std::uint8_t>(stalls_.size() - 1);
    double its = time;
    const auto set = [](Recipe& r, double v) { r.quiet_share = v; };
    const bool found = is_large() ? vary(quiet, its, set, std::array{0.95, 0.9, 0.8})
                                  : vary(quiet, its, set, std::array{1.0, 0.95, 0.9, 0.8, 0.65});
    if (!found) break;
    time = its;
    recipe = quiet;
    better = true;
  }
  return better;
}

// Where a unit stalls, its loads and those shortly before it are too many: next time they are dearer.
bool Cook::press(Recipe& recipe, double& time) {
  bool better = false;
  Recipe next = recipe;
  pressure_.resize(recipe.pressure + 1U);
  for (int round = 0; round < 8; ++round) {
    if (tries_ >= most_tries_ || is_good() || workshop_.last_stalls().empty()) break;
    std::vector<double> pressure = pressure_[next.pressure];
    if (pressure.empty()) pressure.assign(model_.units, 1);
    const std::vector<double>& stalls = workshop_.last_stalls();
    double wave = 0;
    const double mean = std::max(step_us_ / model_.units, 1e-9);
    for (std::uint32_t k = 2 * model_.units; k-- > 0;) {
      const std::uint32_t unit = k % model_.units;
      wave = wave * 0.7 + stalls[unit] / mean;
      if (k < model_.units) pressure[unit] *= 1 + 0.3 * std::min(wave, 3.0);
    }
    pressure_.push_back(std::move(pressure));
    next.pressure = static_cast<std::uint8_t>(pressure_.size() - 1);
    const double its = taste(next);
    if (its < time) {
      time = its;
      recipe = next;
      its_stalls_ = workshop_.last_stalls();
      better = true;
    } else if (is_large() && round > 0) {
      break;
    }
  }
  return better;
}

// Links work beside each other: time of the one that has less to do is cheap.
bool Cook::balance(Recipe& recipe, double& time) {
  bool better = false;
  if (peers_) {
    better = vary(
        recipe, time, [](Recipe& r, double v) { r.peer = v; }, std::array{4.0, 16.0, 64.0, 0.25});
  }
  if (stores_) {
    const auto set = [](Recipe& r, double v) { r.store = v; };
    better |= is_large() ? vary(recipe, time, set, std::array{0.5})
                         : vary(recipe, time, set, std::array{0.5, 0.25, 2.0, 5.0, 12.0});
  }
  return better;
}

// Steps of about what a unit streams; where the reserve is far more, because stays are long, parts of it.
std::vector<double> Cook::next_reserves(double at) {
  if (at > 8) return {at * 0.75, at * 1.3, at * 0.9, at * 1.1};
  std::vector<double> reserves = {at + 0.5,  at + 0.25, at + 1,    at * 1.5, at * 0.75,
                                  at * 0.95, at * 0.9,  at * 0.85, at * 1.06};
  for (const double less : {0.5, 0.25, 1.0}) {
    if (at >= less) reserves.push_back(at - less);
  }
  return reserves;
}

// What leaves.
bool Cook::improve_choice(Recipe& recipe, double& time) {
  constexpr std::array orders = {PlaceOrder::time, PlaceOrder::size, PlaceOrder::area, PlaceOrder::length};
  std::vector<std::uint8_t> kinds(weight_kinds);
  std::iota(kinds.begin(), kinds.end(), std::uint8_t{0});
  if (is_large() && !equalizer_.covers_all()) kinds = {0, 1, 3, 6};
  bool better = vary(
      recipe, time, [](Recipe& r, double v) { r.reserve = v; }, next_reserves(recipe.reserve));
  if (stores_) better |= quieten(recipe, time);
  better |= vary(
      recipe, time, [](Recipe& r, PlaceOrder v) { r.place.order = v; }, orders);
  better |= vary(
      recipe, time, [](Recipe& r, std::uint8_t v) { r.weight = v; }, kinds);
  if (recipe.stream == Stream::carry) {
    better |= vary(
        recipe, time, [](Recipe& r, double v) { r.loose = v; }, std::array{0.0, 0.1, 0.25, 0.5, 0.8, 1.5, 2.5});
  }
  if (recipe.stream != Stream::greedy) return better;
  if (!is_large()) {
    better |= vary(
        recipe, time, [](Recipe& r, bool v) { r.narrow = v; }, std::array{false, true});
  }
  better |= balance(recipe, time);
  better |= press(recipe, time);
  return better;
}

// Where it lies.
bool Cook::improve_places(Recipe& recipe, double& time) {
  constexpr std::array either = {false, true};
  bool better = vary(
      recipe, time, [](Recipe& r, bool v) { r.place.grow = v; }, either);
  better |= vary(
      recipe, time, [](Recipe& r, std::uint32_t v) { r.place.tail = v; }, std::array{0U, 1U, 2U});
  if (stores_) {
    better |= vary(
        recipe, time, [](Recipe& r, bool v) { r.place.echo = v; }, either);
    better |= vary(
        recipe, time, [](Recipe& r, bool v) { r.place.split = v; }, either);
  }
  better |= vary(
      recipe, time, [](Recipe& r, bool v) { r.place.best_fit = v; }, either);
  better |= vary(
      recipe, time, [](Recipe& r, bool v) { r.place.by_offset = v; }, either);
  return better;
}

bool Cook::improve(Recipe& recipe, double& time) {
  std::vector<Leads> leads = {Leads::early, Leads::needed};
  if (peers_) leads.push_back(Leads::peers_needed);
  bool better = improve_choice(recipe, time);
  better |= improve_places(recipe, time);
  if (model_.problem.cyclic && !is_large()) {
    better |= vary(
        recipe, time, [](Recipe& r, bool v) { r.timed = v; }, std::array{false, true});
  }
  better |= vary(
      recipe, time, [](Recipe& r, Leads v) { r.leads = v; }, leads);
  better |= vary(
      recipe, time, [](Recipe& r, int v) { r.late = static_cast<std::uint8_t>(v); }, std::array{0, 1, 2});
  better |= vary(
      recipe, time, [](Recipe& r, Stream v) { r.stream = v; },
      std::array{Stream::greedy, Stream::above, Stream::carry});
  return better;
}

// Reserves to begin with, in mean streams: about one for loads ahead, room for one or two of the largest items, and
// shares of the arena for what fragmentation takes where stays are long.
std::vector<double> Cook::first_reserves() const {
  std::vector<double> reserves = {1};
  if (stream_bytes_ > 0) reserves.push_back(1.001 * largest_ / stream_bytes_);
  reserves.insert(reserves.end(), {2.5, 0.25});
  if (stream_bytes_ > 0) reserves.push_back(2.002 * largest_ / stream_bytes_);
  if (equalizer_.covers_all() || stream_bytes_ <= 0) return reserves;
  for (const double share : {0.015, 0.03, 0.06, 0.1, 0.16, 0.25}) {
    reserves.push_back(share * static_cast<double>(model_.arena) / stream_bytes_);
  }
  return reserves;
}

// Where tries are few: shares of the arena, from the middle down or up while plans get faster.
void Cook::climb(Recipe& recipe, double& time) {
  constexpr std::array shares = {0.004, 0.0075, 0.015, 0.03, 0.06, 0.1, 0.16, 0.25, 0.4};
  constexpr std::size_t middle = 3;
  const auto try_share = [&](std::size_t i) {
    const double reserve = shares[i] * static_cast<double>(model_.arena) / std::max(stream_bytes_, 1.0);
    return vary(
        recipe, time, [](Recipe& r, double v) { r.reserve = v; }, std::array{reserve});
  };
  const bool fits = try_share(middle);
  std::size_t down = middle;
  while (fits && down > 0 && try_share(down - 1)) --down;
  if (down < middle) return;
  for (std::size_t up = middle + 1; up < shares.size(); ++up) {
    if (!try_share(up) && time < never) break;
  }
}

// Fewer, larger copies have less latency, and want more bytes kept for loads ahead: another start.
void Cook::descend_lean(const Recipe& from) {
  Recipe best = from;
  double time = never;
  for (const double loose : {0.5, 1.5, 2.5}) {
    vary(
        best, time,
        [&](Recipe& r, double v) {
          r.reserve = v;
          r.loose = loose;
        },
        std::array{1.5, 2.0, 3.0, 4.5});
  }
  if (time > 1.05 * workshop_.best_us()) return;
  while (improve(best, time)) {
  }
}

std::vector<Cook::Start> Cook::starts(std::uint64_t tries) const {
  // Where equal streams cover everything, the greedy choice adds little and costs the most. Where tries are few, all of
  // them go to one recipe: to the greedy one, whose stores find the most room to wait.
  if (is_large()) return {{equalizer_.covers_all() ? Stream::carry : Stream::greedy}};
  std::vector<Start> starts = {{Stream::carry}, {Stream::greedy}, {Stream::above}};
  if (tries < 500) return starts;
  if (!equalizer_.covers_all()) starts.push_back({Stream::greedy, true});
  if (model_.problem.cyclic) starts.push_back({Stream::greedy, false, true});
  return starts;
}

void Cook::descend(std::uint64_t most_tries) {
  const std::vector<Start> all = starts(most_tries);
  for (std::size_t i = 0; i < all.size(); ++i) {
    most_tries_ = most_tries * (i + 1) / all.size();  // none starves the others
    Recipe best;
    best.stream = all[i].stream;
    best.narrow = all[i].narrow;
    best.timed = all[i].timed;
    best.place.order = PlaceOrder::time;
    best.place.grow = true;
    best.place.retries = is_large() ? 4 : 12;
    double time = never;
    if (is_large() && !equalizer_.covers_all()) {
      climb(best, time);
    } else {
      vary(
          best, time, [](Recipe& r, double v) { r.reserve = v; }, first_reserves());
    }
    if (time == never) continue;
    while (improve(best, time)) {
    }
    if (all[i].stream == Stream::carry && !is_large() && equalizer_.covers_all()) descend_lean(best);
  }
}

}  // namespace hoist::plan
