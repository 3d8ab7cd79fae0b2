// SPDX-License-Identifier: Apache-2.0
// What of residency waits on the host or looks at bytes: update, read, drain, trust mode's checks.
#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "base/log.hpp"
#include "exec/residency.hpp"

namespace hoist {

bool Residency::update(std::uint32_t item, const void* src) {
  ItemState& state = items_[item];
  // Copies and checks in flight still use the host's bytes.
  lane(LaneId::h2d).wait(state.last_load);
  lane(LaneId::d2h).wait(state.host_store);
  if (trust_) lane(LaneId::check).wait(lane(LaneId::check).last());
  if (state.bytes != 0 && !device_->has(HOIST_CAPABILITY_NO_BYTES)) std::memcpy(state.host, src, state.bytes);
  ++state.version;
  state.host_version = state.version;
  state.dirty = false;
  if (!state.place.set) return true;
  try {
    copy_in(item, Reason::update);
    close_loads();
    return true;
  } catch (const std::exception& error) {
    // The host has the new bytes. The device's are the old ones: nobody may read them.
    log(HOIST_LOG_WARNING, "the update of \"", state.name, "\" was not copied to the device yet: ", error.what());
    own(state.place, no_index);
    state.place = Place{};
    return false;
  }
}

// Straight from the device: the host copy of a transient is nobody's business.
void Residency::read_device(const ItemState& state, void* dst) {
  Lane& d2h = lane(LaneId::d2h);
  order(LaneId::d2h, LaneId::compute, lane(LaneId::compute).last(), Wait::store_after_unit);
  device_->copy(d2h.stream(), HOIST_COPY_D2H, dst, address(state), state.bytes);
  const Mark mark = d2h.promise();
  ledger_.add(ledger_.d2h, Reason::drain, state.bytes);
  try {
    d2h.wait(mark);
  } catch (...) {
    device_->stream_wait(d2h.stream());  // the caller's memory may go when this returns
    throw;
  }
}

void Residency::read(std::uint32_t item, void* dst) {
  ItemState& state = items_[item];
  if (state.bytes == 0) return;
  if (state.transient && !state.live) {
    fail(HOIST_ERROR_STALE, text("tensor \"", state.name, "\" is transient and does not exist now"),
         "read it between the unit that writes it and its last use");
  }
  if (state.transient && state.dirty) return read_device(state, dst);
  store(item, Reason::drain);
  lane(LaneId::d2h).wait(state.host_store);
  if (!device_->has(HOIST_CAPABILITY_NO_BYTES)) std::memcpy(dst, state.host, state.bytes);
}

void Residency::collect_copies() {
  if (!copies_.on()) return;
  for (LaneId id : {LaneId::h2d, LaneId::d2h}) copies_.collect(lane(id), true);
}

void Residency::store_all(Reason reason) {
  for (std::uint32_t item = 0; item < items_.size(); ++item) {
    if (!items_[item].transient) store(item, reason);
  }
}

void Residency::check(std::uint32_t item) noexcept {
  ItemState& state = items_[item];
  // A unit has waited for bytes that have been read, and a check that waited for a load could hold up a writer.
  if (!trust_ || !state.place.set || state.dirty || state.unread || state.bytes == 0 || state.transient) return;
  if (!device_->has(HOIST_CAPABILITY_HOST_ADDRESSABLE) || device_->has(HOIST_CAPABILITY_NO_BYTES)) return;
  try {
    auto& slot = checks_[next_check_];
    if (!lane(LaneId::check).poll(slot->mark) || slot->differs.load()) return;
    submit_check(state, *slot);
    slot->item = item;
    next_check_ = (next_check_ + 1) % checks_.size();
  } catch (const std::exception& error) {
    log(HOIST_LOG_WARNING, "\"", state.name, "\" was not compared with its host copy: ", error.what());
  }
}

void Residency::submit_check(ItemState& state, ResidentCheck& check) {
  Lane& lane = this->lane(LaneId::check);
  order(LaneId::check, LaneId::compute, this->lane(LaneId::compute).last(), Wait::check_after_unit);
  order(LaneId::check, LaneId::d2h, state.host_store, Wait::check_after_store);
  check.host = state.host;
  check.device = address(state);
  check.bytes = state.bytes;
  const auto compare = [](void* user_data) {
    auto* it = static_cast<ResidentCheck*>(user_data);
    if (std::memcmp(it->host, it->device, it->bytes) != 0) it->differs.store(true);
  };
  void* memory = address(state);
  device_->access_begin(lane.stream(), memory, state.bytes);
  check.mark = state.last_check = lane.promise();
  try {
    device_->host_function(lane.stream(), compare, &check, 0);
  } catch (...) {
    device_->access_end(lane.stream(), memory, state.bytes);
    throw;
  }
  device_->access_end(lane.stream(), memory, state.bytes);
  lane.try_close();
}

std::uint32_t Residency::take_corrupt() noexcept {
  for (auto& slot : checks_) {
    if (slot && slot->differs.exchange(false)) return slot->item;
  }
  return no_index;
}

}  // namespace hoist
