// SPDX-License-Identifier: Apache-2.0
#include "device_check/runner.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

#include "hoist/hoist.hpp"

namespace device_check {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

const Check& check_of(std::string_view id) {
  const Checks& all = all_checks();
  return *std::find_if(all.begin(), all.end(), [&](const Check& check) { return id == check.id; });
}

void want(const Check& check, std::set<std::string_view>& wanted) {
  if (!wanted.insert(check.id).second) return;
  for (const char* needed : check.needs) want(check_of(needed), wanted);
}

// In the order in which they run.
std::vector<Result> chosen(const std::string& only) {
  std::set<std::string_view> wanted;
  for (const Check& check : all_checks()) {
    if (std::string_view(check.id).substr(0, only.size()) == only) want(check, wanted);
  }
  std::vector<Result> results;
  for (const Check& check : all_checks()) {
    if (wanted.count(check.id) != 0) results.push_back({&check, Outcome::not_run, "", 0});
  }
  return results;
}

// What stands in a check's way, "" where nothing does. A need that was skipped is met: it has nothing to say.
std::string unmet_need(const Check& check, const std::vector<Result>& results) {
  for (const char* needed : check.needs) {
    for (const Result& result : results) {
      if (std::strcmp(result.check->id, needed) != 0) continue;
      if (result.outcome == Outcome::failed || result.outcome == Outcome::not_run) return needed;
    }
  }
  return "";
}

void run_one(Subject& subject, Result& result) {
  const Check& check = *result.check;
  try {
    if (check.capability != 0 && !subject.has(check.capability)) {
      throw Skip("it does not claim " + capability_name(check.capability));
    }
    result.words = check.run(subject);
    result.outcome = Outcome::passed;
  } catch (const Skip& skip) {
    result.outcome = Outcome::skipped;
    result.words = skip.what();
  } catch (const std::exception& error) {
    result.outcome = Outcome::failed;
    result.words = error.what();
  }
}

// ---- the worker: one line of JSON when a check begins, one when it has ended ----

void say(int out, const json& line) {
  const std::string text = line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(out, text.data() + done, text.size() - done);
    if (written <= 0) _exit(1);
    done += static_cast<std::size_t>(written);
  }
}

void say_facts(int out, Subject& subject) {
  try {
    const hoist_device_properties_t& facts = subject.facts();
    say(out, {{"facts",
               {{"name", subject.name()},
                {"description", facts.description},
                {"level", subject.ops().abi_version},
                {"memory_bytes", facts.memory_bytes},
                {"alignment", facts.alignment},
                {"capabilities", facts.capabilities}}}});
  } catch (const std::exception&) {
  }
}

[[noreturn]] void work(const Target& target, const RunOptions& options, std::vector<Result> results, std::size_t from,
                       int out) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::unique_ptr<Subject> subject;
  bool said_facts = false;
  for (std::size_t i = from; i < results.size(); ++i) {
    Result& result = results[i];
    if (std::count(options.except.begin(), options.except.end(), result.check->id) != 0) {
      result.outcome = Outcome::skipped;
      result.words = "left out by --except";
    } else if (const std::string need = unmet_need(*result.check, results); !need.empty()) {
      result.words = "needs " + need;
    } else {
      say(out, {{"begins", i}});
      const auto begin = Clock::now();
      try {
        if (!subject) subject = std::make_unique<Subject>(target);
        run_one(*subject, result);
      } catch (const std::exception& error) {
        result.outcome = Outcome::failed;
        result.words = error.what();
      }
      result.ms = 1000 * seconds_since(begin);
    }
    say(out, {{"ended", i}, {"outcome", static_cast<int>(result.outcome)}, {"words", result.words}, {"ms", result.ms}});
    const bool queried = std::strcmp(result.check->id, "identity.query") == 0 && result.outcome == Outcome::passed;
    if (queried && !std::exchange(said_facts, true)) say_facts(out, *subject);
  }
  subject.reset();
  _exit(0);
}

// ---- who watches it ----

