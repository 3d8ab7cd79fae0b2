// SPDX-License-Identifier: Apache-2.0
// A worker thread a stream: operations of different streams really run beside each other.
#include <chrono>

#include "backends/host/engine.hpp"

namespace hoist_backend::host {
namespace {

class ThreadedEngine final : public Engine {
 public:
  using Engine::Engine;

  void start(Stream& stream) override {
    stream.worker = std::thread([this, &stream] { serve(stream); });
  }

  void stop(Stream& stream) override {
    {
      std::lock_guard lock(stream.mutex);
      stream.stopping = true;
      stream.work.notify_one();
    }
    stream.worker.join();
  }

  void submit(Stream& stream, Op&& op) override {
    std::lock_guard lock(stream.mutex);
    stream.queue.push(std::move(op));
    stream.submitted.fetch_add(1, std::memory_order_relaxed);
    if (stream.idle) stream.work.notify_one();
  }

  [[nodiscard]] double now_us() const override {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - opened_).count();
  }

 private:
  void serve(Stream& stream) {
    std::uint64_t sequence = 0;
    std::unique_lock lock(stream.mutex);
    while (next(stream, lock)) {
      {
        Op op = stream.queue.pop();
        lock.unlock();
        run(stream, ++sequence, op);
      }  // what the operation refers to goes without the lock
      lock.lock();
      stream.completed.store(sequence, std::memory_order_release);
      if (stream.waiters != 0) stream.done.notify_all();
    }
  }

  // False when the stream has ended.
  static bool next(Stream& stream, std::unique_lock<std::mutex>& lock) {
    stream.idle = true;
    stream.work.wait(lock, [&] { return stream.stopping || !stream.queue.empty(); });
    stream.idle = false;
    return !stream.queue.empty();
  }

  const std::chrono::steady_clock::time_point opened_ = std::chrono::steady_clock::now();
};

}  // namespace

std::unique_ptr<Engine> make_threaded_engine(Parts& parts) { return std::make_unique<ThreadedEngine>(parts); }

}  // namespace hoist_backend::host
