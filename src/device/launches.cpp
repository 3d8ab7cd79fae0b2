// SPDX-License-Identifier: Apache-2.0
#include "device/launches.hpp"

#include <utility>

namespace hoist {

void Launches::begin_capture(void* stream) {
  const std::lock_guard lock(mutex_);
  captures_[stream].clear();
}

void Launches::expect(void* stream, std::weak_ptr<LaunchListener> listener) {
  const std::lock_guard lock(mutex_);
  const auto found = captures_.find(stream);
  if (found != captures_.end()) found->second.push_back(std::move(listener));
}

void Launches::end_capture(void* stream, void* graph) {
  const std::lock_guard lock(mutex_);
  const auto found = captures_.find(stream);
  if (found == captures_.end()) return;
  Listeners listeners = std::move(found->second);
  captures_.erase(found);
  if (graph != nullptr && !listeners.empty())
    by_graph_[graph] = std::make_shared<const Listeners>(std::move(listeners));
}

void Launches::forget(void* graph) {
  const std::lock_guard lock(mutex_);
  by_graph_.erase(graph);
}

std::shared_ptr<const Launches::Listeners> Launches::of(void* graph) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_graph_.find(graph);
  return found == by_graph_.end() ? nullptr : found->second;
}

Launches::Listeners Launches::all() const {
  const std::lock_guard lock(mutex_);
  Listeners all;
  for (const auto& [graph, listeners] : by_graph_) all.insert(all.end(), listeners->begin(), listeners->end());
  return all;
}

}  // namespace hoist
