// SPDX-License-Identifier: Apache-2.0
#include "device_check/report.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "hoist/hoist.hpp"
#include "output.hpp"

namespace device_check {
namespace {

const char* name_of(Outcome outcome) {
  constexpr const char* names[] = {"passed", "failed", "skipped", "not_run"};
  return names[static_cast<int>(outcome)];
}

std::string group_of(const Check& check) {
  return std::string(check.id).substr(0, std::string_view(check.id).find('.'));
}

// Results by group, groups in the order of their first check's listing.
std::vector<const Result*> by_group(const Report& report) {
  constexpr const char* order[] = {"table",  "identity",       "memory",  "copies",  "fills", "streams",
                                   "events", "host_functions", "pinned",  "mapping", "words", "graphs",
                                   "peers",  "errors",         "threads", "process", "leaks"};
  std::vector<const Result*> sorted;
  for (const char* group : order) {
    for (const Result& result : report.results) {
      if (group_of(*result.check) == group) sorted.push_back(&result);
    }
  }
  return sorted;
}

// Colours for a terminal alone.
class Paint {
 public:
  Paint() : on_(isatty(STDOUT_FILENO) != 0) {}
  [[nodiscard]] std::string mark(Outcome outcome) const {
    switch (outcome) {
      case Outcome::passed:
        return colour("32", "ok  ");
      case Outcome::failed:
        return colour("1;31", "FAIL");
      case Outcome::skipped:
        return colour("33", "skip");
      default:
        return colour("33", "-   ");
    }
  }
  [[nodiscard]] std::string strong(const std::string& text) const { return colour("1", text); }

 private:
  [[nodiscard]] std::string colour(const char* code, const std::string& text) const {
    return on_ ? std::string("\033[") + code + "m" + text + "\033[0m" : text;
  }
  bool on_;
};

// Words broken into lines of a width, each with the indent before it.
void print_wrapped(const std::string& label, const std::string& words) {
  constexpr std::size_t width = 96;
  std::string line = label;
  bool empty = true;
  for (std::size_t begin = 0; begin < words.size();) {
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    const std::string word = words.substr(begin, end - begin);
    if (!empty && line.size() + 1 + word.size() > width) {
      std::printf("%s\n", line.c_str());
      line.assign(label.size(), ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
    begin = end + 1;
  }
  std::printf("%s\n", line.c_str());
}

// Without the marks of Doxygen.
std::string plain(std::string promise) {
  for (std::size_t at = promise.find("@p "); at != std::string::npos; at = promise.find("@p ")) promise.erase(at, 3);
  return promise;
}

void print_head(const Report& report, const Paint& paint) {
  std::printf("%s", paint.strong(report.name).c_str());
  if (!report.description.empty()) std::printf("  %s", tool::one_line(report.description).c_str());
  std::printf("\n");
  if (!report.plugin.empty()) std::printf("plugin       %s\n", report.plugin.c_str());
  if (report.level != 0) {
    std::printf("level        %u of %u\nmemory       %s, aligned to %llu bytes\ncapabilities %s\n", report.level,
                HOIST_DEVICE_ABI_VERSION, tool::bytes_text(report.memory_bytes).c_str(),
                static_cast<unsigned long long>(report.alignment), capability_list(report.capabilities).c_str());
  }
}

void print_result(const Result& result, const Paint& paint, bool verbose) {
  const std::string words = tool::one_line(result.words);
  const std::string name = std::string(result.check->id).substr(group_of(*result.check).size() + 1);
  const bool failed = result.outcome == Outcome::failed;
  if (failed || words.empty()) {
    std::printf("  %s  %s\n", paint.mark(result.outcome).c_str(), failed ? paint.strong(name).c_str() : name.c_str());
  } else {
    std::printf("  %s  %-24s %s\n", paint.mark(result.outcome).c_str(), name.c_str(), words.c_str());
  }
  if (result.outcome == Outcome::failed || verbose) {
    print_wrapped("          slot     ", result.check->slots);
    print_wrapped("          promise  ", plain(result.check->promise));
  }
  if (result.outcome == Outcome::failed) print_wrapped("          seen     ", words);
}

// What could not be looked at, in a few lines.
void print_not_run(const Report& report, const Paint& paint) {
  std::string names;
  for (const Result* result : by_group(report)) {
    if (result->outcome == Outcome::not_run) names += (names.empty() ? "" : ", ") + std::string(result->check->id);
  }
  if (names.empty()) return;
  std::printf("\n%s\n", paint.strong("not run, for they need what failed").c_str());
  print_wrapped("  ", names);
}

std::string plural(int count, const char* what) { return std::to_string(count) + " " + what; }

}  // namespace

void print(const Report& report, bool verbose) {
  const Paint paint;
  print_head(report, paint);
  std::string group;
  for (const Result* result : by_group(report)) {
    if (result->outcome == Outcome::not_run) continue;
    if (group_of(*result->check) != group)
      std::printf("\n%s\n", paint.strong(group = group_of(*result->check)).c_str());
    print_result(*result, paint, verbose);
  }
  print_not_run(report, paint);
  const int failed = report.count(Outcome::failed);
  const int not_run = report.count(Outcome::not_run);
  std::string sum = plural(report.count(Outcome::passed), "passed");
  if (report.count(Outcome::skipped) != 0) sum += ", " + plural(report.count(Outcome::skipped), "skipped");
  if (not_run != 0) sum += ", " + plural(not_run, "not run");
  if (failed != 0) sum += ", " + paint.strong(plural(failed, "FAILED"));
  std::printf("\n%zu checks in %.1f s: %s\n", report.results.size(), report.seconds, sum.c_str());
  if (failed == 0) {
    std::printf("%s does what hoist/device_ops.h asks of it.\n", report.name.c_str());
  } else {
    std::printf("Mend the first that failed, then run the rest: hoist device-check ... --only GROUP.\n");
  }
}

void print_json(const Report& report) {
  nlohmann::ordered_json document = {{"device", report.name},
                                     {"description", report.description},
                                     {"plugin", report.plugin},
                                     {"level", report.level},
                                     {"memory_bytes", report.memory_bytes},
                                     {"alignment", report.alignment},
                                     {"capabilities", capability_list(report.capabilities)},
                                     {"hoist", hoist::version_string()},
                                     {"pass", report.count(Outcome::failed) == 0},
                                     {"passed", report.count(Outcome::passed)},
                                     {"failed", report.count(Outcome::failed)},
                                     {"skipped", report.count(Outcome::skipped)},
                                     {"not_run", report.count(Outcome::not_run)},
                                     {"seconds", report.seconds},
                                     {"checks", nlohmann::ordered_json::array()}};
  for (const Result* result : by_group(report)) {
    document["checks"].push_back({{"id", result->check->id},
                                  {"outcome", name_of(result->outcome)},
                                  {"words", result->words},
                                  {"slots", result->check->slots},
                                  {"promise", result->check->promise},
                                  {"ms", result->ms}});
  }
  std::printf("%s\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

void print_list() {
  for (const Check& check : all_checks()) {
    std::printf("%s  (%s)\n", check.id, check.slots);
    print_wrapped("    ", plain(check.promise));
  }
}

}  // namespace device_check
