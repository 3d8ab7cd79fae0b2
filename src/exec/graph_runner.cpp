// SPDX-License-Identifier: Apache-2.0
#include "exec/graph_runner.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/log.hpp"

namespace hoist {
namespace {

// Below it copies of one unit go as a batch; above it a batch has no advantage.
constexpr std::uint64_t small_copy = std::uint64_t{1} << 20;

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void nap() { std::this_thread::sleep_for(std::chrono::microseconds(50)); }

}  // namespace

GraphRunner::GraphRunner(std::shared_ptr<Device> device, std::uint32_t positions)
    : device_(std::move(device)), positions_(positions) {
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

void GraphRunner::capture_head(void* stream) { device_->host_function(stream, on_head, this, 0); }

// Whoever waits takes the word back: the next replay waits anew.
void GraphRunner::capture_begin(void* stream, std::uint32_t position) {
  const hoist_word_op_t ops[] = {{ready(position), 1, HOIST_WORD_WAIT}, {ready(position), 0, HOIST_WORD_WRITE}};
  device_->words_submit(stream, 2, ops);
}

void GraphRunner::capture_end(void* stream, std::uint32_t position) {
  const hoist_word_op_t op{done(position), 1, HOIST_WORD_WRITE};
  device_->words_submit(stream, 1, &op);
}

// On a thread of the device. The wait holds up the replay's stream, whose next op this is.
void GraphRunner::on_head(void* self) {
  auto& it = *static_cast<GraphRunner*>(self);
  {
    std::unique_lock lock(it.mutex_);
    it.changed_.wait(lock, [&] { return (!it.held_ && !it.releasing_) || it.stopping_; });
    ++it.begun_;
    const double now = now_us();
    if (it.head_us_ != 0) it.last_us_ = now - it.head_us_;
    it.head_us_ = now;
  }
  it.changed_.notify_all();
}

void GraphRunner::pause() {
  {
    std::unique_lock lock(mutex_);
    held_ = true;
    changed_.wait(lock, [&] { return submitted_ == begun_; });
  }
  device_->stream_wait(aside_);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !abort_wanted_ && !releasing_; });
}

void GraphRunner::go_on(std::shared_ptr<const GraphProgram> program) {
  prime(*program);
  {
    std::lock_guard lock(mutex_);
    program_ = std::move(program);
    broken_ = false;
    failure_.clear();
    held_ = false;
    head_us_ = 0;
  }
  changed_.notify_all();
}

void GraphRunner::go_on_broken(std::shared_ptr<const GraphProgram> program, std::string why) {
  {
    std::lock_guard lock(mutex_);
    program_ = std::move(program);
    broken_ = true;
    failure_ = std::move(why);
    held_ = false;
    head_us_ = 0;
  }
  changed_.notify_all();
}

void GraphRunner::abort() {
  std::unique_lock lock(mutex_);
  const auto quiet = [&] {
    return submitted_ == begun_ && load(2 * positions_) == static_cast<std::uint32_t>(submitted_);
  };
  // What is just ending is not in need of it.
  const auto patience = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  while (!quiet() && failure_.empty() && std::chrono::steady_clock::now() < patience) {
    lock.unlock();
    nap();
    lock.lock();
  }
  if (quiet() || abort_wanted_) return;
  abort_wanted_ = true;
  changed_.notify_all();
  changed_.wait(lock, [&] { return !abort_wanted_; });
}

std::uint64_t GraphRunner::begun() const {
  std::lock_guard lock(mutex_);
  return begun_;
}

bool GraphRunner::stopping() const {
  std::lock_guard lock(mutex_);
  return stopping_;
}

GraphRunner::Status GraphRunner::status() const {
  std::lock_guard lock(mutex_);
  Status status;
  status.begun = begun_;
  status.ended = submitted_ - static_cast<std::uint32_t>(static_cast<std::uint32_t>(submitted_) - load(2 * positions_));
  status.aborted = aborted_;
  status.last_us = last_us_;
  status.held = held_;
  status.failure = failure_;
  return status;
}

