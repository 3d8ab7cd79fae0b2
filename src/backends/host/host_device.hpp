// SPDX-License-Identifier: Apache-2.0
// One open host device: checks what comes, keeps streams and events, leaves running to its engine.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "backends/host/engine.hpp"

namespace hoist_backend::host {

class HostDevice {
 public:
  using Stream = host::Stream;
  using Event = host::Event;
  using Handle = Remapper::Handle;
  using Graph = host::Graph;
  static constexpr const char* kind_name = "host";
  static std::uint32_t count() noexcept { return 2; }
  static void describe(std::uint32_t index, hoist_device_properties_t& out);
  static HostDevice* open(std::uint32_t index, std::string_view options);

  HostDevice(std::uint32_t index, const Options& options);
  ~HostDevice();
  HostDevice(const HostDevice&) = delete;
  HostDevice& operator=(const HostDevice&) = delete;

  Faults& faults() noexcept { return parts_.faults; }

  void query(hoist_device_properties_t& out) const { describe(index_, parts_.options, out); }
  void query_memory(std::uint64_t& free, std::uint64_t& total) const { parts_.memory.query(free, total); }
  void set(std::string_view key, std::string_view value);
  [[nodiscard]] double now_us() const { return engine_->now_us(); }

  void* memory_create(std::uint64_t bytes) { return parts_.memory.allocate(bytes); }
  void memory_destroy(void* memory) { parts_.memory.release(memory); }
  void host_register(void* memory, std::uint64_t bytes) { parts_.host_ranges.add(memory, bytes); }
  void host_unregister(void* memory, std::uint64_t bytes) { parts_.host_ranges.remove(memory, bytes); }

  Stream* stream_create();
  void stream_destroy(Stream* stream);
  void stream_wait(Stream& stream);
  void stream_wait_event(Stream& stream, const Event& event);

  Event* event_create() { return new Event; }
  void event_destroy(Event* event) { Ref<Event>::release(event); }
  void event_record(Event& event, Stream& stream);
  [[nodiscard]] bool event_poll(const Event& event);
  void event_wait(const Event& event);
  [[nodiscard]] double event_elapsed_us(const Event& begin, const Event& end);

  void copy(Stream& stream, hoist_copy_kind_t kind, void* dst, const void* src, std::uint64_t bytes);
  void fill(Stream& stream, void* dst, std::uint8_t value, std::uint64_t bytes);
  void host_function(Stream& stream, hoist_host_fn_t function, void* user_data, double modelled_us);
  void access_begin(Stream& stream, void* memory, std::uint64_t bytes) { access(stream, true, memory, bytes); }
  void access_end(Stream& stream, void* memory, std::uint64_t bytes) { access(stream, false, memory, bytes); }

  Handle* handle_create(std::uint64_t bytes) { return remapper().create(bytes); }
  void handle_destroy(Handle* handle) { parts_.remapper.destroy(handle); }
  void* address_reserve(std::uint64_t bytes) { return remapper().reserve(bytes); }
  void address_release(void* address, std::uint64_t bytes) { parts_.remapper.release(address, bytes); }
  void memory_map(void* address, std::uint64_t bytes, Handle& handle) { remapper().map(address, bytes, &handle); }
  void memory_unmap(void* address, std::uint64_t bytes) { remapper().unmap(address, bytes); }

  std::uint32_t* words_create(std::uint64_t count);
  void words_destroy(std::uint32_t* words) { delete[] words; }
  void words_submit(Stream& stream, std::uint64_t count, const hoist_word_op_t* operations);

  // Asking a stream that has failed fails.
  [[nodiscard]] static bool is_capturing(const Stream& stream);
  [[nodiscard]] static bool has_capture(const Stream& stream) { return stream.capture != nullptr; }
  void capture_begin(Stream& stream);
  Graph* capture_end(Stream& stream);
  void graph_launch(const Graph& graph, Stream& stream);
  void graph_destroy(Graph* graph) { delete graph; }
  Stream* stream_create_aside() { return stream_create(); }  // here no launch holds anything up

 private:
  [[nodiscard]] static std::uint64_t capabilities_of(const Options& options);
  void require(hoist_capability_t capability, const char* what) const;
  void require_not_capturing(const Stream& stream, const char* what) const;
  Remapper& remapper();
  static void describe(std::uint32_t index, const Options& options, hoist_device_properties_t& out);
  void access(Stream& stream, bool begins, void* memory, std::uint64_t bytes);
  void submit(Stream& stream, Op&& op);
  void check_copy(hoist_copy_kind_t kind, const void* dst, const void* src, std::uint64_t bytes);

  const std::uint32_t index_;
  Parts parts_;
  std::unique_ptr<Engine> engine_;
  std::mutex mutex_;
  std::uint64_t stream_count_ = 0;
  std::vector<Stream*> streams_;
};

}  // namespace hoist_backend::host
