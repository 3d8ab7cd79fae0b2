// SPDX-License-Identifier: Apache-2.0
// The error record, the log, fork generations.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error_record.hpp"
#include "base/fork.hpp"
#include "base/log.hpp"

namespace hoist {
namespace {

TEST(Record, BelongsToItsThread) {
  record_error(HOIST_ERROR_BUSY, "one", "hoist_x", "wait");
  std::thread([] {
    EXPECT_EQ(HOIST_OK, error_record().code);
    EXPECT_EQ("", error_record().message);
    record_error(HOIST_ERROR_IO, "two", "hoist_y", "");
  }).join();
  EXPECT_EQ(HOIST_ERROR_BUSY, error_record().code);
  EXPECT_EQ("one", error_record().message);
  EXPECT_EQ("hoist_x", error_record().where);
  EXPECT_EQ("wait", error_record().hint);
}

TEST(Record, MayBeWrittenFromItself) {
  record_error(HOIST_ERROR_IO, "message", "where", "hint");
  const ErrorRecord& record = error_record();
  record_error(HOIST_ERROR_IO, record.hint.c_str(), record.message.c_str(), nullptr);
  EXPECT_EQ("hint", record.message);
  EXPECT_EQ("message", record.where);
  EXPECT_EQ("", record.hint);
}

TEST(Status, NamesAreTheConstants) {
  EXPECT_STREQ("HOIST_OK", status_name(HOIST_OK));
  EXPECT_STREQ("HOIST_ERROR_FORKED", status_name(HOIST_ERROR_FORKED));
  EXPECT_STREQ("HOIST_ERROR_INTERNAL", status_name(HOIST_ERROR_INTERNAL));
  EXPECT_STREQ("HOIST_ERROR_UNKNOWN", status_name(static_cast<hoist_status_t>(99)));
  EXPECT_STREQ("HOIST_ERROR_UNKNOWN", status_name(HOIST_STATUS_FORCE_32));
}

using Lines = std::vector<std::pair<hoist_log_level_t, std::string>>;

void keep(void* lines, hoist_log_level_t level, const char* message) {
  static_cast<Lines*>(lines)->emplace_back(level, message);
}

struct Counted {
  int* count;
  friend std::ostream& operator<<(std::ostream& out, const Counted& it) {
    ++*it.count;
    return out << "it";
  }
};

TEST(Log, GoesToTheCallbackFromTheThresholdOn) {
  Lines lines;
  log_set(HOIST_LOG_INFO, keep, &lines);
  int formatted = 0;
  log(HOIST_LOG_DEBUG, Counted{&formatted});
  EXPECT_EQ(0, formatted);
  log(HOIST_LOG_INFO, "a ", 1, " ", Counted{&formatted});
  log(HOIST_LOG_ERROR, "b");
  log_set(HOIST_LOG_OFF, keep, &lines);
  log(HOIST_LOG_ERROR, "c");
  log_set(HOIST_LOG_WARNING, nullptr, nullptr);
  log(HOIST_LOG_INFO, "d");
  EXPECT_EQ(1, formatted);
  EXPECT_EQ((Lines{{HOIST_LOG_INFO, "a 1 it"}, {HOIST_LOG_ERROR, "b"}}), lines);
}

TEST(Log, MaySetItselfFromTheCallback) {  // no lock is held
  Lines lines;
  log_set(
      HOIST_LOG_INFO, [](void* user, hoist_log_level_t, const char*) { log_set(HOIST_LOG_INFO, keep, user); }, &lines);
  log(HOIST_LOG_INFO, "a");
  log(HOIST_LOG_INFO, "b");
  log_set(HOIST_LOG_WARNING, nullptr, nullptr);
  EXPECT_EQ((Lines{{HOIST_LOG_INFO, "b"}}), lines);
}

TEST(Log, AnUnknownThresholdIsRefused) {
  EXPECT_THROW(log_set(static_cast<hoist_log_level_t>(7), nullptr, nullptr), Error);
  EXPECT_THROW(log_set(static_cast<hoist_log_level_t>(-1), nullptr, nullptr), Error);
}

TEST(Fork, ChildrenAndTheirChildrenAreNewGenerations) {
  const std::uint32_t here = fork_generation();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (fork_generation() != here + 1) _exit(1);
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(fork_generation() == here + 2 ? 0 : 1);
    int status = 1;
    waitpid(grandchild, &status, 0);
    _exit(WIFEXITED(status) && WEXITSTATUS(status) == 0 && fork_generation() == here + 1 ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(here, fork_generation());
}

}  // namespace
}  // namespace hoist
