// SPDX-License-Identifier: Apache-2.0
#include "trace/recorder.hpp"

#include "base/error.hpp"
#include "trace/chrome_trace.hpp"
#include "trace/timeline.hpp"

namespace hoist {

void Recorder::write(const std::string& path) const {
  ChromeTrace trace;
  name_rows(trace, false);
  std::size_t next = 0;
  for (const Chapter& chapter : chapters_) {
    for (; next < chapter.end; ++next) {
      const TraceInterval& it = intervals_[next];
      const int row = static_cast<int>(it.row);
      if (is_of_units(it.row)) {
        trace.interval(row, chapter.units.at(it.index), it.begin_us, it.end_us, {{"step", it.step}});
      } else {
        trace.interval(row, chapter.items.at(it.index), it.begin_us, it.end_us,
                       {{"step", it.step}, {"bytes", it.bytes}, {"reason", reason_name(it.reason)}});
      }
    }
  }
  trace.note("dropped_intervals", text(dropped_));
  trace.write(path);
}

}  // namespace hoist
