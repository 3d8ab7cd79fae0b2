// SPDX-License-Identifier: Apache-2.0
// Which parts stay and how many blocks each ring has: a few fills of the budget are simulated, the best is improved.
#include "plan/slots.hpp"

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "plan/simulate.hpp"
#include "plan/sizes.hpp"

namespace hoist::plan {
namespace {

// How a ring is shared out: so many of its parts stay, the others take turns in so many blocks.
struct Share {
  std::uint32_t kept = 0;
  std::uint32_t blocks = 0;
};
using Shares = std::vector<Share>;

struct Ring {
  std::vector<std::uint32_t> parts;  // that take turns, in the order of the step
  std::uint32_t always = 0;          // blocks that units outside of the order need
  std::uint32_t most = 0;            // parts of one unit
  std::uint64_t bytes = 0;           // a block
};

class SlotPlanner {
 public:
  SlotPlanner(const Problem& problem, const std::vector<std::uint32_t>& order, const SlotLayout& layout)
      : problem_(problem), order_(order), layout_(layout), uses_(uses_by_unit(problem)), arena_(arena_of(problem)) {}

  SlotPlan run() {
    collect();
    for (double ahead : {1.0, 4.0 / 3, 5.0 / 3, 2.0, 2.5, 3.0, 4.0}) {
      for (int preference : {0, 1, -1}) consider(filled(ahead, preference));
    }
    improve();
    if (!best_) refuse();
    return std::move(*best_);
  }

 private:
  [[noreturn]] void refuse() const {
    const std::uint64_t least = layout_.smallest() + own_bytes_;
    fail(HOIST_ERROR_INFEASIBLE,
         text("no plan found for budget_bytes ", problem_.budget_bytes, ": in whole blocks of ", layout_.granularity,
              " bytes units need ", least, " bytes"),
         text("give at least ", least + largest_workspace(problem_), " bytes, or place tensors in an arena"));
  }

  // Parts by ring; a part of a unit that comes more than once in a step stays.
  void collect() {
    constexpr std::uint32_t never = UINT32_MAX;
    constexpr std::uint32_t often = UINT32_MAX - 1;
    std::vector<std::uint32_t> position(unit_count(), never);
    in_order_.assign(unit_count(), false);
    for (std::uint32_t p = 0; p < order_.size(); ++p) {
      position[order_[p]] = in_order_[order_[p]] ? often : p;
      in_order_[order_[p]] = true;
    }
    rings_.resize(layout_.ring_bytes.size());
    position_.assign(layout_.parts.size(), 0);
    std::vector<std::vector<std::uint32_t>> counts(rings_.size(), std::vector<std::uint32_t>(unit_count(), 0));
    for (std::uint32_t part = 0; part < layout_.parts.size(); ++part) {
      const SlotPart& it = layout_.parts[part];
      if (position[it.unit] == often) {
        own_bytes_ += it.bytes;
        continue;
      }
      Ring& ring = rings_[it.ring];
      const std::uint32_t count = ++counts[it.ring][it.unit];
      if (position[it.unit] == never) {
        ring.always = std::max(ring.always, count);
        continue;
      }
      ring.most = std::max(ring.most, count);
      ring.parts.push_back(part);
      position_[part] = position[it.unit];
    }
    for (std::size_t r = 0; r < rings_.size(); ++r) {
      rings_[r].bytes = layout_.ring_bytes[r];
      std::stable_sort(rings_[r].parts.begin(), rings_[r].parts.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return position_[a] < position_[b]; });
    }
  }

  [[nodiscard]] std::uint32_t unit_count() const {
    std::uint32_t count = 0;
    for (const SlotPart& part : layout_.parts) count = std::max(count, part.unit + 1);
    for (std::uint32_t unit : order_) count = std::max(count, unit + 1);
    return count;
  }

  // The nth of a ring's parts stays: as evenly spread as can be.
  [[nodiscard]] bool stays(std::size_t ring, std::uint64_t nth, std::uint64_t kept) const {
    const std::uint64_t count = rings_[ring].parts.size();
    const std::uint64_t shifted = (nth + ring * count / (rings_.size() + 1)) % count;
    return (shifted + 1) * kept / count != shifted * kept / count;
  }

