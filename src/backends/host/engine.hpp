// SPDX-License-Identifier: Apache-2.0
// How operations get to run: at submission, on a thread a stream, or on a virtual clock.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "backends/common/faults.hpp"
#include "backends/host/memory.hpp"
#include "backends/host/options.hpp"
#include "backends/host/remap.hpp"
#include "backends/host/stream.hpp"
#include "backends/host/throttle.hpp"

namespace hoist_backend::host {

// What all engines share; belongs to the device.
struct Parts {
  explicit Parts(const Options& given)
      : options(given),
        memory(given),
        remapper(memory, given.alignment),
        throttle(given),
        copy_delay_us(given.copy_delay_us) {}

  const Options options;
  DeviceMemory memory;
  Remapper remapper;
  HostRanges host_ranges;
  Throttle throttle;
  Faults faults{true};
  std::atomic<double> copy_delay_us;
};

class Engine {
 public:
  explicit Engine(Parts& parts) : parts_(parts) {}
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  virtual void start(Stream&) {}
  virtual void stop(Stream&) {}  // all its operations have completed
  // Takes the stream's next operation; never called twice at once for one stream.
  virtual void submit(Stream& stream, Op&& op) = 0;
  // Blocks until the stream has completed so many operations.
  virtual void wait(Stream& stream, std::uint64_t sequence) { stream.await(sequence); }
  // Virtual clock: does what can be done without the clock advancing.
  virtual void settle() {}
  [[nodiscard]] virtual double now_us() const = 0;

 protected:
  // Moves the bytes or calls the function. Throws Error.
  void move(Stream& stream, const Op& op);
  // Before a copy or a fill, at random.
  double random_delay_us(Stream& stream);
  // An operation in real time, its failure put on the stream.
  void run(Stream& stream, std::uint64_t sequence, Op& op);
  // A stream whose past failed, or that waited for one that did.
  void pass_failure_on(Stream& stream, std::uint64_t sequence, const Recording& recording);

  Parts& parts_;

 private:
  void run_checked(Stream& stream, std::uint64_t sequence, Op& op);
};

std::unique_ptr<Engine> make_inline_engine(Parts& parts);
std::unique_ptr<Engine> make_threaded_engine(Parts& parts);
std::unique_ptr<Engine> make_virtual_engine(Parts& parts);

}  // namespace hoist_backend::host
