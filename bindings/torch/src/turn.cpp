// SPDX-License-Identifier: Apache-2.0
#include "turn.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace hoist_torch {
namespace {

constexpr auto patience = std::chrono::seconds(60);
// With another thread's backward, so that steps stay whole; whoever waits for that thread's turn may be waited for by
// it.
constexpr auto patience_with_a_backward = std::chrono::milliseconds(250);

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

std::uint64_t this_thread() {
  thread_local const std::uint64_t number = next_number();
  return number;
}

bool Turn::is_inside(std::uint64_t actor) const {
  if (phase_ == Phase::backward) return runner_ == this_thread();
  return phase_ == Phase::forward && begun_ && (owner_ == actor || owner_ == this_thread());
}

bool Turn::may_take(std::uint64_t actor) const {
  if (phase_ == Phase::none) return true;
  if (phase_ == Phase::backward) return runner_ == this_thread();
  return owner_ == actor || (phase_ == Phase::waiting && dropped_);
}

// First come, first served; whoever finds a step of its own is not kept by those who cannot take it.
bool Turn::is_next(std::uint64_t actor, std::uint64_t ticket) const {
  return may_take(actor) && (phase_ == Phase::forward || phase_ == Phase::backward || queue_.front() == ticket);
}

void Turn::wait_for(std::unique_lock<std::mutex>& lock, std::uint64_t actor, std::uint64_t ticket) {
  const auto arrived = Clock::now();
  while (!is_next(actor, ticket)) {
    const auto until = std::max(arrived, since_) + patience;
    const bool waits = phase_ == Phase::waiting && queue_.front() == ticket;
    const auto next = waits ? since_ + patience_with_a_backward : until;
    if (changed_.wait_until(lock, next) == std::cv_status::no_timeout) continue;
    const auto now = Clock::now();
    if (phase_ == Phase::waiting && queue_.front() == ticket && now >= since_ + patience_with_a_backward) return;
    if (now >= std::max(arrived, since_) + patience) {
      throw std::runtime_error(
          "hoist.torch: another thread has been inside a step of this model for 60 s (wait for it, "
          "or give each thread a model)");
    }
  }
}

Left Turn::enter(std::unique_lock<std::mutex>& lock, std::uint64_t actor, Phase phase) {
  const std::uint64_t ticket = next_number();
  queue_.push_back(ticket);
  const auto out_of_the_queue = [&] {
    queue_.erase(std::find(queue_.begin(), queue_.end(), ticket));
    changed_.notify_all();
  };
  try {
    wait_for(lock, actor, ticket);
  } catch (...) {
    out_of_the_queue();
    throw;
  }
  out_of_the_queue();
  Left left = Left::nothing;
  if (phase_ == Phase::waiting) left = Left::waiting;
  if (phase_ != Phase::waiting && begun_) left = Left::broken;
  left_members_.swap(members_);
  clear(phase);
  owner_ = actor;
  return left;
}

void Turn::clear(Phase phase) {
  phase_ = phase;
  since_ = Clock::now();
  begun_ = dropped_ = failed_ = false;
  step_ = 0;
  joined_ = nested_ = 0;
  members_.clear();
}

namespace {

struct Turns {
  std::mutex mutex;
  std::unordered_map<std::int64_t, std::weak_ptr<Turn>> by_budget;
};

Turns& turns() {
  static auto* const all = new Turns;  // outlives every static
  return *all;
}

}  // namespace

std::shared_ptr<Turn> Turn::of(std::int64_t budget) {
  const std::lock_guard lock(turns().mutex);
  auto& known = turns().by_budget;
  if (auto turn = known[budget].lock()) return turn;
  // Those of budgets that are gone: nobody else would take them out.
  for (auto it = known.begin(); it != known.end();) it = it->second.expired() ? known.erase(it) : std::next(it);
  auto turn = std::make_shared<Turn>();
  known[budget] = turn;
  return turn;
}

std::size_t Turn::count() {
  const std::lock_guard lock(turns().mutex);
  return turns().by_budget.size();
}

Left Turn::take(Model* model) {
  std::unique_lock lock(mutex_);
  if (first_ == 0) first_ = this_thread();
  several_ |= first_ != this_thread();
  const Left left = enter(lock, this_thread(), Phase::forward);
  members_.push_back(model);
  return left;
}

bool Turn::is_member(const Model* model) const {
  return std::find(members_.begin(), members_.end(), model) != members_.end();
}

void Turn::forget(const Model* model) {
  const std::lock_guard lock(mutex_);
  for (auto* members : {&members_, &left_members_}) {
    members->erase(std::remove(members->begin(), members->end(), model), members->end());
  }
  if (opener_ == model) opener_ = nullptr;
}

bool Turn::join(Model* model) {
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::waiting || owner_ != this_thread() || is_member(model)) return false;
  members_.push_back(model);
  phase_ = Phase::forward;
  dropped_ = false;
  return true;
}

