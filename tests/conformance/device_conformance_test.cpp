// SPDX-License-Identifier: Apache-2.0
// What hoist/device_ops.h promises, on any device.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include "support/device_objects.hpp"
#include "support/devices.hpp"

namespace hoist {
namespace {

using test::DeviceMemory;
using test::EventOf;
using test::HostMemory;
using test::StreamOf;
using ::testing::HasSubstr;

class DeviceConformance : public test::OnDevice {
 protected:
  hoist_status_t status_of(const std::function<void()>& call, std::string* message = nullptr) {
    try {
      call();
    } catch (const Error& error) {
      if (message != nullptr) *message = error.what() + std::string(" ") + error.hint();
      return error.code();
    }
    return HOIST_OK;
  }

  void round_trip(void* stream, std::uint8_t* host, std::uint8_t* back, std::uint64_t bytes) {
    DeviceMemory one(device, bytes);
    DeviceMemory other(device, bytes);
    for (std::uint64_t i = 0; i < bytes; ++i) host[i] = static_cast<std::uint8_t>(i * 7 + bytes);
    std::memset(back, 0, bytes);
    device->copy(stream, HOIST_COPY_H2D, one.get(), host, bytes);
    device->copy(stream, HOIST_COPY_D2D, other.get(), one.get(), bytes);
    device->copy(stream, HOIST_COPY_D2H, back, other.get(), bytes);
    device->stream_wait(stream);
    EXPECT_EQ(0, std::memcmp(host, back, bytes)) << bytes << " bytes";
  }
};

TEST_P(DeviceConformance, SaysWhatItIs) {
  const hoist_device_properties_t& facts = device->properties();
  EXPECT_EQ(device->name(), facts.name);
  EXPECT_NE('\0', facts.description[0]);
  EXPECT_GT(facts.memory_bytes, 0U);
  EXPECT_EQ(0U, facts.alignment & (facts.alignment - 1));
  std::uint64_t free = 0;
  std::uint64_t total = 0;
  device->query_memory(free, total);
  EXPECT_GT(free, 0U);
  EXPECT_LE(free, total);
}

TEST_P(DeviceConformance, MemoryIsAlignedAndCounted) {
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  std::uint64_t total = 0;
  device->query_memory(before, total);
  {
    DeviceMemory large(device, std::uint64_t{64} << 20);
    DeviceMemory small(device, 1);
    DeviceMemory none(device, 0);
    EXPECT_EQ(0U, reinterpret_cast<std::uintptr_t>(large.get()) % device->properties().alignment);
    EXPECT_EQ(0U, reinterpret_cast<std::uintptr_t>(small.get()) % device->properties().alignment);
    device->query_memory(after, total);
    EXPECT_LE(after + (std::uint64_t{64} << 20), before);
  }
  std::string message;
  EXPECT_EQ(HOIST_ERROR_OUT_OF_MEMORY, status_of([&] { device->memory_create(total + 1); }, &message));
  EXPECT_THAT(message, HasSubstr(std::to_string(total + 1)));
  EXPECT_THAT(message, HasSubstr("free"));
  DeviceMemory afterwards(device, 4096);  // a refusal leaves the device usable
}

TEST_P(DeviceConformance, CopiesEveryWay) {
  StreamOf stream(device);
  for (std::uint64_t bytes : {1ULL, 511ULL, 4096ULL, 65536ULL, (3ULL << 20) + 7}) {
    HostMemory host(device, bytes, true);
    HostMemory back(device, bytes, true);
    round_trip(stream.get(), host.bytes(), back.bytes(), bytes);
    HostMemory pageable(device, bytes, false);
    HostMemory pageable_back(device, bytes, false);
    round_trip(stream.get(), pageable.bytes(), pageable_back.bytes(), bytes);
  }
}

TEST_P(DeviceConformance, BatchesAreWholeAndInStreamOrder) {
  constexpr std::uint64_t count = 300;
  constexpr std::uint64_t piece = 1000;
  StreamOf stream(device);
  HostMemory host(device, count * piece, true);
  HostMemory back(device, count * piece, true);
  DeviceMemory memory(device, count * 1024);
  std::vector<void*> up, down;
  std::vector<const void*> from, at;
  std::vector<std::uint64_t> bytes;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::memset(host.bytes() + i * piece, static_cast<int>(i % 251), piece);
    up.push_back(static_cast<char*>(memory.get()) + i * 1024);
    from.push_back(host.bytes() + i * piece);
    down.push_back(back.bytes() + (count - 1 - i) * piece);
    at.push_back(up.back());
    bytes.push_back(i == 17 ? 0 : piece);
  }
  std::memset(back.bytes(), 0xEE, count * piece);
  device->fill(stream.get(), memory.get(), 0x11, count * 1024);
  device->copy_batch(stream.get(), HOIST_COPY_H2D, count, up.data(), from.data(), bytes.data());
  bytes[17] = piece;
  device->copy_batch(stream.get(), HOIST_COPY_D2H, count, down.data(), at.data(), bytes.data());
  device->stream_wait(stream.get());
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint8_t expected = i == 17 ? 0x11 : static_cast<std::uint8_t>(i % 251);
    const std::uint8_t* got = back.bytes() + (count - 1 - i) * piece;
    EXPECT_EQ(piece, static_cast<std::uint64_t>(std::count(got, got + piece, expected))) << "piece " << i;
  }
}