class Watch {
 public:
  Watch(const Target& target, const RunOptions& options, Report& report, const std::function<void(int, int)>& progress)
      : target_(target), options_(options), report_(report), progress_(progress) {
    void* shared = mmap(nullptr, sizeof(SlotPlace), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) throw std::runtime_error("no memory to share with a child");
    place_ = new (shared) SlotPlace(nullptr);
  }
  ~Watch() { munmap(place_, sizeof(SlotPlace)); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void run() {
    while (next_ < report_.results.size()) run_worker();
  }

 private:
  void run_worker() {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe for a child");
    std::fflush(nullptr);
    const pid_t worker = fork();
    if (worker < 0) throw std::runtime_error("no child process");
    if (worker == 0) {
      close(ends[0]);
      set_slot_place(place_);
      work(target_, options_, report_.results, next_, ends[1]);
    }
    close(ends[1]);
    running_.reset();
    pending_.clear();
    const bool hung = !follow(ends[0]);
    if (hung) kill(worker, SIGKILL);
    close(ends[0]);
    int status = 0;
    waitpid(worker, &status, 0);
    if (next_ < report_.results.size()) blame(hung, status);
  }

  // Reads until the worker has ended; false where a check takes too long.
  bool follow(int in) {
    char buffer[4096];
    auto begin = Clock::now();
    while (true) {
      const double left = options_.timeout_s - seconds_since(begin);
      pollfd ready{in, POLLIN, 0};
      if (left <= 0 || poll(&ready, 1, static_cast<int>(left * 1000) + 1) == 0) return false;
      const ssize_t got = read(in, buffer, sizeof buffer);
      if (got <= 0) return true;
      pending_.append(buffer, static_cast<std::size_t>(got));
      for (std::size_t end = pending_.find('\n'); end != std::string::npos; end = pending_.find('\n')) {
        take(json::parse(pending_.substr(0, end)));
        pending_.erase(0, end + 1);
        begin = Clock::now();
      }
    }
  }

  void take(const json& line) {
    if (line.contains("begins")) {
      running_ = line["begins"].get<std::size_t>();
    } else if (line.contains("ended")) {
      next_ = line["ended"].get<std::size_t>();
      Result& result = report_.results[next_++];
      result.outcome = static_cast<Outcome>(line["outcome"].get<int>());
      result.words = line["words"].get<std::string>();
      result.ms = line["ms"].get<double>();
      progress_(static_cast<int>(next_), static_cast<int>(report_.results.size()));
    } else {
      const json& facts = line["facts"];
      report_.name = facts["name"].get<std::string>();
      report_.description = facts["description"].get<std::string>();
      report_.level = facts["level"].get<std::uint32_t>();
      report_.memory_bytes = facts["memory_bytes"].get<std::uint64_t>();
      report_.alignment = facts["alignment"].get<std::uint64_t>();
      report_.capabilities = facts["capabilities"].get<std::uint64_t>();
    }
  }

  // The worker ended within a check.
  void blame(bool hung, int status) {
    Result& result = report_.results[running_.value_or(next_)];
    next_ = running_.value_or(next_) + 1;
    result.outcome = Outcome::failed;
    result.words = hung                  ? "hung"
                   : WIFSIGNALED(status) ? std::string("crashed: ") + strsignal(WTERMSIG(status))
                                         : "ended the process with status " + std::to_string(WEXITSTATUS(status));
    if (const char* slot = place_->load()) result.words += std::string("; the slot called last is ") + slot;
    progress_(static_cast<int>(next_), static_cast<int>(report_.results.size()));
  }

  const Target& target_;
  const RunOptions& options_;
  Report& report_;
  const std::function<void(int, int)>& progress_;
  SlotPlace* place_ = nullptr;  // where the worker leaves the name of the slot that it calls
  std::size_t next_ = 0;
  std::optional<std::size_t> running_;
  std::string pending_;
};

}  // namespace

int Report::count(Outcome outcome) const {
  return static_cast<int>(
      std::count_if(results.begin(), results.end(), [&](const Result& result) { return result.outcome == outcome; }));
}

std::string absent(const Target& target) {
  if (!target.plugin.empty()) return access(target.plugin.c_str(), R_OK) == 0 ? "" : "cannot read " + target.plugin;
  const std::string name = target.kind + ":" + std::to_string(target.index);
  return in_child(
      [&]() -> std::string {
        try {
          const hoist::Device device(name + (target.options.empty() ? "" : "?" + target.options));
          return "";
        } catch (const hoist::Exception& error) {
          const bool there = error.code() != HOIST_ERROR_NOT_FOUND && error.code() != HOIST_ERROR_INVALID_ARGUMENT;
          return there ? "" : error.message() + (error.hint().empty() ? "" : "; " + error.hint());
        }
      },
      60);
}

Report run_checks(const Target& target, const RunOptions& options, const std::function<void(int, int)>& progress) {
  Report report;
  report.plugin = target.plugin;
  report.name = (target.kind.empty() ? target.plugin : target.kind) + ":" + std::to_string(target.index);
  report.results = chosen(options.only);
  const auto begin = Clock::now();
  Watch(target, options, report, progress).run();
  report.seconds = seconds_since(begin);
  return report;
}

}  // namespace device_check