  [[nodiscard]] std::uint64_t bytes_of(std::size_t ring, const Share& share) const {
    std::uint64_t bytes = share.blocks * rings_[ring].bytes;
    for (std::size_t nth = 0; nth < rings_[ring].parts.size(); ++nth) {
      if (stays(ring, nth, share.kept)) bytes += layout_.parts[rings_[ring].parts[nth]].bytes;
    }
    return bytes;
  }

  [[nodiscard]] std::uint64_t bytes_of(const Shares& shares) const {
    std::uint64_t bytes = layout_.fixed_bytes + own_bytes_;
    for (std::size_t r = 0; r < shares.size(); ++r) bytes += bytes_of(r, shares[r]);
    return bytes;
  }

  // Blocks that would only ever hold one part each are no ring.
  void settle(std::size_t r, Share& share) const {
    const Ring& ring = rings_[r];
    const auto count = static_cast<std::uint32_t>(ring.parts.size());
    share.kept = std::min(share.kept, count);
    const std::uint32_t streamed = count - share.kept;
    if (streamed != 0 && streamed > share.blocks) {
      share.blocks = std::max({share.blocks, std::min(ring.most, streamed), ring.always});
    }
    if (streamed <= share.blocks) share = {count, ring.always};
  }

  Shares settled(Shares shares) const {
    for (std::size_t r = 0; r < shares.size(); ++r) settle(r, shares[r]);
    return shares;
  }

  // Blocks for so many units at once, the rest of the budget for parts that stay: of all rings alike, or of large or
  // small ones first.
  [[nodiscard]] Shares filled(double ahead, int preference) const {
    Shares shares(rings_.size());
    for (std::size_t r = 0; r < rings_.size(); ++r) {
      shares[r].blocks = static_cast<std::uint32_t>(ahead * rings_[r].most + 0.999);
    }
    shares = settled(shares);
    return topped_up(preference == 0 ? alike(shares) : shares, preference);
  }

  // As large a share of every ring as fits.
  [[nodiscard]] Shares alike(const Shares& shares) const {
    constexpr std::uint64_t steps = 64;
    Shares fits = shares;
    for (std::uint64_t step = 1; step <= steps; ++step) {
      Shares next = shares;
      for (std::size_t r = 0; r < rings_.size(); ++r) {
        next[r].kept = static_cast<std::uint32_t>(rings_[r].parts.size() * step / steps);
      }
      next = settled(next);
      if (bytes_of(next) > arena_) break;
      fits = next;
    }
    return fits;
  }

  // As many parts more of one ring after the other as fit.
  [[nodiscard]] Shares topped_up(Shares shares, int preference) const {
    for (std::size_t k = 0; k < rings_.size(); ++k) {
      const std::size_t r = preference >= 0 ? k : rings_.size() - 1 - k;  // rings are sorted, large ones first
      const std::uint64_t others = bytes_of(shares) - bytes_of(r, shares[r]);
      std::uint32_t low = shares[r].kept;
      auto high = static_cast<std::uint32_t>(rings_[r].parts.size());
      while (low < high) {
        const std::uint32_t middle = low + (high - low + 1) / 2;
        Share share{middle, shares[r].blocks};
        settle(r, share);
        if (others + bytes_of(r, share) <= arena_) {
          low = middle;
        } else {
          high = middle - 1;
        }
      }
      shares[r].kept = low;
      settle(r, shares[r]);
    }
    return shares;
  }

  void consider(const Shares& shares) {
    if (bytes_of(shares) > arena_) return;
    if (std::find_if(tried_.begin(), tried_.end(), [&](const Shares& it) { return same(it, shares); }) != tried_.end())
      return;
    tried_.push_back(shares);
    SlotPlan made = make(shares);
    const bool better = !best_ || made.plan.predicted.step_us < best_->plan.predicted.step_us ||
                        (made.plan.predicted.step_us == best_->plan.predicted.step_us && made.bytes < best_->bytes);
    if (!better) return;
    best_ = std::move(made);
    best_shares_ = shares;
  }

  static bool same(const Shares& one, const Shares& other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [](const Share& a, const Share& b) { return a.kept == b.kept && a.blocks == b.blocks; });
  }

