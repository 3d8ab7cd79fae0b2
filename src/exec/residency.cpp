// SPDX-License-Identifier: Apache-2.0
#include "exec/residency.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace hoist {

Residency::Residency(std::shared_ptr<Device> device, PinnedArena& pinned, const ResidencyOptions& options)
    : device_(std::move(device)), pinned_(pinned), trust_(options.trust), copies_(device_) {
  for (std::size_t id = 0; id < lane_count; ++id) {
    lanes_[id] = std::make_unique<Lane>(device_, static_cast<LaneId>(id), options.lane_capacity);
  }
  checks_.resize(4);
}

Residency::~Residency() {
  copies_.stop();
  // Streams first: what was submitted runs while its memory is still there.
  for (auto& lane : lanes_) lane.reset();
}

void Residency::set_arena(std::shared_ptr<DeviceArena> arena) { arena_ = std::move(arena); }

void Residency::cut(const std::vector<std::uint64_t>& cuts) {
  cuts_ = cuts;
  pieces_.assign(cuts.empty() ? 0 : cuts.size() - 1, Piece{});
}

void Residency::order(LaneId waiter, LaneId on, Mark mark, Wait why) {
  Mark& known = waited_[static_cast<std::size_t>(waiter)][static_cast<std::size_t>(on)];
  if (mark <= known || why == left_out_) return;
  Lane& source = lane(on);
  if (mark > source.last()) close_loads();
  if (!source.known_reached(mark)) device_->stream_wait_event(lane(waiter).stream(), source.event(mark));
  known = mark;
}

void Residency::meet() {
  close_loads();
  for (LaneId id : {LaneId::h2d, LaneId::d2h, LaneId::trust}) {
    order(LaneId::compute, id, lane(id).last(), Wait::swap_barrier);
  }
  const Mark mark = lane(LaneId::compute).record();
  for (LaneId id : {LaneId::h2d, LaneId::d2h, LaneId::trust}) order(id, LaneId::compute, mark, Wait::swap_barrier);
}

void Residency::wait_all() {
  close_loads();
  for (auto& lane : lanes_) lane->wait(lane->last());
}

void Residency::own(const Place& place, std::uint32_t owner) noexcept {
  for (std::uint32_t p = place.first_piece; p < place.last_piece; ++p) pieces_[p].owner = owner;
}

bool Residency::is_free(std::uint32_t item, const Place& place) const noexcept {
  for (std::uint32_t p = place.first_piece; p < place.last_piece; ++p) {
    if (pieces_[p].owner != no_index && pieces_[p].owner != item) return false;
  }
  return true;
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
  Mark d2h = 0;
  Mark trust = 0;
  for (std::uint32_t p = state.place.first_piece; p < state.place.last_piece; ++p) {
    d2h = std::max(d2h, pieces_[p].d2h);
    trust = std::max(trust, pieces_[p].trust);
  }
  Lane& h2d = lane(LaneId::h2d);
  order(LaneId::h2d, LaneId::compute, lane(LaneId::compute).last(), Wait::load_after_unit);
  order(LaneId::h2d, LaneId::d2h, d2h, Wait::load_after_store);
  order(LaneId::h2d, LaneId::trust, trust, Wait::load_after_poison);
  order(LaneId::h2d, LaneId::d2h, state.host_store, Wait::load_after_own_store);
  if (copies_.on()) copies_.begin(h2d);
  device_->copy(h2d.stream(), HOIST_COPY_H2D, address(state.place), state.host, state.bytes);
  const Mark mark = h2d.next();
  loads_open_ = true;
  state.last_load = mark;
  state.unread = true;
  for (std::uint32_t p = state.place.first_piece; p < state.place.last_piece; ++p) pieces_[p].h2d = mark;
  ledger_.add(ledger_.h2d, reason, state.bytes);
  if (copies_.on()) {
    close_loads();
    copies_.end(h2d, mark, {TraceRow::h2d, reason, item, step_, state.bytes, 0, 0});
  }
}

void Residency::close_loads() {
  if (!loads_open_) return;
  lane(LaneId::h2d).record();
  loads_open_ = false;
}

void Residency::birth(std::uint32_t item, const Place& place) {
  ItemState& state = items_[item];
  if (!is_free(item, place)) {
    fail(HOIST_ERROR_INTERNAL, text("tensor \"", state.name, "\": its place at ", place.offset, " is not free"));
  }
  if (state.unread) order(LaneId::compute, LaneId::h2d, state.last_load, Wait::birth_after_own_load);
  state.unread = false;
  state.place = place;
  own(place, item);
}

