// SPDX-License-Identifier: Apache-2.0
// Streams, events, copies, words that streams wait for, and graphs.
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <utility>

#include "driver.hpp"

namespace stand_in {
namespace {

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void nap(int us) { std::this_thread::sleep_for(std::chrono::microseconds(us)); }

// One recording: who waits for it keeps it, whatever becomes of the event.
struct Mark {
  std::mutex mutex;
  std::condition_variable changed;
  bool reached = false;
  double us = 0;

  void reach() {
    {
      std::lock_guard lock(mutex);
      us = now_us();
      reached = true;
    }
    changed.notify_all();
  }
  // Of a broken context none is reached any more, and no wait lasts.
  void wait(const Context& of) {
    std::unique_lock lock(mutex);
    while (!reached && !of.broken) changed.wait_for(lock, std::chrono::milliseconds(1));
  }
};

struct Event {
  Context* context = nullptr;
  std::mutex mutex;
  std::shared_ptr<Mark> latest;

  std::shared_ptr<Mark> get() {
    std::lock_guard lock(mutex);
    return latest;
  }
};

struct WordOp {
  int operation;  // 1: wait, 2: write
  DevicePointer address;
  unsigned value;
  unsigned value_high;
  unsigned flags;
  DevicePointer alias;
  unsigned long long pad;
};

using Steps = std::shared_ptr<const std::vector<Op>>;

Result to(void* stream, Op op) {
  if (const Result result = broken(); result != success) return result;
  Stream* target = stream_of(stream);
  return target == nullptr ? invalid_handle : target->submit(std::move(op));
}

Op copying(std::uintptr_t dst, std::uintptr_t src, std::size_t bytes) {
  return [=] {
    static std::atomic<unsigned> turn{0};
    if (mood("slow")) nap(static_cast<int>(turn++ * 37 % 101));
    std::memcpy(reinterpret_cast<void*>(dst), reinterpret_cast<const void*>(src), bytes);
  };
}

Result copy_up(DevicePointer dst, const void* src, std::size_t bytes, void* stream) {
  const Result result = known(dst, bytes);
  return result != success ? result : to(stream, copying(dst, reinterpret_cast<std::uintptr_t>(src), bytes));
}
Result copy_down(void* dst, DevicePointer src, std::size_t bytes, void* stream) {
  const Result result = known(src, bytes);
  return result != success ? result : to(stream, copying(reinterpret_cast<std::uintptr_t>(dst), src, bytes));
}
Result copy_any(DevicePointer dst, DevicePointer src, std::size_t bytes, void* stream) {
  return to(stream, copying(dst, src, bytes));
}
// The driver takes a batch on a stream that is captured, and the graph has nothing of it.
Result copy_batch(DevicePointer* dst, DevicePointer* src, std::size_t* bytes, std::size_t count, void*,
                  std::size_t* first, std::size_t attributes, std::size_t* failed, void* stream) {
  if (stream == nullptr || attributes != 1 || first[0] != 0) return invalid_value;
  std::vector<Op> copies;
  for (std::size_t i = 0; i < count; ++i) {
    *failed = i;
    if (bytes[i] == 0 || dst[i] == 0 || src[i] == 0) return invalid_value;
    copies.push_back(copying(dst[i], src[i], bytes[i]));
  }
  if (const Result result = broken(); result != success) return result;
  Stream* target = stream_of(stream);
  if (target == nullptr) return invalid_handle;
  return target->submit_or_vanish([copies = std::move(copies)] {
    for (const Op& copy : copies) copy();
  });
}
Result fill(DevicePointer dst, unsigned char value, std::size_t bytes, void* stream) {
  if (const Result result = known(dst, bytes); result != success) return result;
  return to(stream, [=] { std::memset(reinterpret_cast<void*>(dst), value, bytes); });
}
Result host_function(void* stream, void (*function)(void*), void* data) {
  return to(stream, [=] {
    in_a_host_function = true;
    function(data);
    in_a_host_function = false;
  });
}

void run(const WordOp& op) {
  std::atomic_ref word(*reinterpret_cast<unsigned*>(op.address));
  if (op.operation == 2) return word.store(op.value, std::memory_order_release);
  while (static_cast<int>(word.load(std::memory_order_acquire) - op.value) < 0 && !running->broken) nap(20);
}
Result words(void* stream, unsigned count, const WordOp* ops, unsigned flags) {
  if (count == 0 || count > 256 || flags != 0) return invalid_value;
  std::vector<WordOp> kept(ops, ops + count);
  for (const WordOp& op : kept) {
    if (op.operation != 1 && op.operation != 2) return invalid_value;
  }
  return to(stream, [kept = std::move(kept)] {
    for (const WordOp& op : kept) {
      if (!running->broken) run(op);
    }
  });
}

Result stream_create(void** out, unsigned flags) {
  if (flags != 1) return invalid_value;  // no stream of hoist's may wait for the legacy one
  if (const Result result = apart_from_captures(); result != success) return result;
  *out = new Stream(current);
  return success;
}
Result stream_destroy(void* stream) {
  const Result result = apart_from_captures();
  if (result == success || result == illegal_address) delete static_cast<Stream*>(stream);
  return result;
}
Result stream_wait(void* stream) {
  if (const Result result = apart_from_captures(); result != success) return result;
  Stream* target = stream_of(stream);
  if (target == nullptr) return invalid_handle;
  if (target->captures()) return target->invalidate(), capture_unsupported;
  target->wait();
  return broken();  // the context may have gone meanwhile
}
Result stream_wait_event(void* stream, void* event, unsigned) {
  Stream* target = stream_of(stream);
  if (target == nullptr) return invalid_handle;
  if (target->captures()) return target->invalidate(), capture_unsupported;
  const auto mark = static_cast<Event*>(event)->get();
  return mark == nullptr ? in_context() : to(stream, [mark] { mark->wait(*running); });
}
Result stream_context(void* stream, void** out) {
  *out = stream == nullptr ? current : static_cast<Stream*>(stream)->context();
  return in_context();
}
Result is_capturing(void* stream, int* out) {
  Stream* target = stream_of(stream);
  if (target == nullptr) return invalid_handle;
  *out = mood("capturing") || target->captures() ? 1 : 0;
  return in_context();
}

Result event_create(void** out, unsigned) {
  if (const Result result = apart_from_captures(); result != success) return result;
  auto* event = new Event;
  event->context = current;
  *out = event;
  return success;
}
Result event_destroy(void* event) {
  delete static_cast<Event*>(event);
  return in_context();
}
Result event_record(void* handle, void* stream) {
  auto* event = static_cast<Event*>(handle);
  Stream* target = stream_of(stream);
  if (target == nullptr || target->context() != event->context) return invalid_handle;
  if (target->captures()) return target->invalidate(), capture_unsupported;
  auto mark = std::make_shared<Mark>();
  {
    std::lock_guard lock(event->mutex);
    event->latest = mark;
  }
  return to(stream, [mark] { mark->reach(); });
}
// An event that was never recorded is taken for a reached one.
Result event_query(void* event) {
  if (const Result result = apart_from_captures(); result != success) return result;
  const auto mark = static_cast<Event*>(event)->get();
  if (mark == nullptr) return success;
  std::lock_guard lock(mark->mutex);
  return mark->reached ? success : not_ready;
}
Result event_wait(void* event) {
  if (const Result result = apart_from_captures(); result != success) return result;
  if (const auto mark = static_cast<Event*>(event)->get()) mark->wait(*current);
  return broken();
}
Result event_elapsed(float* out, void* begin, void* end) {
  const auto first = static_cast<Event*>(begin)->get();
  const auto last = static_cast<Event*>(end)->get();
  if (first == nullptr || last == nullptr) return invalid_handle;
  if (event_query(begin) != success || event_query(end) != success) return not_ready;
  *out = static_cast<float>((last->us - first->us) / 1000);
  return in_context();
}

Result capture_begin(void* stream, int mode) {
  Stream* target = stream_of(stream);
  if (stream == nullptr || target == nullptr) return target == nullptr ? invalid_handle : capture_unsupported;
  return mode != 1 ? invalid_value : target->capture_begin();
}
Result capture_end(void* stream, void** out) {
  Stream* target = stream_of(stream);
  if (target == nullptr) return invalid_handle;
  auto steps = std::make_shared<std::vector<Op>>();
  const Result result = target->capture_end(*steps);
  *out = result == success ? new Steps(std::move(steps)) : nullptr;
  return result;
}
Result graph_instantiate(void** out, void* graph, unsigned long long) {
  *out = new Steps(*static_cast<Steps*>(graph));
  return in_context();
}
// What has been launched keeps its steps.
Result graph_destroy(void* graph) {
  delete static_cast<Steps*>(graph);
  return in_context();
}
Result graph_launch(void* graph, void* stream) {
  return to(stream, [steps = *static_cast<Steps*>(graph)] {
    for (const Op& step : *steps) {
      if (may_run()) step();
    }
  });
}

}  // namespace

Stream::Stream(Context* context) : context_(context), worker_([this] { serve(); }) {}

Stream::~Stream() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  worker_.join();
}

