// SPDX-License-Identifier: Apache-2.0
// One open GPU: its primary context, which the CUDA runtime and torch use too.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <unordered_map>

#include "backends/common/faults.hpp"
#include "backends/cuda/driver_api.hpp"
#include "hoist/device_ops.h"

namespace hoist_backend::cuda {

struct Stream {
  CUstream handle = nullptr;
  bool owned = false;           // else the user's; null is their legacy stream
  CUcontext context = nullptr;  // that calls about it are made in
  bool captured = false;        // by capture_begin; whether the user captures theirs is asked
};

// Memory without an address.
struct Handle {
  CUmemGenericAllocationHandle handle = 0;
  std::uint64_t bytes = 0;
};

// Captured and made ready to be launched.
struct Graph {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
};

struct Event {
  CUevent handle = nullptr;
  std::atomic<bool> recorded{false};  // the driver takes an event that never was for a reached one
};

// Makes the device's context the thread's current one for a call, and the user's again after it.
class Current {
 public:
  explicit Current(CUcontext context);
  ~Current();
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  CUcontext before_ = nullptr;
  bool changed_ = false;
};

// While some stream is being captured, calls that wait or allocate would break that capture, be it another
// thread's. They say here that they have nothing to do with it.
class OutsideCapture {
 public:
  OutsideCapture() { driver().cuThreadExchangeStreamCaptureMode(&mode_); }
  ~OutsideCapture() { driver().cuThreadExchangeStreamCaptureMode(&mode_); }
  OutsideCapture(const OutsideCapture&) = delete;
  OutsideCapture& operator=(const OutsideCapture&) = delete;

 private:
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;  // then the thread's own
};

class CudaDevice {
 public:
  using Stream = cuda::Stream;
  using Event = cuda::Event;
  using Handle = cuda::Handle;
  using Graph = cuda::Graph;
  static constexpr const char* kind_name = "cuda";
  static std::uint32_t count() { return static_cast<std::uint32_t>(driver_state().devices.size()); }
  static void describe(std::uint32_t index, hoist_device_properties_t& out);
  // Where there is none: throws what became of the driver.
  static CudaDevice* open(std::uint32_t index, std::string_view options);

  ~CudaDevice();
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  Faults& faults() noexcept { return faults_; }

  void query(hoist_device_properties_t& out) const { describe(index_, out); }
  void query_memory(std::uint64_t& free, std::uint64_t& total) const;
  void set(std::string_view key, std::string_view value);
  [[nodiscard]] double now_us() const;

  void* memory_create(std::uint64_t bytes);
  void memory_destroy(void* memory);
  void host_register(void* memory, std::uint64_t bytes);
  void host_unregister(void* memory, std::uint64_t bytes);

  Stream* stream_create();
  Stream* stream_wrap(void* native);
  void stream_destroy(Stream* stream);
  void stream_wait(const Stream& stream);
  void stream_wait_event(const Stream& stream, const Event& event);

  Event* event_create();
  void event_destroy(Event* event);
  void event_record(Event& event, const Stream& stream);
  [[nodiscard]] bool event_poll(const Event& event);
  void event_wait(const Event& event);
  [[nodiscard]] double event_elapsed_us(const Event& begin, const Event& end);

  void copy(const Stream& stream, hoist_copy_kind_t kind, void* dst, const void* src, std::uint64_t bytes);
  void copy_batch(const Stream& stream, hoist_copy_kind_t kind, std::uint64_t count, void* const* dst,
                  const void* const* src, const std::uint64_t* bytes);
  void fill(const Stream& stream, void* dst, std::uint8_t value, std::uint64_t bytes);
  void host_function(const Stream& stream, hoist_host_fn_t function, void* user_data, double modelled_us);

  // mapping.cpp
  Handle* handle_create(std::uint64_t bytes);
  void handle_destroy(Handle* handle);
  void* address_reserve(std::uint64_t bytes);
  void address_release(void* address, std::uint64_t bytes);
  void memory_map(void* address, std::uint64_t bytes, const Handle& handle);
  void memory_unmap(void* address, std::uint64_t bytes);

  // graphs.cpp
  std::uint32_t* words_create(std::uint64_t count);
  void words_destroy(std::uint32_t* words);
  void words_submit(const Stream& stream, std::uint64_t count, const hoist_word_op_t* operations);
  // Asking a stream of a lost context fails.
  [[nodiscard]] bool is_capturing(const Stream& stream);
  [[nodiscard]] static bool has_capture(const Stream& stream);
  void capture_begin(Stream& stream);
  Graph* capture_end(Stream& stream);
  void graph_launch(const Graph& graph, const Stream& stream);
  void graph_destroy(Graph* graph);
  Stream* stream_create_aside();

 private:
  CudaDevice(std::uint32_t index, const DeviceFacts& facts);
  static const DeviceFacts& facts_of(std::uint32_t index);
  [[nodiscard]] static std::uint64_t capabilities_of(const DeviceFacts& facts);
  void require(hoist_capability_t capability, const char* what) const;
  [[nodiscard]] CUmemLocation here() const;
  [[noreturn]] void fail_out_of_memory(std::uint64_t bytes) const;
  CUcontext context_aside();
  [[nodiscard]] static bool is_pinned(const void* memory, std::uint64_t bytes);
  [[nodiscard]] static bool captures(const Stream& stream);
  void reach(const void* memory);
  void submit_copy(const Stream& stream, hoist_copy_kind_t kind, void* dst, const void* src, std::uint64_t bytes);

  const std::uint32_t index_;
  const std::chrono::steady_clock::time_point opened_ = std::chrono::steady_clock::now();
  const CUdevice device_;
  CUcontext context_ = nullptr;
  CUcontext aside_ = nullptr;  // of streams that launches and waits for the device must not hold up
  Faults faults_{false};
  std::mutex mutex_;
  std::unordered_map<void*, std::uint64_t> registered_;           // by us: bytes
  std::set<CUdevice> peers_;                                      // whose contexts are held
  std::unordered_map<Handle*, std::unique_ptr<Handle>> handles_;  // those that a lost device does not unmap stay
};

}  // namespace hoist_backend::cuda