TEST_P(DeviceConformance, FillsExactlyItsBytes) {
  StreamOf stream(device);
  HostMemory back(device, 4096, true);
  DeviceMemory memory(device, 4096);
  device->fill(stream.get(), memory.get(), 0xA5, 4096);
  device->fill(stream.get(), static_cast<char*>(memory.get()) + 3, 0x5A, 1001);
  device->copy(stream.get(), HOIST_COPY_D2H, back.bytes(), memory.get(), 4096);
  device->stream_wait(stream.get());
  for (int i = 0; i < 4096; ++i) EXPECT_EQ(i >= 3 && i < 1004 ? 0x5A : 0xA5, back.bytes()[i]) << i;
}

struct Log {
  std::atomic<int> next{0};
  std::vector<int> seen = std::vector<int>(64, -1);
};
struct Entry {
  Log* log;
  int number;
};
void write_entry(void* data) {
  auto* entry = static_cast<Entry*>(data);
  entry->log->seen[static_cast<std::size_t>(entry->log->next++)] = entry->number;
}
void sleep_a_while(void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

TEST_P(DeviceConformance, HostFunctionsRunInStreamOrder) {
  StreamOf stream(device);
  Log log;
  std::vector<Entry> entries;
  for (int i = 0; i < 64; ++i) entries.push_back({&log, i});
  for (Entry& entry : entries) device->host_function(stream.get(), write_entry, &entry, 1);
  device->stream_wait(stream.get());
  for (int i = 0; i < 64; ++i) EXPECT_EQ(i, log.seen[static_cast<std::size_t>(i)]);
}

TEST_P(DeviceConformance, EventsOrderStreams) {
  StreamOf first(device);
  StreamOf second(device);
  EventOf event(device);
  Log log;
  Entry one{&log, 1};
  Entry two{&log, 2};
  device->host_function(first.get(), sleep_a_while, nullptr, 20000);
  device->host_function(first.get(), write_entry, &one, 1);
  device->event_record(event.get(), first.get());
  device->stream_wait_event(second.get(), event.get());
  device->host_function(second.get(), write_entry, &two, 1);
  device->stream_wait(second.get());
  EXPECT_EQ(1, log.seen[0]);
  EXPECT_EQ(2, log.seen[1]);
  device->stream_wait(first.get());
}

// The wait is for the recording at the time of the call; moving or destroying the event disturbs nobody.
TEST_P(DeviceConformance, AWaitKeepsItsRecording) {
  StreamOf first(device);
  StreamOf second(device);
  auto event = std::make_unique<EventOf>(device);
  Log log;
  Entry one{&log, 1};
  Entry two{&log, 2};
  Entry three{&log, 3};
  device->host_function(first.get(), sleep_a_while, nullptr, 20000);
  device->host_function(first.get(), write_entry, &one, 1);
  device->event_record(event->get(), first.get());
  device->stream_wait_event(second.get(), event->get());
  device->host_function(second.get(), write_entry, &two, 1);
  device->event_record(event->get(), second.get());
  device->stream_wait_event(first.get(), event->get());
  event.reset();
  device->host_function(first.get(), write_entry, &three, 1);
  device->stream_wait(first.get());
  device->stream_wait(second.get());
  EXPECT_EQ((std::vector<int>{1, 2, 3}), (std::vector<int>(log.seen.begin(), log.seen.begin() + 3)));
}

TEST_P(DeviceConformance, EventsThatWereNeverRecorded) {
  StreamOf stream(device);
  EventOf never(device);
  EventOf recorded(device);
  EXPECT_FALSE(device->event_poll(never.get()));
  EXPECT_EQ(HOIST_ERROR_ORDER, status_of([&] { device->event_wait(never.get()); }));
  EXPECT_EQ(HOIST_ERROR_ORDER, status_of([&] { device->stream_wait_event(stream.get(), never.get()); }));
  device->event_record(recorded.get(), stream.get());
  device->event_wait(recorded.get());
  EXPECT_TRUE(device->event_poll(recorded.get()));
  EXPECT_EQ(HOIST_ERROR_INVALID_STATE,
            status_of([&] { static_cast<void>(device->event_elapsed_us(recorded.get(), never.get())); }));
  EXPECT_EQ(HOIST_ERROR_INVALID_STATE,
            status_of([&] { static_cast<void>(device->event_elapsed_us(never.get(), recorded.get())); }));
}

TEST_P(DeviceConformance, EventsAreTimed) {
  StreamOf stream(device);
  EventOf begin(device);
  EventOf end(device);
  const double before = device->time_us();
  device->event_record(begin.get(), stream.get());
  device->host_function(stream.get(), sleep_a_while, nullptr, 20000);
  device->event_record(end.get(), stream.get());
  if (device->has(HOIST_CAPABILITY_ASYNC) && !device->has(HOIST_CAPABILITY_VIRTUAL_CLOCK) &&
      GetParam().rfind("host:", 0) == 0) {
    EXPECT_EQ(HOIST_ERROR_INVALID_STATE,
              status_of([&] { static_cast<void>(device->event_elapsed_us(begin.get(), end.get())); }));
  }
  device->event_wait(end.get());
  const double elapsed = device->event_elapsed_us(begin.get(), end.get());
  const double after = device->time_us();
  EXPECT_GE(elapsed, 19000);
  EXPECT_LE(elapsed, 1.1 * (after - before) + 1000);
}

TEST_P(DeviceConformance, DestroyingAStreamWaitsForItsWork) {
  Log log;
  Entry one{&log, 1};
  {
    StreamOf stream(device);
    device->host_function(stream.get(), sleep_a_while, nullptr, 20000);
    device->host_function(stream.get(), write_entry, &one, 1);
  }
  EXPECT_EQ(1, log.seen[0]);
}

TEST_P(DeviceConformance, SeveralThreadsWaitForOneStream) {
  StreamOf stream(device);
  Log log;
  Entry one{&log, 1};
  device->host_function(stream.get(), sleep_a_while, nullptr, 20000);
  device->host_function(stream.get(), write_entry, &one, 1);
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      device->stream_wait(stream.get());
      if (log.next.load() == 1) ++right;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(4, right.load());
}

TEST_P(DeviceConformance, RefusesWhatCannotBe) {
  StreamOf stream(device);
  HostMemory host(device, 4096, true);
  DeviceMemory memory(device, 4096);
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT,
            status_of([&] { device->copy(stream.get(), HOIST_COPY_H2D, nullptr, host.bytes(), 1); }));
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT,
            status_of([&] { device->copy(stream.get(), HOIST_COPY_H2D, memory.get(), nullptr, 1); }));
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] {
              device->copy(stream.get(), static_cast<hoist_copy_kind_t>(9), memory.get(), host.bytes(), 1);
            }));
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] { device->host_function(stream.get(), nullptr, nullptr, 1); }));
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] { device->set("speed", "11"); }));
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] { device->set("fail", "copi@1"); }));
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] { device->set("fail", "copy@0"); }));
  HostMemory back(device, 4096, true);
  round_trip(stream.get(), host.bytes(), back.bytes(), 4096);
}

