// SPDX-License-Identifier: Apache-2.0
// Events: when they are reached, who waits for which recording, what time they tell.
#include <chrono>
#include <memory>
#include <thread>

#include "device_check/check.hpp"

namespace device_check {
namespace {

std::string unrecorded(Subject& subject) {
  Stream stream(subject);
  Event never(subject);
  require(!never.poll(), "event_poll calls an event reached that was never recorded");
  DC_FAILS(HOIST_ERROR_ORDER, subject, event_wait, never.get());
  DC_FAILS(HOIST_ERROR_ORDER, subject, stream_wait_event, stream.get(), never.get());
  return "";
}

std::string poll(Subject& subject) {
  Gate gate;
  Event event(subject);
  Stream stream(subject);
  if (subject.runs_beside()) {
    stream.host(Gate::pass, &gate);
    event.record(stream);
    for (int i = 0; i < 20; ++i) {
      require(!event.poll() || gate.gave_up(),
              "event_poll says reached while the work before the event has yet to run");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    gate.open();
  } else {
    event.record(stream);
  }
  stream.wait();
  require(event.poll(), "event_poll says not reached after stream_wait");
  return "";
}

std::string wait(Subject& subject) {
  Stream stream(subject);
  Event event(subject);
  for (int i = 0; i < 3; ++i) {
    Flag flag;
    stream.host(Flag::raise_late, &flag, 20000);
    event.record(stream);
    DC_OK(subject, event_wait, event.get());
    const bool ran = flag.set.load();
    stream.wait();
    require(ran, "event_wait returned before the work before the event had run");
  }
  return "";
}

std::string several_wait(Subject& subject) {
  Stream stream(subject);
  Event event(subject);
  Flag flag;
  stream.host(Flag::raise_late, &flag, 20000);
  event.record(stream);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      if (DC_STATUS(subject, event_wait, event.get()) != HOIST_OK || !flag.set.load()) ++wrong;
    });
  }
  for (std::thread& thread : threads) thread.join();
  stream.wait();
  require(wrong == 0, std::to_string(wrong) + " of 4 threads that waited were refused or went on too early");
  return "";
}

// The numbers of host functions in the order in which they ran.
struct Log {
  std::atomic<int> next{0};
  int seen[8] = {};
  std::string words() const {
    std::string list;
    for (int i = 0; i < next.load(); ++i) list += (i == 0 ? "" : ", ") + std::to_string(seen[i]);
    return list;
  }
};
struct Entry {
  Log* log;
  int number;
  static void write(void* data) {
    const auto* entry = static_cast<const Entry*>(data);
    entry->log->seen[entry->log->next++] = entry->number;
  }
  static void write_late(void* data) {
    Flag flag;
    Flag::raise_late(&flag);
    write(data);
  }
};

std::string across_streams(Subject& subject) {
  Event event(subject);
  Log log;
  Entry one{&log, 1};
  Entry two{&log, 2};
  Stream first(subject);
  Stream second(subject);
  first.host(Entry::write_late, &one, 20000);
  event.record(first);
  DC_OK(subject, stream_wait_event, second.get(), event.get());
  second.host(Entry::write, &two);
  second.wait();
  first.wait();
  require(log.seen[0] == 1, "a stream did not wait for another's event");
  return "";
}

// The event moves on to the stream that waits for it: only one that waits for the event rather than for the recording
// of then would wait for itself.
std::string recording_of_the_call(Subject& subject) {
  Event event(subject);
  Log log;
  Entry one{&log, 1};
  Entry two{&log, 2};
  Entry three{&log, 3};
  Flag flag;
  Stream first(subject);
  Stream second(subject);
  second.host(Flag::raise_late, &flag, 20000);  // it gets to its wait when the event has moved on
  first.host(Entry::write_late, &one, 20000);
  event.record(first);
  DC_OK(subject, stream_wait_event, second.get(), event.get());
  second.host(Entry::write, &two);
  event.record(second);
  DC_OK(subject, stream_wait_event, first.get(), event.get());
  first.host(Entry::write, &three);
  first.wait();
  second.wait();
  require(log.words() == "1, 2, 3", "host functions ran as " + log.words());
  return "";
}

std::string moved(Subject& subject) {
  if (!subject.runs_beside()) throw Skip("work does not run beside the calling thread in real time");
  Gate gate;
  Event event(subject);
  Stream stream(subject);
  event.record(stream);
  stream.wait();
  require(event.poll(), "event_poll says not reached after stream_wait");
  stream.host(Gate::pass, &gate);
  event.record(stream);
  const bool early = event.poll() && !gate.gave_up();
  gate.open();
  DC_OK(subject, event_wait, event.get());
  require(!early, "an event that was recorded again is still called reached");
  return "";
}