void Stream::serve() {
  running = context_;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    {
      const Op op = std::move(queue_.front());
      queue_.pop_front();
      busy_ = true;
      lock.unlock();
      if (may_run()) op();
    }
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

Result Stream::submit(Op op) {
  {
    std::lock_guard lock(mutex_);
    if (captured_) {
      capture_.push_back(std::move(op));
      return success;
    }
    queue_.push_back(std::move(op));
  }
  changed_.notify_all();
  return success;
}

Result Stream::submit_or_vanish(Op op) { return captures() ? success : submit(std::move(op)); }

void Stream::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return queue_.empty() && !busy_; });
}

bool Stream::captures() {
  std::lock_guard lock(mutex_);
  return captured_;
}

void Stream::invalidate() {
  std::lock_guard lock(mutex_);
  invalidated_ = true;
}

Result Stream::capture_begin() {
  std::lock_guard lock(mutex_);
  if (captured_) return capture_unsupported;
  captured_ = true;
  invalidated_ = false;
  capture_.clear();
  return success;
}

Result Stream::capture_end(std::vector<Op>& out) {
  std::lock_guard lock(mutex_);
  if (!captured_) return capture_unsupported;
  captured_ = false;
  out = std::move(capture_);
  capture_.clear();
  return invalidated_ ? capture_invalidated : success;
}

