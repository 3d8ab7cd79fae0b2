// SPDX-License-Identifier: Apache-2.0
#include "backends/host/throttle.hpp"

#include <algorithm>
#include <thread>

namespace hoist_backend::host {
namespace {

using Microseconds = std::chrono::duration<double, std::micro>;

template <typename Clock>
typename Clock::time_point after(typename Clock::time_point begin, double us) {
  return begin + std::chrono::duration_cast<typename Clock::duration>(Microseconds(us));
}

}  // namespace

Throttle::Throttle(const Options& options)
    : latency_us_(options.latency_us), duplex_factor_(options.duplex_factor), as_of_(Clock::now()) {
  links_[HOIST_COPY_H2D].bytes_per_us = options.h2d_bytes_per_us;
  links_[HOIST_COPY_D2H].bytes_per_us = options.d2h_bytes_per_us;
  for (Link& link : links_) link.free_since = as_of_;
}

Throttle::Hold::Hold(Throttle& throttle, hoist_copy_kind_t kind, std::uint64_t bytes) : throttle_(throttle), link_(-1) {
  if (kind != HOIST_COPY_H2D && kind != HOIST_COPY_D2H) return;
  const double rate = throttle.links_[kind].bytes_per_us;
  if (rate == 0 && throttle.latency_us_ == 0) return;
  link_ = kind;
  throttle.begin(link_, throttle.latency_us_ + (rate == 0 ? 0 : static_cast<double>(bytes) / rate));
}

Throttle::Hold::~Hold() {
  if (link_ >= 0) throttle_.finish(link_);
}

// Piece by piece: while both links carry a copy each works at duplex_factor of its rate.
void Throttle::advance(Clock::time_point now) {
  while (as_of_ < now) {
    const double factor = links_[0].busy && links_[1].busy ? duplex_factor_ : 1;
    double step = std::chrono::duration_cast<Microseconds>(now - as_of_).count();
    for (const Link& link : links_) {
      if (link.busy && link.left_us > 0) step = std::min(step, link.left_us / factor);
    }
    const Clock::time_point next = std::min(now, after<Clock>(as_of_, step) + Clock::duration(1));
    for (Link& link : links_) {
      if (!link.busy) continue;
      link.left_us -= step * factor;
      if (link.left_us > 1e-3) continue;
      link.busy = false;
      link.free_since = next;
    }
    as_of_ = next;
  }
}

void Throttle::begin(int which, double work_us) {
  std::unique_lock lock(mutex_);
  Link& link = links_[which];
  const Clock::time_point asked = Clock::now();
  advance(asked);
  while (link.busy) {
    changed_.wait_until(lock, after<Clock>(as_of_, link.left_us));
    advance(Clock::now());
  }
  // A late waking must not leave the link idle: the copy counts from when the link was free.
  const double waited = std::chrono::duration_cast<Microseconds>(as_of_ - std::max(asked, link.free_since)).count();
  link.busy = true;
  link.left_us = std::max(work_us - std::max(waited, 0.0), 1e-2);
}

void Throttle::finish(int which) {
  std::unique_lock lock(mutex_);
  Link& link = links_[which];
  for (advance(Clock::now()); link.busy; advance(Clock::now())) {
    const double factor = links_[0].busy && links_[1].busy ? duplex_factor_ : 1;
    changed_.wait_until(lock, after<Clock>(as_of_, link.left_us / factor));
  }
  changed_.notify_all();
}

void sleep_us(double us) {
  if (us > 0) std::this_thread::sleep_for(Microseconds(us));
}

}  // namespace hoist_backend::host