TEST_P(DeviceConformance, APageBelongsToOneRegistration) {
  HostMemory host(device, 8192, false);
  device->host_register(host.bytes(), 8192);
  EXPECT_EQ(HOIST_ERROR_ALREADY_EXISTS, status_of([&] { device->host_register(host.bytes(), 8192); }));
  device->host_unregister(host.bytes(), 8192);
  device->host_register(host.bytes(), 8192);
  device->host_unregister(host.bytes(), 8192);
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, status_of([&] { device->host_register(nullptr, 4096); }));
}

TEST_P(DeviceConformance, FaultsComeOnceAndLeaveTheDeviceUsable) {
  StreamOf stream(device);
  EventOf event(device);
  EventOf other(device);
  HostMemory host(device, 4096, true);
  HostMemory pages(device, 4096, false);
  DeviceMemory memory(device, 4096);
  device->event_record(event.get(), stream.get());
  device->event_record(other.get(), stream.get());
  device->event_wait(other.get());
  std::uint64_t free = 0;
  std::uint64_t total = 0;
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"query_memory", [&] { device->query_memory(free, total); }},
      {"get_time", [&] { static_cast<void>(device->time_us()); }},
      {"memory_create", [&] { DeviceMemory another(device, 512); }},
      {"host_register", [&] { HostMemory another(device, 4096, true); }},
      {"stream_create", [&] { StreamOf another(device); }},
      {"event_create", [&] { EventOf another(device); }},
      {"event_record", [&] { device->event_record(event.get(), stream.get()); }},
      {"event_poll", [&] { static_cast<void>(device->event_poll(event.get())); }},
      {"event_wait", [&] { device->event_wait(event.get()); }},
      {"event_get_elapsed", [&] { static_cast<void>(device->event_elapsed_us(other.get(), other.get())); }},
      {"stream_wait", [&] { device->stream_wait(stream.get()); }},
      {"stream_wait_event", [&] { device->stream_wait_event(stream.get(), event.get()); }},
      {"copy", [&] { device->copy(stream.get(), HOIST_COPY_H2D, memory.get(), host.bytes(), 4096); }},
      {"fill", [&] { device->fill(stream.get(), memory.get(), 1, 4096); }},
      {"host_function",
       [&] {
         device->host_function(
             stream.get(), [](void*) {}, nullptr, 1);
       }},
  };
  for (const auto& [slot, call] : calls) {
    device->set("fail", (std::string(slot) + "@2").c_str());
    EXPECT_EQ(HOIST_OK, status_of(call)) << slot;
    std::string message;
    EXPECT_NE(HOIST_OK, status_of(call, &message)) << slot;
    EXPECT_THAT(message, HasSubstr("injected"));
    EXPECT_EQ(HOIST_OK, status_of(call)) << slot;
    device->set("fail", (std::string(slot) + "@1+").c_str());
    EXPECT_NE(HOIST_OK, status_of(call)) << slot;
    EXPECT_NE(HOIST_OK, status_of(call)) << slot;
    device->set("fail", "");
    EXPECT_EQ(HOIST_OK, status_of(call)) << slot;
  }
  HostMemory back(device, 4096, true);
  round_trip(stream.get(), host.bytes(), back.bytes(), 4096);
}

