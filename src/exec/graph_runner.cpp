// SPDX-License-Identifier: Apache-2.0
#include "exec/graph_runner.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"

namespace hoist {
namespace {

constexpr auto patience = std::chrono::seconds(1);
constexpr auto look_after = std::chrono::milliseconds(50);

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Of words nobody says that they have changed: short naps at first, longer ones later.
void nap(int before) { std::this_thread::sleep_for(std::chrono::microseconds(std::min(50 * (1 + before / 8), 1000))); }

}  // namespace

GraphRunner::GraphRunner(std::shared_ptr<Device> device, std::uint32_t positions)
    : device_(std::move(device)), positions_(positions), marks_(device_) {
  words_ = device_->words_create(2 * std::uint64_t{positions} + 2);
  try {
    aside_ = device_->stream_create_aside();
    thread_ = std::thread([this] { serve(); });
  } catch (...) {
    if (aside_ != nullptr) device_->stream_destroy(aside_);
    device_->words_destroy(words_);
    throw;
  }
}

GraphRunner::~GraphRunner() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
  device_->stream_destroy(aside_);
  device_->words_destroy(words_);
}

void GraphRunner::capture_head(void* stream) {
  device_->host_function(stream, on_head, this, 0);
  device_->expect_launches(stream, weak_from_this());
}

// Whoever waits takes the word back: the next replay waits anew.
void GraphRunner::capture_begin(void* stream, std::uint32_t position) {
  const hoist_word_op_t ops[] = {{ready(position), 1, HOIST_WORD_WAIT}, {ready(position), 0, HOIST_WORD_WRITE}};
  device_->words_submit(stream, 2, ops);
}

void GraphRunner::capture_end(void* stream, std::uint32_t position) {
  const hoist_word_op_t ops[] = {{done(position), 1, HOIST_WORD_WRITE}, {over(), 1, HOIST_WORD_WRITE}};
  device_->words_submit(stream, position + 1 == positions_ ? 2 : 1, ops);
}

// On a thread of the device. The wait holds up the replay's stream, whose next op this is.
void GraphRunner::on_head(void* self) {
  auto& it = *static_cast<GraphRunner*>(self);
  {
    std::unique_lock lock(it.mutex_);
    it.changed_.wait(lock, [&] { return (!it.held_ && !it.releasing_) || it.stopping_; });
    store(it.over(), 0);
    ++it.begun_;
    const double now = now_us();
    if (it.head_us_ != 0) it.last_us_ = now - it.head_us_;
    it.head_us_ = now;
  }
  it.changed_.notify_all();
}

std::uint64_t GraphRunner::ended() const noexcept {
  return submitted_ - static_cast<std::uint32_t>(static_cast<std::uint32_t>(submitted_) - load(finished()));
}

bool GraphRunner::is_quiet() const noexcept { return submitted_ == begun_ && ended() == begun_; }

bool GraphRunner::starves() const noexcept {
  return !failure_.empty() && submitted_ < begun_ && Clock::now() - starving_since_ > patience;
}

void GraphRunner::fail_starved() const {
  fail(HOIST_ERROR_DEVICE, text("a replay waits for bytes that the device refuses: ", failure_),
       "the call works again once the device takes them; an abort lets the replay go without");
}

void GraphRunner::require_fed() const {
  std::lock_guard lock(mutex_);
  if (starves()) fail_starved();
}

void GraphRunner::await_quiet(bool for_good) {
  for (int naps = 0;; nap(naps++)) {
    std::lock_guard lock(mutex_);
    if (is_quiet() && !abort_wanted_ && !releasing_) return;
    if (!starves()) continue;
    if (!for_good) fail_starved();
    abort_wanted_ = true;
    changed_.notify_all();
  }
}

void GraphRunner::let_heads_go() {
  {
    std::lock_guard lock(mutex_);
    held_ = false;
  }
  changed_.notify_all();
}

// All is quiet: what failed on a stream before its replay had begun.
void GraphRunner::clear_failed(const std::string& why) {
  if (why.empty()) return;
  marks_.forget_failed();
  std::lock_guard lock(mutex_);
  if (untold_.empty()) untold_ = why;
}