  // A block more or less in one ring, and what that leaves for parts that stay.
  void improve() {
    constexpr int most_tries = 64;
    for (int tries = 0; best_ && tries < most_tries;) {
      const double before = best_->plan.predicted.step_us;
      const Shares from = best_shares_;
      for (std::size_t r = 0; r < rings_.size() && tries < most_tries; ++r) {
        for (int blocks : {1, -1}) {
          for (std::uint32_t gives = 0; gives < 3; ++gives, ++tries) {
            Shares next = from;
            next[r].blocks = static_cast<std::uint32_t>(std::max(0, static_cast<int>(next[r].blocks) + blocks));
            next[r].kept -= std::min(next[r].kept, gives);
            settle(r, next[r]);
            consider(topped_up(next, 0));
          }
        }
      }
      if (best_->plan.predicted.step_us >= before) return;
    }
  }

  // ---- from shares to a plan ----

  struct Move {  // one item into its place
    std::uint32_t item = 0;
    std::uint32_t after = 0;
    std::uint32_t before = 0;
    std::uint64_t offset = 0;
  };

  [[nodiscard]] SlotPlan make(const Shares& shares) const {
    SlotPlan made;
    made.block_of_part.assign(layout_.parts.size(), none);
    std::vector<Move> loads;
    std::vector<Move> drops;
    std::vector<bool> initial(layout_.parts.size(), true);
    std::uint64_t top = 0;
    std::vector<std::uint64_t> place(layout_.parts.size(), 0);
    for (std::size_t r = 0; r < rings_.size(); ++r) take_turns(r, shares[r], made, top, place, initial, loads, drops);
    for (std::uint32_t part = 0; part < layout_.parts.size(); ++part) {
      if (made.block_of_part[part] != none) continue;
      place[part] = top;
      top += layout_.parts[part].bytes;
    }
    settle_items(made.plan, place, initial, top);
    made.bytes = top + layout_.fixed_bytes;
    order_ops(made.plan, loads, drops);
    finish(made.plan);
    return made;
  }

  void take_turns(std::size_t r, const Share& share, SlotPlan& made, std::uint64_t& top,
                  std::vector<std::uint64_t>& place, std::vector<bool>& initial, std::vector<Move>& loads,
                  std::vector<Move>& drops) const {
    const Ring& ring = rings_[r];
    const auto first = static_cast<std::uint32_t>(made.blocks.size());
    const std::uint64_t base = top;
    made.blocks.insert(made.blocks.end(), share.blocks, ring.bytes);
    top += share.blocks * ring.bytes;
    outside(r, first, base, made, place, initial);
    std::vector<std::uint32_t> turns;
    for (std::size_t nth = 0; nth < ring.parts.size(); ++nth) {
      if (!stays(r, nth, share.kept)) turns.push_back(ring.parts[nth]);
    }
    for (std::size_t i = 0; i < turns.size(); ++i) {
      const std::size_t block = i % share.blocks;
      const bool wraps = i < share.blocks;
      const std::size_t from =
          wraps ? block + (turns.size() - 1 - block) / share.blocks * share.blocks : i - share.blocks;
      made.block_of_part[turns[i]] = first + static_cast<std::uint32_t>(block);
      place[turns[i]] = base + block * ring.bytes;
      initial[turns[i]] = wraps;
      move_part(turns[i], turns[from], place[turns[i]], loads, drops);
    }
  }

  // Units that are not in the order: their parts come on demand.
  void outside(std::size_t r, std::uint32_t first, std::uint64_t base, SlotPlan& made,
               std::vector<std::uint64_t>& place, std::vector<bool>& initial) const {
    std::vector<std::uint32_t> next(unit_count(), 0);
    for (std::uint32_t part = 0; part < layout_.parts.size(); ++part) {
      const SlotPart& it = layout_.parts[part];
      if (it.ring != r || in_order_[it.unit]) continue;
      const std::uint32_t block = next[it.unit]++;
      made.block_of_part[part] = first + block;
      place[part] = base + block * rings_[r].bytes;
      initial[part] = false;
    }
  }

