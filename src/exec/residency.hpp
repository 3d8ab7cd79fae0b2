// SPDX-License-Identifier: Apache-2.0
// Where every item is, and the primitives that move it: load, birth, store, drop, each with its waits.
// The bytes own the clock: the arena is cut into pieces, and a piece keeps its last mark by lane.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "exec/copy_log.hpp"
#include "exec/gather.hpp"
#include "exec/lane.hpp"
#include "exec/program.hpp"
#include "exec/waits.hpp"
#include "memory/device_arena.hpp"
#include "memory/pinned_arena.hpp"
#include "trace/ledger.hpp"

namespace hoist {

struct alignas(64) ItemState {
  // What units look at when they begin and end: one line of the cache.
  Place place;          // where it is on the device; not set: absent
  bool dirty = false;   // the device's copy is newer than the host's
  bool live = false;    // transient: written in this step and not past its last use
  bool unread = false;  // loaded and not yet waited for by a unit
  bool transient = false;
  std::uint64_t bytes = 0;
  Mark arrives = 0;           // the load of what is there; 0: no load, or lanes have met or a unit has written since
  std::uint64_t version = 0;  // grows with every write and update
  std::uint64_t host_version = 0;  // what the host copy holds, once host_store has been reached

  void* host = nullptr;
  void* fixed = nullptr;  // its address for ever; null: its place says where
  Mark last_load = 0;
  Mark host_store = 0;           // the store that completes the host copy
  Mark last_check = 0;           // trust mode
  const void* region = nullptr;  // of the host memory, and its room: see HostBytes
  std::uint64_t room = 0;
  std::string name;

  [[nodiscard]] HostBytes host_bytes() const noexcept { return {host, region, bytes, room}; }

  // The host's bytes are the live ones.
  [[nodiscard]] bool host_current() const noexcept { return host_version == version && (!transient || live); }
};

struct ResidencyOptions {
  bool trust = false;
  std::size_t lane_capacity = 64;
};

// Trust mode: one comparison of an item on the device with its host copy, in flight.
struct ResidentCheck {
  const void* host = nullptr;
  const void* device = nullptr;
  std::size_t bytes = 0;
  std::uint32_t item = no_index;
  Mark mark = 0;
  std::atomic<bool> differs{false};
};

class Residency {
 public:
  Residency(std::shared_ptr<Device> device, PinnedArena& pinned, const ResidencyOptions& options);
  ~Residency();
  Residency(const Residency&) = delete;
  Residency& operator=(const Residency&) = delete;

  [[nodiscard]] Device& device() noexcept { return *device_; }
  [[nodiscard]] Lane& lane(LaneId id) noexcept { return *lanes_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] std::vector<ItemState>& items() noexcept { return items_; }
  [[nodiscard]] const std::vector<ItemState>& items() const noexcept { return items_; }
  [[nodiscard]] Ledger& ledger() noexcept { return ledger_; }
  [[nodiscard]] const Ledger& ledger() const noexcept { return ledger_; }
  [[nodiscard]] CopyLog& copies() noexcept { return copies_; }
  void collect_copies();  // waits for what is being recorded
  [[nodiscard]] void* address(const ItemState& state) const noexcept {
    return state.fixed != nullptr ? state.fixed : static_cast<char*>(arena_->base()) + state.place.offset;
  }
  [[nodiscard]] bool has_arena() const noexcept { return arena_ != nullptr && arena_->is_whole(); }
  [[nodiscard]] DeviceArena* arena() noexcept { return arena_.get(); }
  [[nodiscard]] std::uint64_t arena_bytes() const noexcept { return arena_ ? arena_->bytes() : 0; }
  // Most bytes of the arena that items had at once since it was cut.
  [[nodiscard]] std::uint64_t peak_bytes() const noexcept { return peak_bytes_; }
  void set_step(std::uint64_t step) noexcept { step_ = step; }
  // What of the host memory of items is pinned in one piece; places on the device are multiples of `alignment`.
  void find_regions(std::uint64_t alignment);

  // No item may be on the device, and nothing may be in flight.
  void set_arena(std::shared_ptr<DeviceArena> arena);
  // Lanes have met (see meet).
  void cut(const std::vector<std::uint64_t>& cuts);
  void make_cuts(std::size_t count);  // room for them, so that cut() cannot fail
  // On the device: every lane waits for all others.
  void meet();
  // On the host: until everything submitted has run.
  void wait_all();

