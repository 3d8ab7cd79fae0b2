// SPDX-License-Identifier: Apache-2.0
// Tables of device authors, names of devices, one open device for all who ask.
#include "device/registry.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <thread>

#include "base/log.hpp"
#include "unit/host/bench.hpp"

namespace hoist {
namespace {

// A device that can do nothing but be there.
hoist_device_ops_t table(const char* name) {
  hoist_device_ops_t ops{};
  ops.struct_size = sizeof ops;
  ops.abi_version = HOIST_DEVICE_ABI_VERSION;
  ops.name = name;
  ops.count = [](void*, std::uint32_t* out) {
    *out = 1;
    return HOIST_OK;
  };
  ops.describe = [](void*, std::uint32_t index, hoist_device_properties_t* out) {
    std::snprintf(out->name, sizeof out->name, "described:%u", index);
    return HOIST_OK;
  };
  ops.open = [](void*, std::uint32_t, const char*, void** out) {
    *out = nullptr;
    return HOIST_OK;
  };
  ops.close = [](void*) {};
  ops.query = [](void*, hoist_device_properties_t* out) {
    out->alignment = 64;
    return HOIST_OK;
  };
  ops.query_memory = [](void*, std::uint64_t*, std::uint64_t*) { return HOIST_ERROR_BUSY; };
  ops.get_time = [](void*, double*) { return HOIST_OK; };
  ops.memory_create = [](void*, std::uint64_t, void**) { return HOIST_OK; };
  ops.memory_destroy = [](void*, void*) {};
  ops.host_register = [](void*, void*, std::uint64_t) { return HOIST_OK; };
  ops.host_unregister = [](void*, void*, std::uint64_t) { return HOIST_OK; };
  ops.stream_create = [](void*, void**) { return HOIST_OK; };
  ops.stream_destroy = [](void*, void*) {};
  ops.stream_wait = [](void*, void*) { return HOIST_OK; };
  ops.stream_wait_event = [](void*, void*, void*) { return HOIST_OK; };
  ops.event_create = [](void*, void**) { return HOIST_OK; };
  ops.event_destroy = [](void*, void*) {};
  ops.event_record = [](void*, void*, void*) { return HOIST_OK; };
  ops.event_poll = [](void*, void*, int*) { return HOIST_OK; };
  ops.event_wait = [](void*, void*) { return HOIST_OK; };
  ops.event_get_elapsed = [](void*, void*, void*, double*) { return HOIST_OK; };
  ops.copy = [](void*, void*, hoist_copy_kind_t, void*, const void*, std::uint64_t) { return HOIST_OK; };
  ops.fill = [](void*, void*, void*, std::uint8_t, std::uint64_t) { return HOIST_OK; };
  ops.host_function = [](void*, void*, hoist_host_fn_t, void*, double) { return HOIST_OK; };
  return ops;
}

TEST(Register, AGoodTableMakesDevices) {
  const std::uint32_t before = device_count();
  const auto ops = table("good");
  const hoist_device_services_t* services = register_device(ops);
  EXPECT_EQ(sizeof(hoist_device_services_t), services->struct_size);
  EXPECT_EQ(before + 1, device_count());
  EXPECT_STREQ("described:0", device_properties(before).name);
  std::string message;
  EXPECT_EQ(HOIST_ERROR_NOT_FOUND, status_of([&] { static_cast<void>(device_properties(before + 1)); }, &message));
  EXPECT_EQ(ops.copy, device_ops("good").copy);
  EXPECT_EQ(nullptr, device_ops("good").copy_batch);
  EXPECT_EQ(HOIST_ERROR_NOT_FOUND, status_of([&] { static_cast<void>(device_ops("goof")); }, &message));
  EXPECT_NE(std::string::npos, message.find("'good'")) << message;
  auto device = Device::open("good:0");
  EXPECT_EQ(64u, device->properties().alignment);
}

TEST(Register, OptionalSlotsAreServedByStubs) {
  register_device(table("sparse"));
  auto device = Device::open("sparse:0");
  std::string message;
  EXPECT_EQ(HOIST_ERROR_UNSUPPORTED, status_of([&] { device->set("x", "y"); }, &message));
  EXPECT_NE(std::string::npos, message.find("sparse:0: set:")) << message;
  EXPECT_EQ(HOIST_ERROR_UNSUPPORTED, status_of([&] { device->stream_wrap(nullptr); }));
  EXPECT_EQ(HOIST_OK, status_of([&] { device->access_begin(nullptr, nullptr, 1); }));  // no such capability
  std::uint64_t free = 0;
  EXPECT_EQ(HOIST_ERROR_BUSY, status_of([&] { device->query_memory(free, free); }, &message));
  EXPECT_NE(std::string::npos, message.find("gave no reason")) << message;
}

TEST(Register, EveryRequiredSlotIsMissed) {
  const std::pair<const char*, std::size_t> slots[] = {
#define HOIST_AT(slot) {#slot, offsetof(hoist_device_ops_t, slot)}
      HOIST_AT(count),
      HOIST_AT(describe),
      HOIST_AT(open),
      HOIST_AT(close),
      HOIST_AT(query),
      HOIST_AT(query_memory),
      HOIST_AT(get_time),
      HOIST_AT(memory_create),
      HOIST_AT(memory_destroy),
      HOIST_AT(host_register),
      HOIST_AT(host_unregister),
      HOIST_AT(stream_create),
      HOIST_AT(stream_destroy),
      HOIST_AT(stream_wait),
      HOIST_AT(stream_wait_event),
      HOIST_AT(event_create),
      HOIST_AT(event_destroy),
      HOIST_AT(event_record),
      HOIST_AT(event_poll),
      HOIST_AT(event_wait),
      HOIST_AT(event_get_elapsed),
      HOIST_AT(copy),
      HOIST_AT(fill),
      HOIST_AT(host_function)};
#undef HOIST_AT
  for (const auto& [name, offset] : slots) {
    auto ops = table("missing");
    std::memset(reinterpret_cast<char*>(&ops) + offset, 0, sizeof(void*));
    std::string message;
    EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] { register_device(ops); }, &message)) << name;
    EXPECT_NE(std::string::npos, message.find(std::string("required slot ") + name + " is NULL")) << message;
  }
}

