// SPDX-License-Identifier: Apache-2.0
// From one program to another, between steps.
#include <algorithm>
#include <utility>

#include "exec/executor.hpp"

namespace hoist {
namespace {

constexpr std::size_t copy_ring_limit = 4096;

}  // namespace

void Executor::reserve(const Program& program) {
  const std::size_t steps = options_.run_ahead_steps + 2;
  const std::size_t units = program.positions.size() * steps + 16;
  const std::size_t loads = std::min(program.loads * steps * 2 + 64, copy_ring_limit);
  const std::size_t stores = std::min(program.stores * steps * 2 + 64, copy_ring_limit);
  Lane& compute = residency_.lane(LaneId::compute);
  Lane& h2d = residency_.lane(LaneId::h2d);
  Lane& d2h = residency_.lane(LaneId::d2h);
  if (units <= compute.capacity() && loads <= h2d.capacity() && stores <= d2h.capacity()) return;
  residency_.wait_all();
  unit_clock_.collect(true);
  residency_.collect_copies();
  unit_clock_.reserve(units);
  compute.reserve(units);
  h2d.reserve(loads);
  d2h.reserve(stores);
  if (residency_.copies().on()) residency_.copies().reserve(h2d, d2h);
}

// With fixed places: in memory of its own, before and after.
bool Executor::stays(const Program& program, std::uint32_t item, const Place& next) const {
  if (!next.set) return false;
  if (program.keeps.empty()) return residency_.items()[item].place.same(next);
  return program_ && program_->keeps[item] && program.keeps[item];
}

// What is in its place in the next program stays; with another arena nothing does.
void Executor::clear_for(const Program& program, bool arena_changes) {
  auto& items = residency_.items();
  std::vector<Place> next(items.size());
  for (const ResidentItem& resident : program.initial) next[resident.item] = resident.place;
  for (std::uint32_t item = 0; item < items.size(); ++item) {
    if (!items[item].place.set || (!arena_changes && stays(program, item, next[item]))) continue;
    if (program_) deviates(item);
    residency_.drop(item, Reason::initial);
  }
}

void Executor::swap(std::shared_ptr<const Program> program, std::shared_ptr<DeviceArena> arena, void* stream,
                    const std::function<void()>& remap) {
  const std::size_t count = residency_.items().size();
  planned_.resize(count);
  is_deviant_.resize(count, false);
  deviants_.reserve(count);
  sequence_.reserve(program->positions.size() * 2 + 16);
  born_.reserve(count);
  try {
    residency_.switch_stream(stream);
    clear_for(*program, arena != nullptr);
    reserve(*program);
    unit_clock_.make_room();
    residency_.meet();
    if (arena || remap) residency_.wait_all();
    residency_.make_cuts(program->cuts.size());
    if (remap) remap();
  } catch (...) {
    if (program_ && residency_.has_arena()) reconcile(Reason::restore);
    throw;
  }
  if (arena) residency_.set_arena(std::move(arena));
  adopt(std::move(program));
}

void Executor::adopt(std::shared_ptr<const Program> program) {
  program_ = std::move(program);
  residency_.cut(program_->cuts);
  auto& items = residency_.items();
  std::fill(planned_.begin(), planned_.end(), Place{});
  for (std::uint32_t item : deviants_) is_deviant_[item] = false;
  deviants_.clear();
  for (const ResidentItem& resident : program_->initial) {
    planned_[resident.item] = resident.place;
    if (items[resident.item].place.set) {
      residency_.keep(resident.item, resident.place);
    } else {
      deviates(resident.item);
    }
  }
  step_clock_.interrupt();
  unit_clock_.interrupt();
  time_next();
  reconcile(Reason::initial);
}

void Executor::evacuate() {
  auto& items = residency_.items();
  try {
    for (std::uint32_t item = 0; item < items.size(); ++item) {
      if (!items[item].place.set) continue;
      deviates(item);
      residency_.drop(item, Reason::drain);
    }
    residency_.wait_all();
    unit_clock_.collect(true);
  } catch (...) {
    reconcile(Reason::restore);
    throw;
  }
  residency_.set_arena(nullptr);
}

void Executor::resume(std::shared_ptr<DeviceArena> arena) {
  residency_.set_arena(std::move(arena));
  adopt(program_);
}

void Executor::update(std::uint32_t item, const void* src) {
  if (residency_.update(item, src)) return;
  ++counters_.refused_ops;
  deviates(item);
}

bool Executor::settle_down() {
  if (!deviants_.empty()) reconcile(Reason::restore);
  residency_.wait_all();
  return deviants_.empty();
}

void Executor::count_replays(std::uint64_t steps, const std::vector<std::uint32_t>& written) {
  if (steps == 0) return;
  counters_.steps += steps;
  for (std::uint32_t item : written) residency_.written(item);
}

}  // namespace hoist