void GraphRunner::tell() {
  std::string why;
  {
    std::lock_guard lock(mutex_);
    why = std::exchange(untold_, "");
  }
  if (why.empty()) return;
  fail(HOIST_ERROR_DEVICE, text("a replay failed, what it computed is worth nothing: ", why),
       "this is told once: where the device goes on, replays on a stream that has not failed do, too");
}

void GraphRunner::pause() {
  {
    std::lock_guard lock(mutex_);
    held_ = true;
  }
  try {
    await_quiet(false);
    device_->stream_wait(aside_);
    clear_failed(marks_.failure());
    tell();
  } catch (...) {
    let_heads_go();
    throw;
  }
}

// Launches that hoist has seen run first: a replay must not begin when its words are gone.
void GraphRunner::pause_for_good() noexcept {
  for (int naps = 0; marks_.pending(); nap(naps++)) await_quiet(true);
  {
    std::lock_guard lock(mutex_);
    held_ = true;
  }
  await_quiet(true);
  std::lock_guard lock(mutex_);
  if (untold_.empty()) return;
  log(HOIST_LOG_ERROR, "a replay failed before its graph's budget ended: ", untold_);
}

void GraphRunner::go_on(std::shared_ptr<const GraphProgram> program) {
  prime(*program);
  {
    std::lock_guard lock(mutex_);
    program_ = std::move(program);
    broken_ = false;
    failure_.clear();
    head_us_ = 0;
  }
  let_heads_go();
}

void GraphRunner::go_on_broken(std::shared_ptr<const GraphProgram> program, std::string why) {
  {
    std::lock_guard lock(mutex_);
    program_ = std::move(program);
    broken_ = true;
    failure_ = std::move(why);
    starving_since_ = Clock::now();
    head_us_ = 0;
  }
  let_heads_go();
}

void GraphRunner::abort() {
  std::unique_lock lock(mutex_);
  const std::uint64_t newest = begun_;
  while (ended() < newest) {
    // What is just ending is not in need of it.
    const auto end = Clock::now() + std::chrono::milliseconds(100);
    for (int naps = 0; ended() < newest && failure_.empty() && Clock::now() < end; ++naps) {
      lock.unlock();
      nap(naps);
      lock.lock();
    }
    if (ended() >= newest) return;
    abort_wanted_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !abort_wanted_; });
  }
}

// A stream that failed takes no launch. On another one, what was left behind is cleared away first.
void GraphRunner::before_launch(void* stream) {
  const std::string why = marks_.failure(stream);
  const auto settled = [&] {
    std::lock_guard lock(mutex_);
    return is_quiet() && !releasing_;
  };
  for (int naps = 0; !why.empty() && !settled(); ++naps) nap(naps);
  clear_failed(why);
  tell();
}

void GraphRunner::after_launch(void* stream, const std::string& lost) noexcept { marks_.note(stream, lost); }

void GraphRunner::after_wait(void* stream) {
  if (marks_.has(stream)) tell();
}

std::uint64_t GraphRunner::begun() const {
  std::lock_guard lock(mutex_);
  return begun_;
}

GraphRunner::Status GraphRunner::status() const {
  std::lock_guard lock(mutex_);
  Status status;
  status.begun = begun_;
  status.ended = ended();
  status.aborted = aborted_;
  status.last_us = last_us_;
  status.held = held_;
  status.failure = failure_;
  return status;
}

// Whatever is under way is looked at now and then: work that fails says nothing by itself.
void GraphRunner::serve() {
  std::unique_lock lock(mutex_);
  const auto due = [&] { return begun_ > submitted_ || stopping_ || abort_wanted_; };
  for (;;) {
    bool called = true;
    if (is_quiet()) {
      changed_.wait(lock, due);
    } else {
      called = changed_.wait_for(lock, look_after, due);
    }
    if (stopping_) return;
    const auto program = program_;
    const std::uint64_t number = submitted_ + 1;
    const bool begins = begun_ > submitted_;
    lock.unlock();
    if (begins) {
      run_step(*program, number);
    } else if (called || look()) {
      release(*program, called);
    }
    lock.lock();
    changed_.notify_all();
  }
}

}  // namespace hoist
