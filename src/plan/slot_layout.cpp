// SPDX-License-Identifier: Apache-2.0
// Which items move together, and at which addresses they lie for ever.
#include <algorithm>
#include <map>
#include <numeric>

#include "plan/sizes.hpp"
#include "plan/slots.hpp"

namespace hoist::plan {
namespace {

// Mapping costs a call a part, so parts are few; rounding wastes half a granule a part, so they are not small.
constexpr std::uint64_t parts_a_unit = 8;

class LayOut {
 public:
  LayOut(const Problem& catalog, std::uint64_t granularity) : problem_(catalog) { layout_.granularity = granularity; }

  SlotLayout run() {
    by_unit_.resize(problem_.units.size());
    std::vector<bool> streams(problem_.items.size(), false);
    for (std::uint32_t item = 0; item < problem_.items.size(); ++item) {
      if (!can_stream(problem_.items[item])) continue;
      by_unit_[problem_.items[item].uses.front().unit].push_back(item);
      streams[item] = true;
    }
    for (std::uint32_t unit = 0; unit < by_unit_.size(); ++unit) cut(unit, streams);
    for (std::uint32_t item = 0; item < problem_.items.size(); ++item) {
      if (!streams[item]) fix(item);
    }
    layout_.fixed_bytes = round_up(layout_.fixed_bytes, layout_.granularity);
    make_rings();
    return std::move(layout_);
  }

 private:
  static bool can_stream(const Item& item) {
    return item.uses.size() == 1 && item.uses.front().mode == Mode::read && !item.transient && item.bytes != 0;
  }

  // Largest first, so that like parts of like units come together.
  void cut(std::uint32_t unit, std::vector<bool>& streams) {
    std::vector<std::uint32_t>& items = by_unit_[unit];
    std::stable_sort(items.begin(), items.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return size_of(problem_, a) > size_of(problem_, b); });
    std::uint64_t all = 0;
    for (std::uint32_t item : items) all += size_of(problem_, item);
    const std::uint64_t least = std::max(layout_.granularity, all / parts_a_unit);
    const auto small = std::find_if(items.begin(), items.end(),
                                    [&](std::uint32_t item) { return size_of(problem_, item) < layout_.granularity; });
    group(unit, {items.begin(), small}, least, streams);
    group(unit, {small, items.end()}, least, streams);  // among themselves: they must not make others' blocks larger
  }

  void group(std::uint32_t unit, const std::vector<std::uint32_t>& items, std::uint64_t least,
             std::vector<bool>& streams) {
    SlotPart part;
    for (std::uint32_t item : items) {
      part.unit = unit;
      part.items.push_back(item);
      part.offsets.push_back(part.bytes);
      part.bytes += size_of(problem_, item);
      if (part.bytes < least) continue;
      close(part);
      part = SlotPart{};
    }
    if (part.bytes >= layout_.granularity) return close(part);
    for (std::uint32_t item : part.items) streams[item] = false;  // less than a granule is not worth a block
  }

  void close(SlotPart part) {
    part.bytes = round_up(part.bytes, layout_.granularity);
    layout_.parts.push_back(std::move(part));
  }

  void fix(std::uint32_t item) {
    layout_.fixed.push_back(item);
    layout_.fixed_offsets.push_back(layout_.fixed_bytes);
    layout_.fixed_bytes += size_of(problem_, item);
  }

  // Parts of at least three quarters of a block share it.
  void make_rings() {
    std::vector<std::uint32_t> order(layout_.parts.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return layout_.parts[a].bytes > layout_.parts[b].bytes; });
    for (std::uint32_t index : order) {
      SlotPart& part = layout_.parts[index];
      if (layout_.ring_bytes.empty() || part.bytes < layout_.ring_bytes.back() / 4 * 3) {
        layout_.ring_bytes.push_back(part.bytes);
      }
      part.ring = static_cast<std::uint32_t>(layout_.ring_bytes.size() - 1);
    }
  }

  const Problem& problem_;
  SlotLayout layout_;
  std::vector<std::vector<std::uint32_t>> by_unit_;
};

}  // namespace

SlotLayout lay_out_slots(const Problem& catalog, std::uint64_t granularity) {
  return LayOut(catalog, granularity).run();
}

std::uint64_t SlotLayout::bytes() const {
  std::uint64_t all = fixed_bytes;
  for (const SlotPart& part : parts) all += part.bytes;
  return all;
}

std::uint64_t SlotLayout::smallest() const {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> counts;  // by ring and unit
  for (const SlotPart& part : parts) ++counts[{part.ring, part.unit}];
  std::vector<std::uint64_t> most(ring_bytes.size(), 0);
  for (const auto& [key, count] : counts) most[key.first] = std::max(most[key.first], count);
  std::uint64_t least = fixed_bytes;
  for (std::size_t ring = 0; ring < most.size(); ++ring) least += most[ring] * ring_bytes[ring];
  return std::min(least, bytes());
}

}  // namespace hoist::plan
