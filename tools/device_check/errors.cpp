// SPDX-License-Identifier: Apache-2.0
// Failures: their words, that they stay with their call, and those that are made on demand.
#include <functional>
#include <utility>

#include "device_check/check.hpp"

namespace device_check {
namespace {

void must_have_words(const char* slot, hoist_status_t status) {
  require(status != HOIST_OK, std::string(slot) + " did not fail");
  const Said& said = Subject::said();
  require(!said.message.empty(), std::string(slot) + " failed without a word");
  require(said.code == status,
          std::string(slot) + " gave " + hoist_status_string(status) + ", but said " + hoist_status_string(said.code));
}

std::string words(Subject& subject) {
  if (!subject.hears()) throw Skip("what a built-in device says goes to hoist");
  const HostMemory host(subject, 4096, false);
  const Memory memory(subject, 4096);
  Event never(subject);
  Stream stream(subject);
  void* made = nullptr;
  double us = 0;
  must_have_words("memory_create", DC_STATUS(subject, memory_create, ~std::uint64_t{0}, &made));
  must_have_words("copy", DC_STATUS(subject, copy, stream.get(), HOIST_COPY_H2D, nullptr, host.at(), 1));
  must_have_words("host_function", DC_STATUS(subject, host_function, stream.get(), nullptr, nullptr, 1));
  must_have_words("event_wait", DC_STATUS(subject, event_wait, never.get()));
  must_have_words("stream_wait_event", DC_STATUS(subject, stream_wait_event, stream.get(), never.get()));
  must_have_words("event_get_elapsed", DC_STATUS(subject, event_get_elapsed, never.get(), never.get(), &us));
  must_have_words("host_register", DC_STATUS(subject, host_register, nullptr, 4096));
  must_have_words("host_unregister", DC_STATUS(subject, host_unregister, host.at(), 4096));
  return "";
}

// What goes wrong is told once, and then all is well.
std::string stay(Subject& subject) {
  const HostMemory host(subject, 4096);
  const Memory memory(subject, 4096);
  Event never(subject);
  Event event(subject);
  Stream stream(subject);
  void* made = nullptr;
  for (int turn = 1; turn <= 3; ++turn) {
    DC_CALL(subject, copy, stream.get(), HOIST_COPY_H2D, nullptr, host.at(), 1);
    DC_CALL(subject, host_function, stream.get(), nullptr, nullptr, 1);
    DC_CALL(subject, event_wait, never.get());
    DC_CALL(subject, host_register, nullptr, 4096);
    DC_CALL(subject, memory_create, ~std::uint64_t{0}, &made);
    const auto value = static_cast<std::uint8_t>(turn);
    stream.fill(memory.at(), value, 4096);
    stream.copy(HOIST_COPY_D2H, host.at(), memory.at(), 4096);
    event.record(stream);
    event.wait();
    stream.wait();
    require(!subject.moves_bytes() || host.at()[4095] == value, "after a refusal the stream's bytes are wrong");
  }
  return "";
}

std::string settings(Subject& subject) {
  if (subject.ops().set == nullptr) throw Skip("slot set is NULL");
  DC_FAILS(HOIST_ERROR_INVALID_ARGUMENT, subject, set, "no_such_setting", "1");
  return "";
}

// Takes all faults back, however the check ends.
class Faults {
 public:
  explicit Faults(Subject& subject) : subject_(subject) {
    if (subject_.ops().set == nullptr) throw Skip("slot set is NULL");
    if (set("") != HOIST_OK) throw Skip("it has no setting 'fail'");
  }
  ~Faults() { static_cast<void>(set("")); }
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;
  hoist_status_t set(const std::string& spec) { return DC_STATUS(subject_, set, "fail", spec.c_str()); }