void Residency::ensure_host(ItemState& state) {
  if (state.host != nullptr || state.bytes == 0) return;
  state.host = pinned_.allocate(state.bytes);
}

void Residency::store(std::uint32_t item, Reason reason) {
  ItemState& state = items_[item];
  if (!state.place.set || !state.dirty) return;
  if (state.bytes != 0) {
    ensure_host(state);
    Lane& d2h = lane(LaneId::d2h);
    order(LaneId::d2h, LaneId::compute, lane(LaneId::compute).last(), Wait::store_after_unit);
    if (copies_.on()) copies_.begin(d2h);
    device_->copy(d2h.stream(), HOIST_COPY_D2H, state.host, address(state.place), state.bytes);
    const Mark mark = d2h.record();
    for (std::uint32_t p = state.place.first_piece; p < state.place.last_piece; ++p) pieces_[p].d2h = mark;
    state.host_store = mark;
    ledger_.add(ledger_.d2h, reason, state.bytes);
    if (copies_.on()) copies_.end(d2h, mark, {TraceRow::d2h, reason, item, step_, state.bytes, 0, 0});
  }
  state.dirty = false;
  state.host_version = state.version;
}

void Residency::poison(const ItemState& state) {
  if (state.bytes == 0) return;
  Mark h2d = 0;
  Mark d2h = 0;
  for (std::uint32_t p = state.place.first_piece; p < state.place.last_piece; ++p) {
    h2d = std::max(h2d, pieces_[p].h2d);
    d2h = std::max(d2h, pieces_[p].d2h);
  }
  order(LaneId::trust, LaneId::compute, lane(LaneId::compute).last(), Wait::poison_after_unit);
  order(LaneId::trust, LaneId::h2d, h2d, Wait::poison_after_load);
  order(LaneId::trust, LaneId::d2h, d2h, Wait::poison_after_store);
  Lane& trust = lane(LaneId::trust);
  device_->fill(trust.stream(), address(state.place), 0xFF, state.bytes);
  const Mark mark = trust.record();
  for (std::uint32_t p = state.place.first_piece; p < state.place.last_piece; ++p) pieces_[p].trust = mark;
}

void Residency::drop(std::uint32_t item, Reason reason) {
  ItemState& state = items_[item];
  if (!state.place.set) return;
  if (!state.transient || state.live) store(item, reason);
  if (trust_) poison(state);
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

void Residency::vacate(std::uint32_t item, const Place& place, Reason reason, std::vector<std::uint32_t>& evicted) {
  for (std::uint32_t p = place.first_piece; p < place.last_piece; ++p) {
    const std::uint32_t owner = pieces_[p].owner;
    if (owner == no_index || owner == item) continue;
    drop(owner, reason);
    evicted.push_back(owner);
  }
}

void Residency::add_needs(std::uint32_t item, bool writes, Needs& needs) const noexcept {
  const Place& place = items_[item].place;
  for (std::uint32_t p = place.first_piece; p < place.last_piece; ++p) {
    needs.h2d = std::max(needs.h2d, pieces_[p].h2d);
    if (!writes) continue;
    needs.d2h = std::max(needs.d2h, pieces_[p].d2h);
    needs.trust = std::max(needs.trust, pieces_[p].trust);
  }
}

void Residency::wait_for(const Needs& needs) {
  order(LaneId::compute, LaneId::h2d, needs.h2d, Wait::read_after_load);
  order(LaneId::compute, LaneId::d2h, needs.d2h, Wait::write_after_store);
  order(LaneId::compute, LaneId::trust, needs.trust, Wait::write_after_poison);
}

void Residency::written(std::uint32_t item) noexcept {
  ItemState& state = items_[item];
  ++state.version;
  state.dirty = true;
  state.live = state.transient;
}

void Residency::switch_stream(void* stream) {
  Lane& compute = lane(LaneId::compute);
  if (compute.stream() == stream) return;
  const Mark mark = compute.last();
  compute.set_stream(stream);
  if (mark != 0 && !compute.known_reached(mark) && left_out_ != Wait::stream_after_stream) {
    device_->stream_wait_event(stream, compute.event(mark));
  }
}

}  // namespace hoist
