// SPDX-License-Identifier: Apache-2.0
// One check: what it looks at, the sentence of the header that it holds the device to, and how.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "device_check/subject.hpp"

namespace device_check {

struct Check {
  const char* id;                        // "events.poll": a group, and a name in it
  const char* slots;                     // of the table
  const char* promise;                   // word for word from include/hoist
  std::string (*run)(Subject& subject);  // gives a note for people; throws Failure or Skip
  std::vector<const char*> needs = {};   // checks without which this one would say nothing
  std::uint64_t capability = 0;          // looked at only where the device claims it
};

using Checks = std::vector<Check>;
void add_identity_checks(Checks& checks);
void add_memory_checks(Checks& checks);
void add_copy_checks(Checks& checks);
void add_stream_checks(Checks& checks);
void add_event_checks(Checks& checks);
void add_host_checks(Checks& checks);
void add_mapping_checks(Checks& checks);
void add_graph_checks(Checks& checks);
void add_error_checks(Checks& checks);
void add_process_checks(Checks& checks);

// In the order in which they run: what others need comes first.
const Checks& all_checks();

enum class Outcome { passed, failed, skipped, not_run };

struct Result {
  const Check* check = nullptr;
  Outcome outcome = Outcome::not_run;
  std::string words;
  double ms = 0;
};

// "HOIST_CAPABILITY_BATCH" for one bit, "ASYNC, BATCH" for several.
std::string capability_name(std::uint64_t bit);
std::string capability_list(std::uint64_t bits);

// Runs it in a child process, which is killed after some seconds; gives the words of a failure, "" for none.
std::string in_child(const std::function<std::string()>& body, double seconds);

}  // namespace device_check