 private:
  Subject& subject_;
};

std::string on_demand(Subject& subject) {
  Faults faults(subject);
  const HostMemory host(subject, 4096);
  const HostMemory pages(subject, 4096, false);
  const Memory memory(subject, 4096);
  Event event(subject);
  Event other(subject);
  Stream stream(subject);
  event.record(stream);
  other.record(stream);
  stream.wait();
  std::uint64_t free = 0;
  std::uint64_t total = 0;
  double us = 0;
  int ready = 0;
  void* made = nullptr;
  const auto made_and_gone = [&](hoist_status_t status, void (*destroy)(void*, void*)) {
    if (status == HOIST_OK) destroy(subject.self(), made);
    return status;
  };
  const std::pair<const char*, std::function<hoist_status_t()>> calls[] = {
      {"query_memory", [&] { return DC_STATUS(subject, query_memory, &free, &total); }},
      {"get_time", [&] { return DC_STATUS(subject, get_time, &us); }},
      {"memory_create",
       [&] { return made_and_gone(DC_STATUS(subject, memory_create, 512, &made), subject.ops().memory_destroy); }},
      {"host_register",
       [&] {
         const hoist_status_t status = DC_STATUS(subject, host_register, pages.at(), 4096);
         if (status == HOIST_OK) DC_OK(subject, host_unregister, pages.at(), 4096);
         return status == HOIST_ERROR_UNSUPPORTED ? HOIST_OK : status;
       }},
      {"stream_create",
       [&] { return made_and_gone(DC_STATUS(subject, stream_create, &made), subject.ops().stream_destroy); }},
      {"event_create",
       [&] { return made_and_gone(DC_STATUS(subject, event_create, &made), subject.ops().event_destroy); }},
      {"host_function",
       [&] {
         return DC_STATUS(
             subject, host_function, stream.get(), [](void*) {}, nullptr, 1);
       }},
      {"event_record", [&] { return DC_STATUS(subject, event_record, event.get(), stream.get()); }},
      {"event_poll", [&] { return DC_STATUS(subject, event_poll, other.get(), &ready); }},
      {"event_wait", [&] { return DC_STATUS(subject, event_wait, event.get()); }},
      {"event_get_elapsed", [&] { return DC_STATUS(subject, event_get_elapsed, other.get(), other.get(), &us); }},
      {"stream_wait", [&] { return DC_STATUS(subject, stream_wait, stream.get()); }},
      {"stream_wait_event", [&] { return DC_STATUS(subject, stream_wait_event, stream.get(), event.get()); }},
      {"copy", [&] { return DC_STATUS(subject, copy, stream.get(), HOIST_COPY_H2D, memory.at(), host.at(), 4096); }},
      {"fill", [&] { return DC_STATUS(subject, fill, stream.get(), memory.at(), 1, 4096); }},
  };
  int slots = 0;
  for (const auto& [slot, call] : calls) {
    if (faults.set(std::string(slot) + "@2") == HOIST_ERROR_INVALID_ARGUMENT) continue;
    ++slots;
    const std::vector<hoist_status_t> three{call(), call(), call()};
    require(three[0] == HOIST_OK && three[1] != HOIST_OK && three[2] == HOIST_OK,
            std::string(slot) + "@2 does not fail the second call, and that alone");
    static_cast<void>(faults.set(std::string(slot) + "@1+"));
    const std::vector<hoist_status_t> two{call(), call()};
    require(two[0] != HOIST_OK && two[1] != HOIST_OK, std::string(slot) + "@1+ does not fail every call");
    static_cast<void>(faults.set(""));
    require(call() == HOIST_OK, "a " + std::string(slot) + " after the faults fails");
  }
  for (const char* odd : {"no_such_slot@1", "copy@0", "copy", "copy@x"}) {
    require(faults.set(odd) == HOIST_ERROR_INVALID_ARGUMENT, "the fault '" + std::string(odd) + "' is taken");
  }
  stream.wait();
  return std::to_string(slots) + " slots fail on demand";
}

std::string failed_work(Subject& subject) {
  Faults faults(subject);
  if (faults.set("work@1") != HOIST_OK) throw Skip("it cannot fail work on demand");
  const HostMemory host(subject, 4096);
  const Memory memory(subject, 4096);
  Event event(subject);
  {
    Stream stream(subject);
    const hoist_status_t submitted =
        DC_STATUS(subject, copy, stream.get(), HOIST_COPY_H2D, memory.at(), host.at(), 4096);
    const hoist_status_t recorded = DC_STATUS(subject, event_record, event.get(), stream.get());
    require(DC_STATUS(subject, stream_wait, stream.get()) != HOIST_OK, "stream_wait does not tell of work that failed");
    require(submitted != HOIST_OK || recorded != HOIST_OK || DC_STATUS(subject, event_wait, event.get()) != HOIST_OK,
            "event_wait does not tell of work that failed");
    require(DC_STATUS(subject, fill, stream.get(), memory.at(), 1, 4096) != HOIST_OK &&
                DC_STATUS(subject, stream_wait, stream.get()) != HOIST_OK,
            "a stream whose work has failed takes more");
  }
  Stream another(subject);
  another.fill(memory.at(), 1, 4096);
  another.wait();
  return "";
}

}  // namespace

void add_error_checks(Checks& checks) {
  const std::vector<const char*> refusals = {"copies.refusals",     "copies.in_order",   "fills.in_order",
                                             "host_functions.null", "events.unrecorded", "events.wait",
                                             "memory.exhaustion"};
  checks.push_back({"errors.words",
                    "all",
                    "A slot that fails returns a status after services->error_set",
                    words,
                    {"copies.refusals", "host_functions.null", "events.unrecorded", "events.untimed", "pinned.refusals",
                     "memory.exhaustion"}});
  checks.push_back({"errors.stay", "all", "a failure stays with its call.", stay, refusals});
  checks.push_back({"errors.settings",
                    "set",
                    "HOIST_ERROR_INVALID_ARGUMENT for an unknown key or value.",
                    settings,
                    {"identity.query"}});
  checks.push_back({"errors.on_demand",
                    "set",
                    "By convention key \"fail\" with \"SLOT@N\" makes the N-th next call of a slot fail",
                    on_demand,
                    {"copies.every_way", "events.timing", "events.wait"}});
  checks.push_back({"errors.failed_work",
                    "stream_wait, event_wait",
                    "A failure of work that was submitted earlier is reported by stream_wait and event_wait, and by "
                    "every later call on that stream.",
                    failed_work,
                    {"copies.every_way", "events.wait"}});
}

}  // namespace device_check