std::string destroyed_early(Subject& subject) {
  Log log;
  Entry one{&log, 1};
  Entry two{&log, 2};
  auto event = std::make_unique<Event>(subject);
  Stream first(subject);
  Stream second(subject);
  first.host(Entry::write_late, &one, 20000);
  event->record(first);
  DC_OK(subject, stream_wait_event, second.get(), event->get());
  event.reset();
  second.host(Entry::write, &two);
  second.wait();
  first.wait();
  require(log.words() == "1, 2", "host functions ran as " + log.words());
  return "";
}

std::string timing(Subject& subject) {
  Stream stream(subject);
  Event begin(subject);
  Event end(subject);
  Flag flag;
  double before = 0;
  double after = 0;
  double elapsed = 0;
  DC_OK(subject, get_time, &before);
  begin.record(stream);
  stream.host(Flag::raise_late, &flag, 20000);
  end.record(stream);
  stream.wait();
  DC_OK(subject, get_time, &after);
  DC_OK(subject, event_get_elapsed, begin.get(), end.get(), &elapsed);
  require(elapsed >= 19000, "20 ms between two events are " + std::to_string(elapsed) + " µs");
  require(elapsed <= 1.1 * (after - before) + 1000,
          "two events are " + std::to_string(elapsed) + " µs apart, of " + std::to_string(after - before) + " in all");
  return std::to_string(static_cast<long>(elapsed)) + " µs of 20000";
}

std::string untimed(Subject& subject) {
  Gate gate;
  Event reached(subject);
  Event not_yet(subject);
  Stream stream(subject);
  double elapsed = 0;
  reached.record(stream);
  stream.wait();
  DC_FAILS(HOIST_ERROR_INVALID_STATE, subject, event_get_elapsed, reached.get(), not_yet.get(), &elapsed);
  DC_FAILS(HOIST_ERROR_INVALID_STATE, subject, event_get_elapsed, not_yet.get(), reached.get(), &elapsed);
  if (!subject.runs_beside()) return "never recorded";
  stream.host(Gate::pass, &gate);
  not_yet.record(stream);
  const hoist_status_t status = DC_STATUS(subject, event_get_elapsed, reached.get(), not_yet.get(), &elapsed);
  const bool gave_up = gate.gave_up();
  gate.open();
  stream.wait();
  if (!gave_up) subject.expect("event_get_elapsed of an event not reached", status, HOIST_ERROR_INVALID_STATE);
  return "never recorded, not yet reached";
}

}  // namespace

void add_event_checks(Checks& checks) {
  const std::vector<const char*> basis = {"streams.wait", "host_functions.in_order"};
  checks.push_back({"events.unrecorded", "event_poll, event_wait, stream_wait_event",
                    "An event never recorded is not ready.", unrecorded, basis});
  checks.push_back({"events.poll", "event_record, event_poll", "1 when the latest recording has been reached, else 0.",
                    poll, basis});
  checks.push_back({"events.wait", "event_wait", "blocks until the latest recording has been reached.", wait, basis});
  checks.push_back(
      {"events.several_wait", "event_wait", "Several threads may wait for one event.", several_wait, {"events.wait"}});
  checks.push_back({"events.across_streams", "stream_wait_event",
                    "The stream waits on the device for the event's latest recording at the time of this call.",
                    across_streams, basis});
  checks.push_back({"events.recording_of_the_call",
                    "stream_wait_event",
                    "The stream waits on the device for the event's latest recording at the time of this call.",
                    recording_of_the_call,
                    {"events.across_streams"}});
  checks.push_back({"events.moved",
                    "event_record",
                    "Records at the stream's present end; recording again moves it.",
                    moved,
                    {"events.poll", "events.wait"}});
  checks.push_back({"events.destroyed_early",
                    "event_destroy",
                    "Submitted work that waits for it still runs.",
                    destroyed_early,
                    {"events.recording_of_the_call"}});
  checks.push_back({"events.timing", "event_get_elapsed", "µs from `begin` to `end`", timing, basis});
  checks.push_back({"events.untimed",
                    "event_get_elapsed",
                    "HOIST_ERROR_INVALID_STATE where one has not been reached.",
                    untimed,
                    {"events.timing"}});
}

}  // namespace device_check
