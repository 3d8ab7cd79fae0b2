// SPDX-License-Identifier: Apache-2.0
// What of residency waits on the host or looks at bytes: update, read, drain, trust mode's checks.
#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "exec/residency.hpp"

namespace hoist {

void Residency::update(std::uint32_t item, const void* src) {
  ItemState& state = items_[item];
  close_loads();
  // Copies and checks in flight still use the host's bytes.
  lane(LaneId::h2d).wait(state.last_load);
  lane(LaneId::d2h).wait(state.host_store);
  if (trust_) lane(LaneId::trust).wait(lane(LaneId::trust).last());
  if (state.bytes != 0 && !device_->has(HOIST_CAPABILITY_NO_BYTES)) std::memcpy(state.host, src, state.bytes);
  ++state.version;
  state.host_version = state.version;
  state.dirty = false;
  if (!state.place.set) return;
  try {
    copy_in(item, Reason::update);
    close_loads();
  } catch (...) {
    // The device's copy is the old one: nobody may read it.
    own(state.place, no_index);
    state.place = Place{};
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
  if (state.transient && state.dirty) {
    Lane& d2h = lane(LaneId::d2h);
    order(LaneId::d2h, LaneId::compute, lane(LaneId::compute).last(), Wait::store_after_unit);
    device_->copy(d2h.stream(), HOIST_COPY_D2H, dst, address(state.place), state.bytes);
    d2h.wait(d2h.record());
    return;
  }
  store(item, Reason::drain);
  lane(LaneId::d2h).wait(state.host_store);
  if (!device_->has(HOIST_CAPABILITY_NO_BYTES)) std::memcpy(dst, state.host, state.bytes);
}

void Residency::store_all(Reason reason) {
  for (std::uint32_t item = 0; item < items_.size(); ++item) {
    if (!items_[item].transient) store(item, reason);
  }
}

void Residency::check(std::uint32_t item) {
  ItemState& state = items_[item];
  if (!trust_ || !state.place.set || state.dirty || state.bytes == 0 || state.transient) return;
  if (!device_->has(HOIST_CAPABILITY_HOST_ADDRESSABLE) || device_->has(HOIST_CAPABILITY_NO_BYTES)) return;
  auto& slot = checks_[next_check_];
  if (!slot) slot = std::make_unique<ResidentCheck>();
  Lane& trust = lane(LaneId::trust);
  if (!trust.poll(slot->mark) || slot->differs.load()) return;
  next_check_ = (next_check_ + 1) % checks_.size();
  Mark h2d = 0;
  for (std::uint32_t p = state.place.first_piece; p < state.place.last_piece; ++p) h2d = std::max(h2d, pieces_[p].h2d);
  order(LaneId::trust, LaneId::compute, lane(LaneId::compute).last(), Wait::poison_after_unit);
  order(LaneId::trust, LaneId::h2d, h2d, Wait::check_after_load);
  order(LaneId::trust, LaneId::d2h, state.host_store, Wait::poison_after_store);
  slot->host = state.host;
  slot->device = address(state.place);
  slot->bytes = state.bytes;
  slot->item = item;
  device_->access_begin(trust.stream(), address(state.place), state.bytes);
  device_->host_function(
      trust.stream(),
      [](void* user_data) {
        auto* check = static_cast<ResidentCheck*>(user_data);
        if (std::memcmp(check->host, check->device, check->bytes) != 0) check->differs.store(true);
      },
      slot.get(), 0);
  device_->access_end(trust.stream(), address(state.place), state.bytes);
  slot->mark = trust.record();
  for (std::uint32_t p = state.place.first_piece; p < state.place.last_piece; ++p) pieces_[p].trust = slot->mark;
}

std::uint32_t Residency::take_corrupt() noexcept {
  for (auto& slot : checks_) {
    if (slot && slot->differs.exchange(false)) return slot->item;
  }
  return no_index;
}

}  // namespace hoist
