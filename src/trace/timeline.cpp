// SPDX-License-Identifier: Apache-2.0
#include "trace/timeline.hpp"

namespace hoist {
namespace {

TraceRow row_of(const plan::Problem& problem, const plan::Interval& interval) {
  switch (interval.kind) {
    case plan::Interval::Kind::compute:
      return TraceRow::compute;
    case plan::Interval::Kind::stall:
      return TraceRow::wait;
    case plan::Interval::Kind::store:
      return TraceRow::d2h;
    case plan::Interval::Kind::load:
      break;
  }
  return problem.items[interval.index].link == plan::LinkId::peer ? TraceRow::peer : TraceRow::h2d;
}

}  // namespace

void name_rows(ChromeTrace& trace, bool with_peer) {
  trace.row(static_cast<int>(TraceRow::compute), "compute");
  trace.row(static_cast<int>(TraceRow::wait), "waits");
  trace.row(static_cast<int>(TraceRow::h2d), "h2d");
  trace.row(static_cast<int>(TraceRow::d2h), "d2h");
  if (with_peer) trace.row(static_cast<int>(TraceRow::peer), "peer");
}

void write_simulated(const plan::Problem& problem, const std::vector<plan::Interval>& step, const std::string& path) {
  ChromeTrace trace("hoist simulation");
  name_rows(trace, true);
  for (const plan::Interval& interval : step) {
    const TraceRow row = row_of(problem, interval);
    const int id = static_cast<int>(row);
    if (is_of_units(row)) {
      trace.interval(id, problem.units[interval.index].name, interval.begin_us, interval.end_us);
    } else {
      const plan::Item& item = problem.items[interval.index];
      trace.interval(id, item.name, interval.begin_us, interval.end_us, {{"bytes", item.bytes}});
    }
  }
  trace.write(path);
}

}  // namespace hoist