TEST(Register, TablesThatAreCutShortOrFromTheFutureAreRefused) {
  std::string message;
  auto ops = table("odd");
  ops.struct_size = sizeof ops - sizeof(void*);
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] { register_device(ops); }, &message));
  EXPECT_NE(std::string::npos, message.find("cut short")) << message;
  ops = table("odd");
  ops.abi_version = HOIST_DEVICE_ABI_VERSION + 1;
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] { register_device(ops); }, &message));
  EXPECT_NE(std::string::npos, message.find("abi_version is 2")) << message;
  ops.abi_version = 0;
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] { register_device(ops); }, &message));
  EXPECT_NE(std::string::npos, message.find("abi_version is 0")) << message;
  struct Future {
    hoist_device_ops_t ops;
    void* more;
  } future{table("future"), nullptr};
  future.ops.struct_size = sizeof future;
  future.more = &future;
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] { register_device(future.ops); }, &message));
  EXPECT_NE(std::string::npos, message.find("from the future")) << message;
  future.more = nullptr;  // a slot that is not used does not matter
  EXPECT_EQ(HOIST_OK, status_of([&] { register_device(future.ops); }, &message)) << message;
}

TEST(Register, ACapabilityWithoutItsSlotIsAnErrorOfOpen) {
  auto ops = table("claims");
  ops.query = [](void*, hoist_device_properties_t* out) {
    out->alignment = 64;
    out->capabilities = HOIST_CAPABILITY_ASYNC | HOIST_CAPABILITY_BATCH;
    return HOIST_OK;
  };
  register_device(ops);
  std::string message;
  EXPECT_EQ(HOIST_ERROR_DEVICE, status_of([] { Device::open("claims:0"); }, &message));
  EXPECT_NE(std::string::npos, message.find("claims:0")) << message;
  EXPECT_NE(std::string::npos, message.find("slot copy_batch is NULL")) << message;
}

