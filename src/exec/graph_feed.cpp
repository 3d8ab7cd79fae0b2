// SPDX-License-Identifier: Apache-2.0
// A replay's copies, submitted to the stream aside.
#include <exception>

#include "base/log.hpp"
#include "exec/graph_runner.hpp"

namespace hoist {
namespace {

// Below it copies of one unit go as a batch; above it a batch has no advantage.
constexpr std::uint64_t small_copy = std::uint64_t{1} << 20;

}  // namespace

void GraphRunner::run_step(const GraphProgram& program, std::uint64_t number) {
  bool broken = false;
  {
    std::lock_guard lock(mutex_);
    broken = broken_;
  }
  if ((broken && !bring_back(program)) || !submit_step(program, number)) return release(program, false);
  std::lock_guard lock(mutex_);
  submitted_ = number;
  failure_.clear();
  if (begun_ == submitted_) abort_wanted_ = false;
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
    if (abort_wanted_ || look()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void GraphRunner::refused(const std::string& why) {
  log(HOIST_LOG_WARNING, "a replay waits, its bytes were refused and are asked for again: ", why);
  std::lock_guard lock(mutex_);
  if (failure_.empty()) starving_since_ = Clock::now();
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

void GraphRunner::prime(const GraphProgram& program) {
  for (std::uint32_t p = 0; p < positions_; ++p) {
    store(ready(p), program.ready[p] ? 1 : 0);
    store(done(p), 0);
  }
}

}  // namespace hoist
