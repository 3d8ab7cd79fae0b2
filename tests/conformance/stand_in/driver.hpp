// SPDX-License-Identifier: Apache-2.0
// The parts of the stand-in for the CUDA driver: contexts and moods, memory, streams with a thread each, graphs. Values
// and what is refused are the driver's.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

namespace stand_in {

enum Result : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  no_device = 100,
  invalid_device = 101,
  invalid_context = 201,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  already_registered = 712,
  not_registered = 713,
  not_permitted = 800,
  not_supported = 801,
  capture_unsupported = 900,
  capture_invalidated = 901,
};
using DevicePointer = unsigned long long;
constexpr std::uint64_t total_bytes = std::uint64_t{256} << 20;
constexpr std::uint64_t page = 4096;

// STAND_IN_CUDA is a list with commas between: "slow", "lacks=NAME", "refuses=NAME:CODE".
bool mood(std::string_view word);
std::string_view mood_value(std::string_view key);  // of "key=value", the first one; "" for none
bool lacks(std::string_view symbol);

// After an error that a real driver reports for ever (a kernel's illegal address) nothing that was submitted in the
// context runs any more, and its calls fail.
struct Context {
  std::atomic<bool> broken{false};
};
extern thread_local Context* current;
extern thread_local Context* running;         // on a stream's thread: whose op it is
extern thread_local int capture_mode;         // 2: relaxed
extern thread_local bool in_a_host_function;  // where no call of the driver is allowed
Context* primary();

Result in_context();           // a call that needs a context and has none is refused
Result apart_from_captures();  // one that would break a capture, anyone's, unless the thread says that it does not care
Result broken();               // after a kernel that broke the context
bool may_run();                // on a stream's thread, before each op: whether its context is whole
void break_context(Context* context);  // nullptr: all of them
void reset_memory();                   // as if the process had ended

using Op = std::function<void()>;

// In the order of submission on a thread of its own; while captured, into a graph instead.
class Stream {
 public:
  explicit Stream(Context* context);
  ~Stream();
  Context* context() const { return context_; }
  Result submit(Op op);
  Result submit_or_vanish(Op op);  // into a graph nothing goes, and nobody says so
  void wait();
  bool captures();
  void invalidate();
  Result capture_begin();
  Result capture_end(std::vector<Op>& out);

 private:
  void serve();
  Context* context_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Op> queue_;
  bool busy_ = false;
  bool stopping_ = false;
  bool captured_ = false;
  bool invalidated_ = false;
  std::vector<Op> capture_;
  std::thread worker_;
};
// The stream behind a handle, NULL being the legacy one, if it is of the thread's context; else nullptr.
Stream* stream_of(void* handle);

// Whether device memory is there to be copied from or to.
Result known(std::uintptr_t memory, std::size_t bytes);

template <typename Function>
void* any(Function* function) {
  return reinterpret_cast<void*>(function);
}
void* memory_symbol(std::string_view name);
void* work_symbol(std::string_view name);

}  // namespace stand_in