  // Ensure present. The place must be free of other items. False: there is nothing to load (a transient
  // that does not live). Loads of a group share a mark: end it with close_loads(). What throws has done nothing.
  bool load(std::uint32_t item, const Place& place, Reason reason);
  void close_loads() noexcept {
    submit_loads();
    lane(LaneId::h2d).try_close();
  }
  // Until gather_loads(false), loads that are neighbours on both sides go as one copy, with `batches` small ones as one
  // batch. What the device refuses then has done nothing either, and is in refused() until that is cleared.
  void gather_loads(bool on, bool batches = false) noexcept;
  [[nodiscard]] std::vector<std::uint32_t>& refused() noexcept { return refused_; }
  // Brings an item into being without its bytes, before a write.
  void birth(std::uint32_t item, const Place& place);
  // Ensure clean.
  void store(std::uint32_t item, Reason reason);
  // Takes host memory for a transient's bytes, where there is none yet. Throws Error(OUT_OF_MEMORY).
  void reserve_host(std::uint32_t item);
  // Ensure absent, storing if dirty and live.
  void drop(std::uint32_t item, Reason reason);
  // A transient past its last use.
  void expire(std::uint32_t item);
  // Who else holds bytes of the place; no_index: nobody.
  [[nodiscard]] std::uint32_t occupant(std::uint32_t item, const Place& place) const noexcept;
  [[nodiscard]] bool is_free(std::uint32_t item, const Place& place) const noexcept {
    return occupant(item, place) == no_index;
  }

  // The compute lane waits for what a unit's uses need: one wait a lane, however many items.
  struct Needs {
    Mark h2d = 0, d2h = 0, poison = 0, late_poison = 0, old_poison = 0, check = 0;
  };
  void add_needs(std::uint32_t item, bool writes, Needs& needs) const noexcept;
  // Before a call of the device, which takes long and leaves cold caches: what is looked at after it.
  void prefetch(std::uint32_t item) const noexcept { __builtin_prefetch(&items_[item]); }
  void prefetch(std::uint32_t item, const Place& place) const noexcept {
    prefetch(item);
    __builtin_prefetch(&items_[item].host);
    __builtin_prefetch(pieces_.data() + place.first_piece);
  }
  void wait_for(const Needs& needs);
  void written(std::uint32_t item) noexcept;
  void sealed() noexcept { waits_unsealed_ = false; }  // a mark has been recorded on the compute lane
  void switch_stream(void* stream);

  // Blocking, between units.
  // False: the host has the new bytes, the device refused them and has no copy any more.
  bool update(std::uint32_t item, const void* src);
  void read(std::uint32_t item, void* dst);
  void store_all(Reason reason);

  // Trust mode: compares a clean item on the device with its host copy, in stream order; a difference is
  // reported by take_corrupt().
  void check(std::uint32_t item) noexcept;
  [[nodiscard]] std::uint32_t take_corrupt() noexcept;

  // After cut: an item that stays where it is, in the new pieces.
  void keep(std::uint32_t item, const Place& place) noexcept {
    items_[item].place = place;
    items_[item].arrives = 0;
    own(place, item);
  }

  // Tests only: that kind of wait is left out.
  void leave_out(Wait wait) noexcept { left_out_ = wait; }

 private:
  // A load takes over what it has waited for, and so does a unit that writes: what they waited for goes from
  // the piece, since whoever waits for them waits for that too.
  struct Piece {
    Mark h2d = 0, d2h = 0, poison = 0, late_poison = 0, old_poison = 0;
    std::uint32_t owner = no_index;
  };

  void order(LaneId waiter, LaneId on, Mark mark, Wait why);
  void own(const Place& place, std::uint32_t owner) noexcept;
  [[nodiscard]] Needs wait_marks(const Place& place) const noexcept;
  void poison(const ItemState& state);
  [[nodiscard]] LaneId poison_lane(const ItemState& state, Mark store) const noexcept;
  void try_poison(const ItemState& state) noexcept;
  void read_device(const ItemState& state, void* dst);
  void submit_check(ItemState& state, ResidentCheck& check);
  void copy_in(std::uint32_t item, Reason reason);
  void submit_load(std::uint32_t item);
  void submit_loads() noexcept {
    if (!gather_.empty()) submit_gathered();
  }
  void submit_gathered() noexcept;

  std::shared_ptr<Device> device_;
  PinnedArena& pinned_;
  bool trust_;
  std::array<std::unique_ptr<Lane>, lane_count> lanes_;
  Mark waited_[lane_count][lane_count] = {};
  std::shared_ptr<DeviceArena> arena_;
  std::vector<Piece> pieces_;
  std::vector<std::uint64_t> cuts_;
  std::uint64_t used_bytes_ = 0;  // of the arena, by items that are there
  std::uint64_t peak_bytes_ = 0;
  std::vector<ItemState> items_;
  Ledger ledger_;
  CopyLog copies_;
  std::uint64_t step_ = 0;
  bool waits_unsealed_ = false;  // the compute lane waits for more than its last mark covers
  bool joining_ = false;         // loads
  bool batching_ = false;        // small ones
  Gather gather_;                // loads by the plan that are yet to be submitted; their places and marks are set
  std::vector<std::uint32_t> refused_;
  Wait left_out_ = Wait::none;
  std::vector<std::unique_ptr<ResidentCheck>> checks_;
  std::size_t next_check_ = 0;
};

}  // namespace hoist
