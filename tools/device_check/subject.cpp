// SPDX-License-Identifier: Apache-2.0
#include "device_check/subject.hpp"

#include <dlfcn.h>
#include <sys/mman.h>

#include <chrono>
#include <thread>
#include <utility>

#include "hoist/hoist.hpp"

namespace device_check {
namespace {

SlotPlace* slot_place = nullptr;

void error_set(hoist_status_t code, const char* message, const char*) {
  Subject::said() = {code, message == nullptr ? "" : message};
}
void log_nothing(hoist_log_level_t, const char*) {}

const hoist_device_services_t services = {sizeof(hoist_device_services_t), HOIST_DEVICE_ABI_VERSION, 0, error_set,
                                          log_nothing};

// As hoist's loader, but with services of the checks' own, so that every word of the device is heard.
hoist_device_ops_t table_of(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw Failure(dlerror());
  auto* init = reinterpret_cast<hoist_device_plugin_init_fn_t>(dlsym(library, "hoist_device_plugin_init"));
  if (init == nullptr) throw Failure("it does not export hoist_device_plugin_init");
  for (std::uint32_t level = HOIST_DEVICE_ABI_VERSION; level >= 1; --level) {
    hoist_device_ops_t ops{};
    ops.struct_size = sizeof ops;
    const hoist_status_t status = init(level, &services, &ops);
    if (status == HOIST_OK) return ops;
    if (status != HOIST_ERROR_UNSUPPORTED) throw Failure("init: " + Subject::said().message);
  }
  throw Failure("it serves none of the levels of this hoist");
}

}  // namespace

void set_slot_place(SlotPlace* place) { slot_place = place; }

void require(bool condition, const std::string& words) {
  if (!condition) throw Failure(words);
}

Subject::Subject(Target target) : target_(std::move(target)) {
  if (!target_.plugin.empty()) {
    ops_ = table_of(target_.plugin);
  } else {
    try {
      ops_ = hoist::device_ops(target_.kind);
    } catch (const hoist::Exception& error) {
      throw Failure(error.message());
    }
  }
}

Subject::~Subject() { close(); }

void Subject::close() {
  if (std::exchange(is_open_, false)) ops_.close(std::exchange(self_, nullptr));
}

Said& Subject::said() {
  static thread_local Said words;
  return words;
}

void Subject::note(const char* name, bool there) {
  if (slot_place != nullptr) slot_place->store(name, std::memory_order_relaxed);
  said() = {};
  if (!there) throw Failure(std::string("slot ") + name + " is NULL");
}

void Subject::expect(const char* slot, hoist_status_t got, hoist_status_t wanted) {
  if (got == wanted) return;
  std::string words = std::string(slot) + " gave " + hoist_status_string(got);
  if (wanted != HOIST_OK) words += std::string(" instead of ") + hoist_status_string(wanted);
  if (!said().message.empty()) words += ": " + said().message;
  throw Failure(words);
}

void* Subject::open(std::uint32_t index) {
  void* opened = nullptr;
  expect("open", at("open", ops_.open)(ops_.driver, index, target_.options.c_str(), &opened), HOIST_OK);
  return opened;
}

void* Subject::self() {
  if (!is_open_) {
    self_ = open(target_.index);
    is_open_ = true;
  }
  return self_;
}

const hoist_device_properties_t& Subject::facts() {
  if (facts_.struct_size != 0) return facts_;
  hoist_device_properties_t facts{};
  facts.struct_size = sizeof facts;
  DC_OK(*this, query, &facts);
  facts.struct_size = sizeof facts;
  return facts_ = facts;
}

void Stream::destroy() {
  if (handle_ != nullptr) subject_.ops().stream_destroy(subject_.self(), std::exchange(handle_, nullptr));
}

void Event::destroy() {
  if (handle_ != nullptr) subject_.ops().event_destroy(subject_.self(), std::exchange(handle_, nullptr));
}

Memory::~Memory() { subject_.ops().memory_destroy(subject_.self(), memory_); }

HostMemory::HostMemory(Subject& subject, std::uint64_t bytes, bool registered)
    : subject_(subject), size_((bytes + 4095) / 4096 * 4096) {
  void* mapped = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (mapped == MAP_FAILED) throw std::runtime_error("no host memory for a check");
  memory_ = static_cast<std::uint8_t*>(mapped);
  if (!registered) return;
  const hoist_status_t status = subject_.ops().host_register(subject_.self(), memory_, size_);
  registered_ = status == HOIST_OK;
  if (registered_ || status == HOIST_ERROR_UNSUPPORTED) return;
  munmap(memory_, size_);
  subject_.expect("host_register", status, HOIST_OK);
}

HostMemory::~HostMemory() {
  if (registered_) static_cast<void>(subject_.ops().host_unregister(subject_.self(), memory_, size_));
  munmap(memory_, size_);
}

void Gate::pass(void* gate) {
  auto* self = static_cast<Gate*>(gate);
  const auto begin = std::chrono::steady_clock::now();
  while (!self->open_.load(std::memory_order_acquire)) {
    if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(2)) return self->gave_up_.store(true);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

void Flag::raise_late(void* flag) {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  raise(flag);
}

}  // namespace device_check
