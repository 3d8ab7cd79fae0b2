// SPDX-License-Identifier: Apache-2.0
#include "effect/sequence.hpp"

#include <atomic>
#include <utility>

#include "base/error.hpp"
#include "hoist/effect.h"

namespace hoist {
namespace {

// A token: 16 bits of the sequence, 24 of the run, 24 of the place.
constexpr unsigned place_bits = 24;
constexpr unsigned run_bits = 24;
constexpr std::uint64_t low_bits(unsigned bits) { return (std::uint64_t{1} << bits) - 1; }

std::uint64_t next_mark() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) % low_bits(16) + 1;  // never 0
}

}  // namespace

Sequence::Sequence(std::shared_ptr<Device> device, std::string name)
    : device_(std::move(device)), name_(std::move(name)), mark_(next_mark()), event_(device_->event_create()) {}

Sequence::~Sequence() { device_->event_destroy(event_); }

std::uint64_t Sequence::token() const noexcept {
  return mark_ << (place_bits + run_bits) | (run_ & low_bits(run_bits)) << place_bits | due_;
}

std::string Sequence::place(std::uint32_t effect) const {
  if (effect >= count()) return text("the end of \"", name_, "\"");
  return text("effect ", effect, " (\"", names_[effect], "\") of \"", name_, "\"");
}

std::uint32_t Sequence::add(const std::string& name) {
  if (open_) {
    fail(HOIST_ERROR_INVALID_STATE, text("effect \"", name, "\" is registered within a run of \"", name_, "\""),
         "register all effects of a graph before it runs");
  }
  if (count() == HOIST_EFFECT_COUNT_MAX) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("\"", name_, "\" has ", count(), " effects"), "make two sequences");
  }
  names_.push_back(name);
  return count() - 1;
}

std::uint64_t Sequence::begin() {
  if (open_) {
    fail(HOIST_ERROR_INVALID_STATE, text("a run of \"", name_, "\" is open, in which ", place(due_), " is due"),
         "end it, or abort it after an error");
  }
  ++run_;
  due_ = 0;
  open_ = true;
  return token();
}

void Sequence::require_open() const {
  if (open_) return;
  fail(HOIST_ERROR_INVALID_STATE, text("no run of \"", name_, "\" is open"), "begin one");
}

void Sequence::refuse_token(std::uint64_t given) {
  ++counters_.refused;
  const char* hint = "give the token that the effect before, or the begin of this run, has given out";
  const std::uint64_t now = token();
  if (given >> (place_bits + run_bits) != mark_) {
    fail(HOIST_ERROR_ORDER, text("token ", given, " is none of \"", name_, "\", where ", place(due_), " is due"), hint);
  }
  if (given >> place_bits != now >> place_bits) {
    fail(HOIST_ERROR_ORDER, text("token ", given, " is of another run of \"", name_, "\""), hint);
  }
  const auto at = static_cast<std::uint32_t>(given & low_bits(place_bits));
  fail(HOIST_ERROR_ORDER, text("the token is the one for ", place(at), ", but ", place(due_), " is due"), hint);
}

void Sequence::require_due(std::uint32_t effect, std::uint64_t given) {
  if (effect >= count()) {
    fail(HOIST_ERROR_NOT_FOUND, text("effect is ", effect, ", but \"", name_, "\" has ", count(), " effects"),
         "give the number that it got when it was added to the sequence");
  }
  require_open();
  if (effect != due_) {
    ++counters_.refused;
    fail(
        HOIST_ERROR_ORDER,
        text(place(effect), effect < due_ ? " came again, where " : " came where ", place(due_), " is due"),
        "run the effects in the order in which they were registered; a graph that was reordered must be compiled anew");
  }
  if (given != token()) refuse_token(given);
}

void Sequence::order_on(const std::shared_ptr<void>& stream) {
  if (!stream || stream == stream_) return;
  if (stream_) {
    device_->event_record(event_, stream_.get());
    device_->stream_wait_event(stream.get(), event_);
    ++counters_.stream_changes;
  }
  stream_ = stream;
}

std::uint64_t Sequence::done() {
  ++counters_.submitted;
  ++due_;
  return token();
}

void Sequence::end(std::uint64_t given) {
  require_open();
  if (due_ != count()) {
    ++counters_.refused;
    fail(HOIST_ERROR_ORDER, text("the run ends where ", place(due_), " is due"),
         "an effect was dropped from the graph: make its token an input of what follows; or abort the run");
  }
  if (given != token()) refuse_token(given);
  open_ = false;
  ++counters_.runs;
}

void Sequence::abort() {
  require_open();
  open_ = false;
  ++counters_.runs;
  ++counters_.aborted_runs;
}

}  // namespace hoist
