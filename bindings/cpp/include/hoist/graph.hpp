// SPDX-License-Identifier: Apache-2.0
// Work that is captured once and launched again.
#pragma once

#include "hoist/device.hpp"
#include "hoist/graph.h"
#include "hoist/handle.hpp"

namespace hoist {

class Graph : public detail::Handle<hoist_graph_t, hoist_graph_destroy> {
 public:
  using Handle::Handle;
  // Ends what capture_begin began. Callables that submit_host keeps run once: use the form with user_data, whose data
  // lives as long as the graph.
  explicit Graph(Stream& captured) : Handle(make(hoist_capture_end, captured.get())) {}

  void launch(Stream& stream) { check(hoist_graph_launch(get(), stream.get())); }
};

inline void capture_begin(Stream& stream) { check(hoist_capture_begin(stream.get())); }
inline Graph capture_end(Stream& stream) { return Graph(stream); }

}  // namespace hoist
