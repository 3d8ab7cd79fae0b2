// SPDX-License-Identifier: Apache-2.0
// Every kind of wait that the executor makes one lane do for another, by name. tests/stress takes each
// out in turn and shows that a test fails without it.
#pragma once

#include <cstdint>

namespace hoist {

enum class Wait : std::uint8_t {
  none,
  load_after_unit,       // eligibility; with it the last reader and writer of the place
  load_after_store,      // the last store from the bytes of the place
  load_after_own_store,  // the host copy of the item must be complete
  store_after_unit,      // eligibility; with it the writer
  read_after_load,       // a unit's bytes must be there; a birth waits for unread loads of its place
  write_after_store,     // a writer waits for stores that read the bytes; a birth for those of its place
  birth_after_own_load,  // a load of the item that nobody read still reads the host copy
  stream_after_stream,   // a new compute stream waits for the previous unit's end
  swap_barrier,          // another plan cuts the arena anew: all lanes meet
  // Trust mode. A check is the comparison of bytes that stay with their host copy.
  load_after_poison,   // the poison of the place
  write_after_poison,  // a birth waits for the poison of its place
  write_after_check,   // a writer waits for a check of the item
  poison_after_unit,   // the last reader
  poison_after_load,   // a load that was dropped unread
  poison_after_store,  // the last store
  poison_after_check,  // a check of the item
  check_after_unit,    // the load or the writer, by the unit that waited for it or that it was
  check_after_store,   // the host copy must be complete
};
inline constexpr int wait_count = 19;

}  // namespace hoist