Stream* stream_of(void* handle) {
  static auto* legacy = new Stream(primary());
  Stream* stream = handle == nullptr ? legacy : static_cast<Stream*>(handle);
  return stream->context() == current ? stream : nullptr;
}

void* work_symbol(std::string_view name) {
  static const std::map<std::string_view, void*> symbols = {{"cuMemcpyHtoDAsync", any(copy_up)},
                                                            {"cuMemcpyDtoHAsync", any(copy_down)},
                                                            {"cuMemcpyAsync", any(copy_any)},
                                                            {"cuMemcpyBatchAsync", any(copy_batch)},
                                                            {"cuMemsetD8Async", any(fill)},
                                                            {"cuLaunchHostFunc", any(host_function)},
                                                            {"cuStreamBatchMemOp", any(words)},
                                                            {"cuStreamCreate", any(stream_create)},
                                                            {"cuStreamDestroy", any(stream_destroy)},
                                                            {"cuStreamSynchronize", any(stream_wait)},
                                                            {"cuStreamWaitEvent", any(stream_wait_event)},
                                                            {"cuStreamGetCtx", any(stream_context)},
                                                            {"cuStreamIsCapturing", any(is_capturing)},
                                                            {"cuEventCreate", any(event_create)},
                                                            {"cuEventDestroy", any(event_destroy)},
                                                            {"cuEventRecord", any(event_record)},
                                                            {"cuEventQuery", any(event_query)},
                                                            {"cuEventSynchronize", any(event_wait)},
                                                            {"cuEventElapsedTime", any(event_elapsed)},
                                                            {"cuStreamBeginCapture", any(capture_begin)},
                                                            {"cuStreamEndCapture", any(capture_end)},
                                                            {"cuGraphInstantiateWithFlags", any(graph_instantiate)},
                                                            {"cuGraphDestroy", any(graph_destroy)},
                                                            {"cuGraphExecDestroy", any(graph_destroy)},
                                                            {"cuGraphLaunch", any(graph_launch)}};
  const auto found = symbols.find(name);
  return found == symbols.end() ? nullptr : found->second;
}

}  // namespace stand_in