TEST(Register, NamesAreCheckedAndTakenOnce) {
  std::string message;
  EXPECT_EQ(HOIST_ERROR_ALREADY_EXISTS, status_of([] { register_device(table("host")); }, &message));
  EXPECT_NE(std::string::npos, message.find("'host'")) << message;
  for (const char* bad : {"", "Host", "a b", "a:b", static_cast<const char*>(nullptr)}) {
    EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([bad] { register_device(table(bad)); }));
  }
}

TEST(Open, WhatIsNotThereIsNotFound) {
  std::string message;
  EXPECT_EQ(HOIST_ERROR_NOT_FOUND, status_of([] { Device::open("hst:0"); }, &message));
  EXPECT_NE(std::string::npos, message.find("'host'")) << message;
  EXPECT_EQ(HOIST_ERROR_NOT_FOUND, status_of([] { Device::open("host:2"); }, &message));
  EXPECT_NE(std::string::npos, message.find("host:0 to host:1")) << message;
  for (const char* bad : {"", "host", "host:", ":0", "host:x", "host:-1", "host:0x", "host:0?mode", "host:0?=1",
                          "host:99999999999", "host:0?seed=1&seed=2"}) {
    EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([bad] { Device::open(bad); })) << bad;
  }
}

TEST(Open, OneDeviceIsSharedAndOptionsMayNotDiffer) {
  auto device = Device::open("host:0?mode=inline&seed=3");
  EXPECT_EQ(device, Device::open("host:0"));
  EXPECT_EQ(device, Device::open("host:0?seed=3&mode=inline"));
  std::string message;
  EXPECT_EQ(HOIST_ERROR_ALREADY_EXISTS, status_of([] { Device::open("host:0?mode=threaded"); }, &message));
  EXPECT_NE(std::string::npos, message.find("open as 'host:0?mode=inline&seed=3'")) << message;
  EXPECT_EQ(HOIST_ERROR_ALREADY_EXISTS, status_of([] { Device::open("host:0?memory=1MiB"); }));
  EXPECT_NE(device, Device::open("host:1"));
  device.reset();
  EXPECT_EQ(HOIST_OK, status_of([] { Device::open("host:0?mode=threaded"); }));
}

TEST(Open, AFailedOpenLeavesNothingBehind) {
  EXPECT_NE(HOIST_OK, status_of([] { Device::open("host:0?mode=fast"); }));
  EXPECT_EQ(HOIST_OK, status_of([] { Device::open("host:0?mode=inline"); }));
}

TEST(Open, ThreadsThatOpenAtOnceGetOneDevice) {
  std::vector<std::shared_ptr<Device>> opened(8);
  std::vector<std::thread> threads;
  for (auto& device : opened) threads.emplace_back([&device] { device = Device::open("host:0?mode=threaded"); });
  for (auto& thread : threads) thread.join();
  for (const auto& device : opened) EXPECT_EQ(opened[0], device);
}

// The child has none of the device's threads: it opens its own, and dropping the parent's waits for nothing.
TEST(Open, AChildOpensItsOwn) {
  auto device = Device::open("host:0?mode=threaded");
  void* stream = device->stream_create();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto own = Device::open("host:0?mode=inline");
    if (own == device) _exit(1);
    void* own_stream = own->stream_create();
    int value = 0;
    own->host_function(
        own_stream, [](void* user) { *static_cast<int*>(user) = 1; }, &value, 0);
    own->stream_destroy(own_stream);
    device.reset();
    _exit(value == 1 ? 0 : 2);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(0, WEXITSTATUS(status));
  device->stream_destroy(stream);
}

}  // namespace
}  // namespace hoist