// Stream 0 is a native stream of every cuda device; the host device has none.
TEST_P(DeviceConformance, WrapsNativeStreamsOrSaysThatThereAreNone) {
  if (!device->has(HOIST_CAPABILITY_WRAP)) {
    EXPECT_EQ(HOIST_ERROR_UNSUPPORTED, status_of([&] { device->stream_wrap(nullptr); }));
    return;
  }
  void* wrapped = device->stream_wrap(nullptr);
  HostMemory host(device, 4096, true);
  HostMemory back(device, 4096, true);
  round_trip(wrapped, host.bytes(), back.bytes(), 4096);
  device->stream_destroy(wrapped);
  void* again = device->stream_wrap(nullptr);  // the user's stream is still there
  round_trip(again, host.bytes(), back.bytes(), 4096);
  device->stream_destroy(again);
}

TEST_P(DeviceConformance, NamesTheDevicesThatThereAre) {
  const std::string kind = GetParam().substr(0, GetParam().find(':'));
  std::string message;
  EXPECT_EQ(HOIST_ERROR_NOT_FOUND, status_of([&] { Device::open(kind + ":99"); }, &message));
  EXPECT_THAT(message, HasSubstr(kind + ":0"));
}

INSTANTIATE_TEST_SUITE_P(On, DeviceConformance, ::testing::ValuesIn(test::device_names_to_test()), test::test_name);

}  // namespace
}  // namespace hoist