  void move_part(std::uint32_t part, std::uint32_t from, std::uint64_t place, std::vector<Move>& loads,
                 std::vector<Move>& drops) const {
    const SlotPart& it = layout_.parts[part];
    for (std::uint32_t item : layout_.parts[from].items) drops.push_back({item, position_[from], 0, 0});
    for (std::size_t k = 0; k < it.items.size(); ++k) {
      loads.push_back({it.items[k], position_[from], position_[part], place + it.offsets[k]});
    }
  }

  void settle_items(Plan& plan, const std::vector<std::uint64_t>& place, const std::vector<bool>& initial,
                    std::uint64_t fixed_base) const {
    const auto settle_item = [&](std::uint32_t item, std::uint64_t offset, bool there) {
      plan.homes.push_back({item, offset});
      const Item& it = problem_.items[item];
      if (it.uses.empty()) return;
      if (it.transient) {
        plan.births.push_back({item, offset});
      } else if (there) {
        plan.initial_resident.push_back({item, offset});
      }
    };
    for (std::uint32_t part = 0; part < layout_.parts.size(); ++part) {
      const SlotPart& it = layout_.parts[part];
      for (std::size_t k = 0; k < it.items.size(); ++k) {
        settle_item(it.items[k], place[part] + it.offsets[k], initial[part]);
      }
    }
    for (std::size_t k = 0; k < layout_.fixed.size(); ++k) {
      settle_item(layout_.fixed[k], fixed_base + layout_.fixed_offsets[k], true);
    }
  }

  // Of each unit's end the drops first, then the loads, the most urgent one first.
  void order_ops(Plan& plan, std::vector<Move>& loads, std::vector<Move>& drops) const {
    const auto count = static_cast<std::uint32_t>(order_.size());
    const auto lead = [&](const Move& move) { return (move.before + count - move.after - 1) % count; };
    std::stable_sort(drops.begin(), drops.end(), [](const Move& a, const Move& b) { return a.after < b.after; });
    std::stable_sort(loads.begin(), loads.end(), [&](const Move& a, const Move& b) {
      return a.after != b.after ? a.after < b.after : lead(a) < lead(b);
    });
    auto drop = drops.begin();
    auto load = loads.begin();
    for (std::uint32_t p = 0; p < count; ++p) {
      const auto after = static_cast<std::int32_t>(p);
      for (; drop != drops.end() && drop->after == p; ++drop)
        plan.ops.push_back({OpKind::drop, drop->item, after, 0, 0});
      for (; load != loads.end() && load->after == p; ++load) {
        plan.ops.push_back({OpKind::load, load->item, after, static_cast<std::int32_t>(load->before), load->offset});
      }
    }
  }

  void finish(Plan& plan) const {
    for (auto* places : {&plan.initial_resident, &plan.births, &plan.homes}) {
      std::sort(places->begin(), places->end(), [&](const Place& a, const Place& b) {
        return problem_.items[a.item].name < problem_.items[b.item].name;
      });
    }
    const Simulation run = simulate(problem_, compile(problem_, uses_, plan), {});
    plan.predicted = {run.step_us,       run.stall_us,      run.peak_bytes,   0,
                      run.link_bytes[0], run.link_bytes[1], run.link_bytes[2]};
  }

  const Problem& problem_;
  const std::vector<std::uint32_t>& order_;
  const SlotLayout& layout_;
  const Rows<UnitUse> uses_;
  const std::uint64_t arena_;
  std::vector<Ring> rings_;
  std::vector<bool> in_order_;           // by unit
  std::vector<std::uint32_t> position_;  // by part
  std::uint64_t own_bytes_ = 0;          // of parts that no budget makes stream
  std::vector<Shares> tried_;
  std::optional<SlotPlan> best_;
  Shares best_shares_;
};

}  // namespace

SlotPlan plan_slots(const Problem& problem, const std::vector<std::uint32_t>& order, const SlotLayout& layout) {
  validate(problem);
  SlotPlan made = SlotPlanner(problem, order, layout).run();
  made.plan.problem_digest = problem_digest(problem);
  made.plan.predicted.bound_us = page_bound(problem).step_us;
  return made;
}

}  // namespace hoist::plan
