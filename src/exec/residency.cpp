// SPDX-License-Identifier: Apache-2.0
#include "exec/residency.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"

namespace hoist {

Residency::Residency(std::shared_ptr<Device> device, PinnedArena& pinned, const ResidencyOptions& options)
    : device_(std::move(device)), pinned_(pinned), trust_(options.trust), copies_(device_) {
  const std::size_t lanes = trust_ ? lane_count : static_cast<std::size_t>(LaneId::poison);
  for (std::size_t id = 0; id < lanes; ++id) {
    lanes_[id] = std::make_unique<Lane>(device_, static_cast<LaneId>(id), options.lane_capacity);
  }
  checks_.resize(4);
  for (auto& slot : checks_) slot = std::make_unique<ResidentCheck>();  // not when it is their turn, in a step
}

Residency::~Residency() {
  copies_.stop();
  // Streams first: what was submitted runs while its memory is still there, the user's compute included.
  for (auto& lane : lanes_) {
    try {
      if (lane) lane->wait_all();
    } catch (const std::exception& error) {
      log(HOIST_LOG_ERROR, "the device failed before all work had run: ", error.what());
    }
    lane.reset();
  }
}

void Residency::set_arena(std::shared_ptr<DeviceArena> arena) { arena_ = std::move(arena); }

void Residency::make_cuts(std::size_t count) {
  cuts_.reserve(count);
  pieces_.reserve(count);
  gather_.reserve(items_.size());
  refused_.reserve(items_.size());
}

void Residency::cut(const std::vector<std::uint64_t>& cuts) {
  cuts_ = cuts;
  pieces_.assign(cuts.empty() ? 0 : cuts.size() - 1, Piece{});
  used_bytes_ = peak_bytes_ = 0;
}

void Residency::order(LaneId waiter, LaneId on, Mark mark, Wait why) {
  Mark& known = waited_[static_cast<std::size_t>(waiter)][static_cast<std::size_t>(on)];
  if (mark <= known || why == left_out_) return;
  Lane& source = lane(on);
  if (mark > source.last()) {
    if (on == LaneId::h2d) submit_loads();  // the mark is theirs, too
    source.close();
  }
  if (!source.known_reached(mark)) {
    if (waiter == LaneId::h2d) submit_loads();  // they need not wait
    device_->stream_wait_event(lane(waiter).stream(), source.event(mark));
  }
  known = mark;
  if (waiter == LaneId::compute) waits_unsealed_ = true;
}

void Residency::meet() {
  for (auto& other : lanes_) {
    if (!other || other->id() == LaneId::compute) continue;
    other->close();
    order(LaneId::compute, other->id(), other->last(), Wait::swap_barrier);
  }
  const Mark mark = lane(LaneId::compute).record();
  sealed();
  for (auto& other : lanes_) {
    if (other && other->id() != LaneId::compute) order(other->id(), LaneId::compute, mark, Wait::swap_barrier);
  }
}

void Residency::wait_all() {
  for (auto& lane : lanes_) {
    if (lane) lane->wait_all();
  }
}

void Residency::own(const Place& place, std::uint32_t owner) noexcept {
  for (std::uint32_t p = place.first_piece; p < place.last_piece; ++p) pieces_[p].owner = owner;
  const std::uint64_t bytes = cuts_[place.last_piece] - cuts_[place.first_piece];
  used_bytes_ = owner == no_index ? used_bytes_ - bytes : used_bytes_ + bytes;
  peak_bytes_ = std::max(peak_bytes_, used_bytes_);
}

std::uint32_t Residency::occupant(std::uint32_t item, const Place& place) const noexcept {
  for (std::uint32_t p = place.first_piece; p < place.last_piece; ++p) {
    if (pieces_[p].owner != no_index && pieces_[p].owner != item) return pieces_[p].owner;
  }
  return no_index;
}

Residency::Needs Residency::wait_marks(const Place& place) const noexcept {
  Needs marks;
  for (std::uint32_t p = place.first_piece; p < place.last_piece; ++p) {
    const Piece& piece = pieces_[p];
    marks.h2d = std::max(marks.h2d, piece.h2d);
    marks.d2h = std::max(marks.d2h, piece.d2h);
    marks.poison = std::max(marks.poison, piece.poison);
    marks.late_poison = std::max(marks.late_poison, piece.late_poison);
    marks.old_poison = std::max(marks.old_poison, piece.old_poison);
  }
  return marks;
}

bool Residency::load(std::uint32_t item, const Place& place, Reason reason) {
  ItemState& state = items_[item];
  if (state.place.set) return true;
  if (state.transient && !state.live) return false;
  if (state.host_version != state.version) {
    fail(HOIST_ERROR_STALE, text("tensor \"", state.name, "\": a load would bring version ", state.host_version,
                                 " where version ", state.version, " is the live one"));
  }
  if (!is_free(item, place)) {
    fail(HOIST_ERROR_INTERNAL, text("tensor \"", state.name, "\": its place at ", place.offset, " is not free"));
  }
  state.place = place;
  try {
    copy_in(item, reason);
  } catch (...) {
    state.place = Place{};
    throw;
  }
  own(place, item);
  return true;
}

void Residency::copy_in(std::uint32_t item, Reason reason) {
  ItemState& state = items_[item];
  if (state.bytes == 0) return;
  const Needs freed = wait_marks(state.place);
  Lane& h2d = lane(LaneId::h2d);
  order(LaneId::h2d, LaneId::compute, lane(LaneId::compute).last(), Wait::load_after_unit);
  order(LaneId::h2d, LaneId::d2h, freed.d2h, Wait::load_after_store);
  order(LaneId::h2d, LaneId::poison, freed.poison, Wait::load_after_poison);
  order(LaneId::h2d, LaneId::late_poison, freed.late_poison, Wait::load_after_poison);
  order(LaneId::h2d, LaneId::old_poison, freed.old_poison, Wait::load_after_poison);
  order(LaneId::h2d, LaneId::d2h, state.host_store, Wait::load_after_own_store);
  if (copies_.on()) copies_.begin(h2d);
  submit_load(item);
  const Mark mark = h2d.promise();
  state.last_load = state.arrives = mark;
  state.unread = true;
  for (std::uint32_t p = state.place.first_piece; p < state.place.last_piece; ++p) {
    pieces_[p] = Piece{mark, 0, 0, 0, 0, pieces_[p].owner};
  }
  ledger_.add(ledger_.h2d, reason, state.bytes);
  if (!copies_.on()) return;
  h2d.try_close();
  copies_.end(h2d, mark, {TraceRow::h2d, reason, item, step_, state.bytes, 0, 0});
}

void Residency::submit_load(std::uint32_t item) {
  const ItemState& state = items_[item];
  if (!joining_ && !batching_) {
    device_->copy(lane(LaneId::h2d).stream(), HOIST_COPY_H2D, address(state), state.host, state.bytes);
    return;
  }
  while (!gather_.add(item, address(state), state.host_bytes(), joining_, batching_)) submit_gathered();
}

// Each copy that is timed is one item's, and on a virtual clock each costs what the planner counts for it.
void Residency::gather_loads(bool on, bool batches) noexcept {
  if (!on) submit_loads();
  const bool may = on && !copies_.on();
  joining_ = may && !device_->has(HOIST_CAPABILITY_VIRTUAL_CLOCK);
  batching_ = may && batches && device_->has(HOIST_CAPABILITY_BATCH);
}

// The marks of what was refused stay: pieces stand for what their lane has waited for.
void Residency::submit_gathered() noexcept {
  try {
    gather_.submit(*device_, lane(LaneId::h2d).stream());
  } catch (const std::exception& error) {
    log(HOIST_LOG_WARNING, "the loads of ", gather_.items().size(), " tensors, \"", items_[gather_.items()[0]].name,
        "\" the first, were refused: ", error.what());
    for (std::uint32_t item : gather_.items()) {
      ItemState& state = items_[item];
      own(state.place, no_index);
      state.place = Place{};
      state.unread = false;
      ledger_.take_back(ledger_.h2d, Reason::plan, state.bytes);
      refused_.push_back(item);
    }
  }
  gather_.clear();
}

void Residency::find_regions(std::uint64_t alignment) {
  for (ItemState& state : items_) {
    if (state.host == nullptr || state.transient) continue;
    const PinnedArena::Region region = pinned_.region_of(state.host);
    state.region = region.begin;
    state.room = region.padding >= alignment ? round_up(state.bytes, alignment) : state.bytes;
  }
}

void Residency::birth(std::uint32_t item, const Place& place) {
  ItemState& state = items_[item];
  if (!is_free(item, place)) {
    fail(HOIST_ERROR_INTERNAL, text("tensor \"", state.name, "\": its place at ", place.offset, " is not free"));
  }
  if (state.unread) order(LaneId::compute, LaneId::h2d, state.last_load, Wait::birth_after_own_load);
  state.unread = false;
  state.arrives = 0;
  state.place = place;
  own(place, item);
}

void Residency::reserve_host(std::uint32_t item) {
  ItemState& state = items_[item];
  if (state.host != nullptr || state.bytes == 0) return;
  state.host = pinned_.allocate(state.bytes);
}

void Residency::store(std::uint32_t item, Reason reason) {
  ItemState& state = items_[item];
  if (!state.place.set || !state.dirty) return;
  if (state.bytes != 0) {
    reserve_host(item);
    Lane& d2h = lane(LaneId::d2h);
    order(LaneId::d2h, LaneId::compute, lane(LaneId::compute).last(), Wait::store_after_unit);
    if (copies_.on()) copies_.begin(d2h);
    device_->copy(d2h.stream(), HOIST_COPY_D2H, state.host, address(state), state.bytes);
    const Mark mark = d2h.promise();
    d2h.try_close();
    for (std::uint32_t p = state.place.first_piece; p < state.place.last_piece; ++p) pieces_[p].d2h = mark;
    state.host_store = mark;
    ledger_.add(ledger_.d2h, reason, state.bytes);
    if (copies_.on()) copies_.end(d2h, mark, {TraceRow::d2h, reason, item, step_, state.bytes, 0, 0});
  }
  state.dirty = false;
  state.host_version = state.version;
}

// What is dropped earlier may be stored later: behind it, poison would wait for that store too.
LaneId Residency::poison_lane(const ItemState& state, Mark store) const noexcept {
  if (!state.unread && store == 0) return LaneId::poison;
  const Mark awaited = waited_[static_cast<std::size_t>(LaneId::late_poison)][static_cast<std::size_t>(LaneId::d2h)];
  return store < awaited ? LaneId::old_poison : LaneId::late_poison;
}

// Waits for as much as the next load of the place would, and for no more.
void Residency::poison(const ItemState& state) {
  if (state.bytes == 0) return;
  const Mark d2h = wait_marks(state.place).d2h;
  const LaneId id = poison_lane(state, d2h);
  order(id, LaneId::compute, lane(LaneId::compute).last(), Wait::poison_after_unit);
  if (state.unread) order(id, LaneId::h2d, state.last_load, Wait::poison_after_load);
  order(id, LaneId::d2h, d2h, Wait::poison_after_store);
  order(id, LaneId::check, state.last_check, Wait::poison_after_check);
  device_->fill(lane(id).stream(), address(state), 0xFF, state.bytes);
  const Mark mark = lane(id).promise();
  lane(id).try_close();
  for (std::uint32_t p = state.place.first_piece; p < state.place.last_piece; ++p) {
    Piece& piece = pieces_[p];
    (id == LaneId::poison ? piece.poison : id == LaneId::late_poison ? piece.late_poison : piece.old_poison) = mark;
  }
}

// Poison only shows faults: where the device refuses it, the place is free without it.
void Residency::try_poison(const ItemState& state) noexcept {
  try {
    poison(state);
  } catch (const std::exception& error) {
    log(HOIST_LOG_WARNING, "\"", state.name, "\": its place was not poisoned: ", error.what());
    try {
      lane(LaneId::check).wait(state.last_check);  // what the poison would have waited for beyond a load
    } catch (const std::exception&) {
      log(HOIST_LOG_WARNING, "\"", state.name, "\": a check of it may report a difference that is none");
    }
  }
}

void Residency::drop(std::uint32_t item, Reason reason) {
  submit_loads();
  ItemState& state = items_[item];
  if (!state.place.set) return;
  if (!state.transient || state.live) store(item, reason);
  if (trust_) try_poison(state);
  own(state.place, no_index);
  state.place = Place{};
  state.dirty = false;
}

void Residency::expire(std::uint32_t item) {
  ItemState& state = items_[item];
  state.live = false;
  state.dirty = false;
  drop(item, Reason::plan);
}

void Residency::add_needs(std::uint32_t item, bool writes, Needs& needs) const noexcept {
  const ItemState& state = items_[item];
  needs.h2d = std::max(needs.h2d, state.arrives);
  if (!writes) return;
  const Needs marks = wait_marks(state.place);
  needs.h2d = std::max(needs.h2d, marks.h2d);  // of whatever was there before: a birth has no load of its own
  needs.d2h = std::max(needs.d2h, marks.d2h);
  needs.poison = std::max(needs.poison, marks.poison);
  needs.late_poison = std::max(needs.late_poison, marks.late_poison);
  needs.old_poison = std::max(needs.old_poison, marks.old_poison);
  needs.check = std::max(needs.check, state.last_check);
}

void Residency::wait_for(const Needs& needs) {
  order(LaneId::compute, LaneId::h2d, needs.h2d, Wait::read_after_load);
  order(LaneId::compute, LaneId::d2h, needs.d2h, Wait::write_after_store);
  order(LaneId::compute, LaneId::poison, needs.poison, Wait::write_after_poison);
  order(LaneId::compute, LaneId::late_poison, needs.late_poison, Wait::write_after_poison);
  order(LaneId::compute, LaneId::old_poison, needs.old_poison, Wait::write_after_poison);
  order(LaneId::compute, LaneId::check, needs.check, Wait::write_after_check);
}

// At the end of a unit that wrote it, recorded.
void Residency::written(std::uint32_t item) noexcept {
  ItemState& state = items_[item];
  ++state.version;
  state.dirty = true;
  state.live = state.transient;
  state.arrives = 0;
  state.last_check = 0;
  for (std::uint32_t p = state.place.first_piece; p < state.place.last_piece; ++p) {
    pieces_[p] = Piece{0, 0, 0, 0, 0, pieces_[p].owner};
  }
}

void Residency::switch_stream(void* stream) {
  Lane& compute = lane(LaneId::compute);
  if (compute.stream() == stream) return;
  const Mark mark = compute.last();
  if (mark != 0 && !compute.known_reached(mark) && left_out_ != Wait::stream_after_stream) {
    device_->stream_wait_event(stream, compute.event(mark));
  }
  compute.set_stream(stream);
  if (!waits_unsealed_) return;
  // A unit that could not begin has made the old stream wait; the new one has not.
  for (Mark& known : waited_[static_cast<std::size_t>(LaneId::compute)]) known = 0;
  waits_unsealed_ = false;
}

}  // namespace hoist
