// SPDX-License-Identifier: Apache-2.0
// Replays that cannot have their bytes, or that will never end: who has failed, what still runs, and how every wait
// ends. Nothing is concluded from time alone; doc/design/graphs.md.
#include <exception>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "exec/graph_runner.hpp"

namespace hoist {
namespace {

constexpr auto between_looks = std::chrono::milliseconds(50);

void nap() { std::this_thread::sleep_for(std::chrono::microseconds(50)); }

// What a call says that is refused whenever it is asked; "" for one that is answered.
template <typename Call>
std::string refusal(Call&& call) noexcept {
  std::string why;
  for (int i = 0; i < 3; ++i) {
    try {
      call();
      return "";
    } catch (const std::exception& error) {
      why = error.what();
    }
  }
  return why;
}

}  // namespace

// A stream that has failed says so to whoever asks it anything; a device that is lost answers nothing.
GraphRunner::Loss GraphRunner::find_loss() noexcept {
  Loss loss;
  loss.why = marks_.failure();
  if (loss.why.empty()) {
    std::uint64_t free = 0;
    std::uint64_t total = 0;
    loss.why = refusal([&] { device_->query_memory(free, total); });
  }
  loss.replay = !loss.why.empty();
  const std::string aside = refusal([&] { static_cast<void>(device_->is_capturing(aside_)); });
  loss.copies = !aside.empty();
  if (!loss.replay) loss.why = aside;
  return loss;
}

// Whether something is lost; asked of the device now and then.
bool GraphRunner::look() {
  const auto now = Clock::now();
  if (!loss_ && now - looked_ >= between_looks) {
    loss_ = find_loss();
    looked_ = now;
  }
  return static_cast<bool>(loss_);
}

// Replays that have begun go on without their bytes. Only the newest can be in need of any: the one before has ended.
void GraphRunner::release(const GraphProgram& program, bool forced) {
  const std::uint64_t last = hold_heads();
  if (!loss_) loss_ = find_loss();
  const bool spoiled = load(over()) == 0;
  if (spoiled) {
    log(HOIST_LOG_ERROR, "a replay is let go without all of its bytes, what it computes is worth nothing",
        loss_ ? ": " : "", loss_.why);
  } else if (loss_) {
    log(HOIST_LOG_WARNING, "copies beside a replay failed, and are made anew: ", loss_.why);
  }
  if (loss_ && spoiled) {
    std::lock_guard lock(mutex_);
    untold_ = loss_.why;
  }
  run_dry(forced);
  end_replay();
  set_words(0, 0);
  store(finished(), static_cast<std::uint32_t>(last));
  {
    std::lock_guard lock(mutex_);
    aborted_ += spoiled ? 1 : 0;
    submitted_ = last;
    broken_ = true;
    abort_wanted_ = false;
  }
  marks_.forget_failed();
  bring_back(program);
  loss_ = {};
}

// What has been submitted runs: it waits for units alone that have all of their bytes, or that are forced, since
// nobody reads any more. Copies that came after their unit was let go would write what it reads.
void GraphRunner::run_dry(bool forced) {
  std::atomic<bool> ran{false};
  const auto wait = [&] {
    const std::string why = refusal([&] { device_->stream_wait(aside_); });
    if (!why.empty()) log(HOIST_LOG_ERROR, "copies beside a replay failed: ", why);
    ran = true;
  };
  std::thread waiter;
  try {
    waiter = std::thread(wait);
  } catch (const std::system_error&) {
    if (forced || loss_.replay) set_words(1, 1);
    return wait();  // no thread can be had: once must do
  }
  while (!ran) {
    static_cast<void>(look());
    if (forced || loss_.replay) set_words(1, 1);
    nap();
  }
  waiter.join();
  loss_.copies = loss_.copies || !refusal([&] { static_cast<void>(device_->is_capturing(aside_)); }).empty();
}

// A replay that is alive passes all of its waits, and says so at its last unit's end.
void GraphRunner::end_replay() {
  while (load(over()) == 0) {
    static_cast<void>(look());
    if (loss_.replay) return;
    for (std::uint32_t p = 0; p < positions_; ++p) store(ready(p), 1);
    nap();
  }
}

// One that has failed takes nothing any more.
void GraphRunner::renew_aside() noexcept {
  try {
    void* next = device_->stream_create_aside();
    device_->stream_destroy(std::exchange(aside_, next));
  } catch (const std::exception& error) {
    log(HOIST_LOG_ERROR, "the stream aside of graphs failed, and no other can be had: ", error.what());
  }
}

std::string GraphRunner::try_to_bring_back(const GraphProgram& program) noexcept {
  try {
    for (std::size_t next = 0; next < program.initial.size();) next = submit_copies(program.initial, next);
    device_->stream_wait(aside_);
    prime(program);
    return "";
  } catch (const std::exception& error) {
    return text("", error.what());
  }
}

// True: everything is there as a step begins.
bool GraphRunner::bring_back(const GraphProgram& program) {
  static_cast<void>(hold_heads());
  std::string why;
  for (int i = 0; i < 2; ++i) {
    if (!refusal([&] { static_cast<void>(device_->is_capturing(aside_)); }).empty()) renew_aside();
    why = try_to_bring_back(program);
    if (why.empty()) break;
  }
  if (!why.empty()) log(HOIST_LOG_ERROR, "bytes that a replay needs could not be brought back: ", why);
  {
    std::lock_guard lock(mutex_);
    broken_ = !why.empty();
    if (broken_ && failure_.empty()) starving_since_ = Clock::now();
    failure_ = why;
    releasing_ = false;
  }
  changed_.notify_all();
  return why.empty();
}

// Gives the newest replay that has begun: no other begins before they are let go.
std::uint64_t GraphRunner::hold_heads() {
  std::lock_guard lock(mutex_);
  releasing_ = true;
  return begun_;
}

void GraphRunner::set_words(std::uint32_t ready_value, std::uint32_t done_value) noexcept {
  for (std::uint32_t p = 0; p < positions_; ++p) {
    store(ready(p), ready_value);
    store(done(p), done_value);
  }
}

}  // namespace hoist
