// SPDX-License-Identifier: Apache-2.0
#include "trace/timeline.hpp"

namespace hoist {

void name_rows(ChromeTrace& trace, bool with_peer) {
  trace.row(static_cast<int>(TraceRow::compute), "compute");
  trace.row(static_cast<int>(TraceRow::wait), "waits");
  trace.row(static_cast<int>(TraceRow::h2d), "h2d");
  trace.row(static_cast<int>(TraceRow::d2h), "d2h");
  if (with_peer) trace.row(static_cast<int>(TraceRow::peer), "peer");
}

}  // namespace hoist