bool Turn::nest(Model* model) {
  const std::lock_guard lock(mutex_);
  const bool in_backward = phase_ == Phase::backward && runner_ == this_thread();
  const bool in_forward = phase_ == Phase::forward && begun_ && owner_ == this_thread() && !is_member(model);
  if (!in_backward && !in_forward) return false;
  ++nested_;
  return true;
}

bool Turn::end_nested(const Model* model) {
  const std::lock_guard lock(mutex_);
  if (nested_ == 0 || (phase_ == Phase::forward && is_member(model))) return false;
  --nested_;
  return true;
}

bool Turn::is_within_another(const Model* model) {
  const std::lock_guard lock(mutex_);
  return phase_ == Phase::forward && begun_ && owner_ == this_thread() && !is_member(model);
}

bool Turn::is_mine() {
  const std::lock_guard lock(mutex_);
  return (phase_ == Phase::forward && owner_ == this_thread()) ||
         (phase_ == Phase::backward && runner_ == this_thread());
}

void Turn::begin() {
  const std::lock_guard lock(mutex_);
  begun_ = true;
  step_ = next_number();
}

void Turn::await_backward() {
  const std::lock_guard lock(mutex_);
  if (!begun_) return;
  phase_ = Phase::waiting;
  since_ = Clock::now();
  changed_.notify_all();
}

void Turn::leave() {
  const std::lock_guard lock(mutex_);
  clear(Phase::none);
  changed_.notify_all();
}

Turn::Joined Turn::go_back(Model* model, std::uint64_t step, std::uint64_t asker) {
  std::unique_lock lock(mutex_);
  const std::uint64_t actor = asker == 0 && !several_ ? first_ : asker;
  if (phase_ == Phase::waiting && (step == step_ || (step == 0 && (owner_ == actor || actor == 0)))) {
    phase_ = Phase::backward;
    runner_ = this_thread();
    joined_ = 1;
    return {step_, false, Left::nothing};
  }
  if (is_inside(actor)) {
    ++joined_;
    return {step_, false, Left::nothing};
  }
  const Left left = enter(lock, actor, Phase::backward);
  runner_ = this_thread();
  joined_ = 1;
  members_.push_back(model);
  return {0, true, left};
}

bool Turn::end_backward(std::uint64_t step, bool failed) {
  const std::lock_guard lock(mutex_);
  if (step != step_ || joined_ == 0) return false;  // given up, and another one may be open
  failed_ |= failed;
  return --joined_ == 0 && phase_ == Phase::backward;
}

void Turn::drop(std::uint64_t step) {
  const std::lock_guard lock(mutex_);
  if (step != step_ || step == 0) return;
  dropped_ = true;
  changed_.notify_all();
}

bool Turn::note_step(std::uint64_t mispredictions, bool serving) {
  const std::lock_guard lock(mutex_);
  const bool other = mispredictions > std::exchange(mispredictions_, mispredictions);
  if (!serving) return false;
  lately_ <<= 1U;
  lately_.set(0, other);
  if (lately_.none()) told_ = false;
  return lately_.count() >= lately_.size() / 2 && !std::exchange(told_, true);
}

std::uint64_t Turn::mispredicted() {
  const std::lock_guard lock(mutex_);
  return lately_.count();
}

bool Turn::awaits_backward() {
  const std::lock_guard lock(mutex_);
  return phase_ == Phase::waiting;
}

}  // namespace hoist_torch
