// SPDX-License-Identifier: Apache-2.0
#include "device_check/check.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

namespace device_check {
namespace {

// A check after those that it needs; else as they are listed.
void place(const Checks& listed, const Check& check, std::set<std::string_view>& placed, Checks& ordered) {
  if (!placed.insert(check.id).second) return;
  for (const char* needed : check.needs) {
    const auto found = std::find_if(listed.begin(), listed.end(),
                                    [&](const Check& other) { return std::strcmp(other.id, needed) == 0; });
    if (found == listed.end())
      throw std::logic_error(std::string(check.id) + " needs " + needed + ", which is no check");
    place(listed, *found, placed, ordered);
  }
  ordered.push_back(check);
}

struct Bit {
  std::uint64_t bit;
  const char* name;
};
constexpr Bit bits[] = {{HOIST_CAPABILITY_HOST_ADDRESSABLE, "HOST_ADDRESSABLE"},
                        {HOIST_CAPABILITY_ASYNC, "ASYNC"},
                        {HOIST_CAPABILITY_BATCH, "BATCH"},
                        {HOIST_CAPABILITY_WRAP, "WRAP"},
                        {HOIST_CAPABILITY_ACCESS, "ACCESS"},
                        {HOIST_CAPABILITY_VIRTUAL_CLOCK, "VIRTUAL_CLOCK"},
                        {HOIST_CAPABILITY_NO_BYTES, "NO_BYTES"},
                        {HOIST_CAPABILITY_REMAP, "REMAP"},
                        {HOIST_CAPABILITY_WORDS, "WORDS"},
                        {HOIST_CAPABILITY_GRAPH, "GRAPH"}};

[[noreturn]] void live_in_child(const std::function<std::string()>& body, int out) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::string words;
  try {
    words = body();
  } catch (const std::exception& error) {
    words = error.what();
  }
  const ssize_t written = write(out, words.data(), words.size());
  _exit(written == static_cast<ssize_t>(words.size()) ? 0 : 1);
}

// All that comes until the other end closes; false after so many seconds.
bool read_all(int in, double seconds, std::string& words) {
  char buffer[512];
  for (;;) {
    pollfd ready{in, POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(seconds * 1000)) <= 0) return false;
    const ssize_t got = read(in, buffer, sizeof buffer);
    if (got <= 0) return true;
    words.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace

const Checks& all_checks() {
  static const Checks ordered = [] {
    Checks listed;
    add_identity_checks(listed);
    add_memory_checks(listed);
    add_copy_checks(listed);
    add_stream_checks(listed);
    add_event_checks(listed);
    add_host_checks(listed);
    add_mapping_checks(listed);
    add_graph_checks(listed);
    add_error_checks(listed);
    add_process_checks(listed);
    Checks result;
    std::set<std::string_view> placed;
    for (const Check& check : listed) place(listed, check, placed, result);
    return result;
  }();
  return ordered;
}

std::string capability_list(std::uint64_t given) {
  std::string list;
  for (const Bit& bit : bits) {
    if ((given & bit.bit) != 0) list += (list.empty() ? "" : ", ") + std::string(bit.name);
  }
  return list.empty() ? "no capability" : list;
}

std::string capability_name(std::uint64_t bit) { return "HOIST_CAPABILITY_" + capability_list(bit); }

std::string in_child(const std::function<std::string()>& body, double seconds) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe for a child");
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    live_in_child(body, ends[1]);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    throw std::runtime_error("no child process");
  }
  std::string words;
  const bool ended = read_all(ends[0], seconds, words);
  close(ends[0]);
  if (!ended) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (!ended) return "a child process hung";
  if (WIFSIGNALED(status)) return std::string("a child process ended by ") + strsignal(WTERMSIG(status));
  return words;
}

}  // namespace device_check
