// SPDX-License-Identifier: Apache-2.0
#include "base/fork.hpp"

#include <pthread.h>

#include <atomic>

namespace hoist {
namespace {

std::atomic<std::uint32_t> generation{0};

void count_child() { generation.fetch_add(1, std::memory_order_relaxed); }

// At load, so that no handle is older than the handler.
[[maybe_unused]] const int installed = pthread_atfork(nullptr, nullptr, count_child);

}  // namespace

std::uint32_t fork_generation() noexcept { return generation.load(std::memory_order_relaxed); }

}  // namespace hoist
