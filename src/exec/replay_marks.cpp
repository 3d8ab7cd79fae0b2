// SPDX-License-Identifier: Apache-2.0
#include "exec/replay_marks.hpp"

#include <algorithm>
#include <exception>

namespace hoist {

ReplayMarks::~ReplayMarks() {
  for (const Mark& mark : marks_) {
    if (mark.event != nullptr) device_->event_destroy(mark.event);
  }
}

void ReplayMarks::note(void* stream, const std::string& lost) noexcept {
  const std::lock_guard lock(mutex_);
  auto found = std::find_if(marks_.begin(), marks_.end(), [&](const Mark& mark) { return mark.stream == stream; });
  try {
    if (found == marks_.end()) found = marks_.insert(found, Mark{stream, nullptr, ""});
    found->lost = lost;
  } catch (const std::exception&) {
    return;  // without memory for a mark, the launch is as one that hoist does not see
  }
  if (lost.empty()) record(*found);
}

// A refusal leaves the mark of the launch before. A stream that has failed in the meantime refuses for good.
void ReplayMarks::record(Mark& mark) noexcept {
  for (int i = 0; i < 2; ++i) {
    try {
      if (mark.event == nullptr) mark.event = device_->event_create();
      device_->event_record(mark.event, mark.stream);
      return;
    } catch (const std::exception& error) {
      if (i == 0) continue;
      try {
        static_cast<void>(device_->is_capturing(mark.stream));
      } catch (const std::exception&) {
        mark.lost = error.what();
      }
    }
  }
}

bool ReplayMarks::has(void* stream) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(marks_.begin(), marks_.end(), [&](const Mark& mark) { return mark.stream == stream; });
}

// Asked twice: a refusal of the question alone is no failure of the stream.
std::string ReplayMarks::failure_of(const Mark& mark, bool* reached) noexcept {
  std::string why = mark.lost;
  for (int i = 0; i < 2 && mark.lost.empty() && mark.event != nullptr; ++i) {
    try {
      const bool now = device_->event_poll(mark.event);
      if (reached != nullptr) *reached = now;
      return "";
    } catch (const std::exception& error) {
      why = error.what();
    }
  }
  return why;
}

std::string ReplayMarks::failure(void* but_for) noexcept {
  const std::lock_guard lock(mutex_);
  for (const Mark& mark : marks_) {
    if (mark.stream == but_for) continue;
    std::string why = failure_of(mark);
    if (!why.empty()) return why;
  }
  return "";
}

bool ReplayMarks::pending() noexcept {
  const std::lock_guard lock(mutex_);
  return std::any_of(marks_.begin(), marks_.end(), [&](const Mark& mark) {
    bool reached = true;
    return failure_of(mark, &reached).empty() && !reached;
  });
}

void ReplayMarks::forget_failed() noexcept {
  const std::lock_guard lock(mutex_);
  const auto failed = [&](const Mark& mark) {
    if (failure_of(mark).empty()) return false;
    if (mark.event != nullptr) device_->event_destroy(mark.event);
    return true;
  };
  marks_.erase(std::remove_if(marks_.begin(), marks_.end(), failed), marks_.end());
}

}  // namespace hoist