void GraphRunner::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return begun_ > submitted_ || stopping_ || abort_wanted_; });
    if (stopping_) return;
    const auto program = program_;
    const std::uint64_t number = submitted_ + 1;
    const bool begins = begun_ > submitted_;
    lock.unlock();
    if (begins) {
      run_step(*program, number);
    } else {
      let_go(number - 1);
      bring_back(*program);
    }
    lock.lock();
    if (begins) ++submitted_;
    if (!begins || begun_ == submitted_) abort_wanted_ = false;
    changed_.notify_all();
  }
}

void GraphRunner::run_step(const GraphProgram& program, std::uint64_t number) {
  bool broken = false;
  {
    std::lock_guard lock(mutex_);
    broken = broken_;
  }
  next_ = 0;
  if ((!broken || bring_back(program)) && submit_step(program, number)) return;
  release_step(program);
  store(2 * positions_, static_cast<std::uint32_t>(number));
  bring_back(program);
}

// False where it was given up. What a device refuses is asked for again: the graph waits as long.
bool GraphRunner::submit_step(const GraphProgram& program, std::uint64_t number) {
  next_ = 0;
  for (bool first = true;;) {
    try {
      while (next_ < program.step.size()) {
        next_ = submit_some(program, next_);
        first = true;
      }
      const hoist_word_op_t end{finished(), static_cast<std::uint32_t>(number), HOIST_WORD_WRITE};
      device_->words_submit(aside_, 1, &end);
      return true;
    } catch (const std::exception& error) {
      if (first) refused(error.what());
      first = false;
    }
    if (abort_wanted_ || stopping()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void GraphRunner::refused(const std::string& why) {
  log(HOIST_LOG_WARNING, "a replay waits, its bytes were refused and are asked for again: ", why);
  std::lock_guard lock(mutex_);
  failure_ = why;
}

// What throws has submitted nothing. Gives the first action that is still to come.
std::size_t GraphRunner::submit_some(const GraphProgram& program, std::size_t from) {
  const GraphAction& action = program.step[from];
  switch (action.kind) {
    case GraphAction::Kind::await:
    case GraphAction::Kind::tell:
      return submit_words(program.step, from);
    case GraphAction::Kind::poison:
      device_->fill(aside_, action.device, 0xFF, action.bytes);
      return from + 1;
    case GraphAction::Kind::copy:
      return submit_copies(program.step, from);
  }
  return from + 1;
}

std::size_t GraphRunner::submit_words(const std::vector<GraphAction>& actions, std::size_t from) {
  ops_.clear();
  std::size_t next = from;
  for (; next < actions.size(); ++next) {
    const GraphAction& action = actions[next];
    if (action.kind == GraphAction::Kind::tell) {
      ops_.push_back({ready(action.position), 1, HOIST_WORD_WRITE});
    } else if (action.kind == GraphAction::Kind::await) {
      ops_.push_back({done(action.position), 1, HOIST_WORD_WAIT});
      ops_.push_back({done(action.position), 0, HOIST_WORD_WRITE});
    } else {
      break;
    }
  }
  device_->words_submit(aside_, ops_.size(), ops_.data());
  return next;
}

std::size_t GraphRunner::submit_copies(const std::vector<GraphAction>& actions, std::size_t from) {
  to_.clear();
  from_.clear();
  bytes_.clear();
  std::size_t next = from;
  for (; next < actions.size() && actions[next].kind == GraphAction::Kind::copy; ++next) {
    if (next != from && actions[next].bytes > small_copy) break;
    to_.push_back(actions[next].device);
    from_.push_back(actions[next].host);
    bytes_.push_back(actions[next].bytes);
    if (actions[next].bytes > small_copy) {
      ++next;
      break;
    }
  }
  if (to_.size() == 1) {
    device_->copy(aside_, HOIST_COPY_H2D, to_[0], from_[0], bytes_[0]);
  } else {
    device_->copy_batch(aside_, HOIST_COPY_H2D, to_.size(), to_.data(), from_.data(), bytes_.data());
  }
  return next;
}

void GraphRunner::hold(bool on) {
  {
    std::lock_guard lock(mutex_);
    releasing_ = on;
  }
  changed_.notify_all();
}

void GraphRunner::set_words(std::uint32_t ready_value, std::uint32_t done_value) noexcept {
  for (std::uint32_t p = 0; p < positions_; ++p) {
    store(2 * p, ready_value);
    store(2 * p + 1, done_value);
  }
}

// What has been submitted runs: it waits for units alone that have all of their bytes. Copies that came after their
// unit was let go would write what it reads.
void GraphRunner::run_dry() {
  try {
    const hoist_word_op_t end{dry(), static_cast<std::uint32_t>(++drained_), HOIST_WORD_WRITE};
    device_->words_submit(aside_, 1, &end);
    while (load(2 * positions_ + 1) != static_cast<std::uint32_t>(drained_)) {
      if (stopping()) set_words(1, 1);  // no replay will end any more
      nap();
    }
  } catch (const std::exception&) {
    // The device takes no words either: the wait below is as good, but that it cannot be ended.
  }
  try {
    device_->stream_wait(aside_);
  } catch (const std::exception& error) {
    log(HOIST_LOG_ERROR, "the stream aside of graphs failed: ", error.what());
  }
}

// A replay whose copies will not come all: once those that were submitted have run it goes on without the others.
void GraphRunner::release_step(const GraphProgram& program) {
  log(HOIST_LOG_ERROR, "a replay was let go without all of its bytes: what it computed is worth nothing");
  hold(true);
  run_dry();
  // The word of the last unit's end is taken back by what was submitted, or it stands.
  const std::uint32_t last = static_cast<std::uint32_t>(program.order.size()) - 1;
  const auto end = program.step.begin() + static_cast<std::ptrdiff_t>(next_);
  const bool awaited = std::any_of(program.step.begin(), end, [&](const GraphAction& action) {
    return action.kind == GraphAction::Kind::await && action.position == last;
  });
  while (!awaited && load(2 * last + 1) == 0 && !stopping()) {
    for (std::uint32_t p = 0; p < positions_; ++p) store(2 * p, 1);
    nap();
  }
  set_words(0, 0);
  std::lock_guard lock(mutex_);
  ++aborted_;
  broken_ = true;
}

// All copies have been submitted, and something does not come: every wait is satisfied until all has run.
void GraphRunner::let_go(std::uint64_t number) {
  hold(true);
  while (load(2 * positions_) != static_cast<std::uint32_t>(number)) {
    set_words(1, 1);
    nap();
  }
  set_words(0, 0);
  std::lock_guard lock(mutex_);
  ++aborted_;
  broken_ = true;
}

// True: everything is there as a step begins.
bool GraphRunner::bring_back(const GraphProgram& program) {
  hold(true);
  std::string why;
  try {
    for (std::size_t next = 0; next < program.initial.size();) next = submit_copies(program.initial, next);
    device_->stream_wait(aside_);
    prime(program);
  } catch (const std::exception& error) {
    why = error.what();
    log(HOIST_LOG_ERROR, "bytes that a replay needs could not be brought back: ", why);
  }
  {
    std::lock_guard lock(mutex_);
    broken_ = !why.empty();
    failure_ = why;
  }
  hold(false);
  return why.empty();
}

void GraphRunner::prime(const GraphProgram& program) {
  for (std::uint32_t p = 0; p < positions_; ++p) {
    store(2 * p, program.ready[p] ? 1 : 0);
    store(2 * p + 1, 0);
  }
}

}  // namespace hoist
