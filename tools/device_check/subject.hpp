// SPDX-License-Identifier: Apache-2.0
// The device that is looked at: its raw table, with nothing of hoist between it and the checks.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "hoist/device_ops.h"

namespace device_check {

// What a check throws: the device did not do what its header says, or there is nothing to look at.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Skip : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What was named on the command line.
struct Target {
  std::string plugin;  // a path; empty: a kind that hoist knows
  std::string kind;    // of the device; empty: the plugin's
  std::uint32_t index = 0;
  std::string options;  // "memory=1GiB"
};

// Where the name of the slot that is being called is left: in memory that is shared with the process that watches,
// which has the same literals at the same addresses.
using SlotPlace = std::atomic<const char*>;
void set_slot_place(SlotPlace* place);

// What the device said by error_set on this thread since the last call of a slot.
struct Said {
  hoist_status_t code = HOIST_OK;
  std::string message;
};

class Subject {
 public:
  // Reads the table, and opens nothing. Throws Failure where there is none.
  explicit Subject(Target target);
  ~Subject();
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  [[nodiscard]] const Target& target() const noexcept { return target_; }
  [[nodiscard]] const hoist_device_ops_t& ops() const noexcept { return ops_; }
  // Opens the device on first use.
  void* self();
  void* open(std::uint32_t index);
  void close();
  [[nodiscard]] const hoist_device_properties_t& facts();
  [[nodiscard]] bool has(std::uint64_t capability) { return (facts().capabilities & capability) != 0; }
  // Whether a host function may wait for this thread: work runs beside it, in real time.
  [[nodiscard]] bool runs_beside() { return has(HOIST_CAPABILITY_ASYNC) && !has(HOIST_CAPABILITY_VIRTUAL_CLOCK); }
  [[nodiscard]] bool moves_bytes() { return !has(HOIST_CAPABILITY_NO_BYTES); }
  [[nodiscard]] std::string name() const { return std::string(ops_.name) + ":" + std::to_string(target_.index); }

  // Notes the slot that is called now. Throws Failure for one that is NULL.
  template <typename Slot>
  Slot at(const char* name, Slot slot) {
    note(name, slot != nullptr);
    return slot;
  }
  void expect(const char* slot, hoist_status_t got, hoist_status_t wanted);
  // Whether words are seen at all: those of a built-in device go to hoist.
  [[nodiscard]] bool hears() const noexcept { return !target_.plugin.empty(); }
  [[nodiscard]] static Said& said();

 private:
  void note(const char* name, bool there);

  Target target_;
  hoist_device_ops_t ops_{};
  void* self_ = nullptr;
  bool is_open_ = false;
  hoist_device_properties_t facts_{};
};

// The status of a slot of the open device; and the same where it must be HOIST_OK, or another one.
#define DC_STATUS(subject, slot, ...) \
  (subject).at(#slot, (subject).ops().slot)((subject).self() __VA_OPT__(, ) __VA_ARGS__)
#define DC_OK(subject, slot, ...) (subject).expect(#slot, DC_STATUS(subject, slot, __VA_ARGS__), HOIST_OK)
#define DC_FAILS(wanted, subject, slot, ...) (subject).expect(#slot, DC_STATUS(subject, slot, __VA_ARGS__), wanted)
#define DC_CALL(subject, slot, ...) static_cast<void>(DC_STATUS(subject, slot, __VA_ARGS__))

// Throws Failure with the words where the condition does not hold.
void require(bool condition, const std::string& words);

class Stream {
 public:
  explicit Stream(Subject& subject) : subject_(subject) { DC_OK(subject_, stream_create, &handle_); }
  ~Stream() { destroy(); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  void* get() const { return handle_; }
  void wait() { DC_OK(subject_, stream_wait, handle_); }
  void copy(hoist_copy_kind_t kind, void* dst, const void* src, std::uint64_t bytes) {
    DC_OK(subject_, copy, handle_, kind, dst, src, bytes);
  }
  void fill(void* dst, std::uint8_t value, std::uint64_t bytes) { DC_OK(subject_, fill, handle_, dst, value, bytes); }
  void host(hoist_host_fn_t function, void* user_data, double modelled_us = 1) {
    DC_OK(subject_, host_function, handle_, function, user_data, modelled_us);
  }
  void destroy();

 private:
  Subject& subject_;
  void* handle_ = nullptr;
};

class Event {
 public:
  explicit Event(Subject& subject) : subject_(subject) { DC_OK(subject_, event_create, &handle_); }
  ~Event() { destroy(); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void* get() const { return handle_; }
  void record(Stream& stream) { DC_OK(subject_, event_record, handle_, stream.get()); }
  bool poll() {
    int ready = -1;
    DC_OK(subject_, event_poll, handle_, &ready);
    require(ready == 0 || ready == 1, "event_poll gave " + std::to_string(ready));
    return ready == 1;
  }
  void wait() { DC_OK(subject_, event_wait, handle_); }
  void destroy();

 private:
  Subject& subject_;
  void* handle_ = nullptr;
};

class Memory {
 public:
  Memory(Subject& subject, std::uint64_t bytes) : subject_(subject) { DC_OK(subject_, memory_create, bytes, &memory_); }
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  std::uint8_t* at(std::uint64_t offset = 0) const { return static_cast<std::uint8_t*>(memory_) + offset; }

 private:
  Subject& subject_;
  void* memory_ = nullptr;
};

// Touched pages of their own, registered where that is asked for and the device can.
class HostMemory {
 public:
  HostMemory(Subject& subject, std::uint64_t bytes, bool registered = true);
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  std::uint8_t* at(std::uint64_t offset = 0) const { return memory_ + offset; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  Subject& subject_;
  std::uint64_t size_;
  std::uint8_t* memory_ = nullptr;
  bool registered_ = false;
};

// A host function that runs on until it is let go, or gives up after two seconds. Only where work runs beside this
// thread; made before the streams that it goes to.
class Gate {
 public:
  ~Gate() { open(); }
  static void pass(void* gate);
  void open() { open_.store(true, std::memory_order_release); }
  [[nodiscard]] bool gave_up() const { return gave_up_.load(); }

 private:
  std::atomic<bool> open_{false};
  std::atomic<bool> gave_up_{false};
};

// A host function that says that it ran, after a while.
struct Flag {
  std::atomic<bool> set{false};
  static void raise(void* flag) { static_cast<Flag*>(flag)->set.store(true, std::memory_order_release); }
  static void raise_late(void* flag);
};

}  // namespace device_check
