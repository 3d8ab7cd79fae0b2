// SPDX-License-Identifier: Apache-2.0
// Places: an offset for every stay, so that none overlaps another while both are on the device.
#pragma once

#include "plan/model.hpp"

namespace hoist::plan {

enum class PlaceOrder : std::uint8_t { size, area, length, time };

struct PlaceOptions {
  PlaceOrder order = PlaceOrder::size;
  bool best_fit = false;   // the tightest hole instead of the lowest
  std::uint32_t tail = 0;  // units for which a dirty stay's bytes are kept free after its drop, where that fits
  bool echo = false;       // places that a store frees late are taken last
  bool split = false;      // transient items from the top
  bool grow = false;
  std::uint32_t retries = 4;  // how often what found no place goes to the front
  bool by_offset = true;      // the order of ops that are due together: by place, or by name
};

// Sets the draft's offsets; shortens leads that find no place. False where a stay finds none even so.
bool place(const Model& model, Draft& draft, const PlaceOptions& options);

// Lets loads start earlier, nearest deadlines first, where their places are free; at most `most` units ahead.
void grow_in_place(const Model& model, Draft& draft, const std::vector<std::uint32_t>& most);

}  // namespace hoist::plan
