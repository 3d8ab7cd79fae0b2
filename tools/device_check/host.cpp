// SPDX-License-Identifier: Apache-2.0
// The host's side: functions in stream order, what they may touch, memory that is registered.
#include <cstring>

#include "device_check/check.hpp"

namespace device_check {
namespace {

struct Sequence {
  int next = 0;
  bool right = true;
};
struct Place {
  Sequence* sequence;
  int number;
  static void take(void* data) {
    const auto* place = static_cast<const Place*>(data);
    place->sequence->right = place->sequence->right && place->sequence->next == place->number;
    ++place->sequence->next;
  }
};

std::string in_order(Subject& subject) {
  constexpr int count = 200;
  Sequence sequence;
  Flag flag;
  std::vector<Place> places;
  places.reserve(count);
  for (int i = 0; i < count; ++i) places.push_back({&sequence, i});
  Stream stream(subject);
  stream.host(Flag::raise_late, &flag, 20000);
  for (Place& place : places) stream.host(Place::take, &place);
  stream.wait();
  require(sequence.next == count, std::to_string(sequence.next) + " of 200 host functions ran");
  require(sequence.right, "host functions ran in another order than they were submitted");
  return "";
}

std::string null_function(Subject& subject) {
  Stream stream(subject);
  DC_FAILS(HOIST_ERROR_INVALID_ARGUMENT, subject, host_function, stream.get(), nullptr, nullptr, 1);
  return "";
}

struct Sum {
  std::uint8_t* bytes;
  std::uint64_t count;
  std::uint64_t sum = 0;
  static void add(void* data) {
    auto* sum = static_cast<Sum*>(data);
    for (std::uint64_t i = 0; i < sum->count; ++i) sum->sum += sum->bytes[i];
    std::memset(sum->bytes, 9, sum->count);
  }
};

std::string addressable(Subject& subject) {
  if (!subject.moves_bytes()) throw Skip("it moves no bytes");
  constexpr std::uint64_t bytes = 10000;
  const bool guarded = subject.has(HOIST_CAPABILITY_ACCESS);
  const HostMemory back(subject, bytes);
  const Memory memory(subject, bytes);
  Sum sum{memory.at(), bytes};
  Stream stream(subject);
  stream.fill(memory.at(), 3, bytes);
  if (guarded) DC_OK(subject, access_begin, stream.get(), memory.at(), bytes);
  stream.host(Sum::add, &sum);
  if (guarded) DC_OK(subject, access_end, stream.get(), memory.at(), bytes);
  stream.copy(HOIST_COPY_D2H, back.at(), memory.at(), bytes);
  stream.wait();
  require(sum.sum == 3 * bytes, "a host function read other bytes than the stream had written");
  require(back.at()[0] == 9 && back.at()[bytes - 1] == 9,
          "the stream read other bytes than a host function had written");
  return "";
}

std::string access_counted(Subject& subject) {
  constexpr std::uint64_t bytes = 8192;
  const Memory memory(subject, bytes);
  Sum sum{memory.at(), bytes};
  Stream stream(subject);
  stream.fill(memory.at(), 1, bytes);
  DC_OK(subject, access_begin, stream.get(), memory.at(), bytes);
  DC_OK(subject, access_begin, stream.get(), memory.at(), bytes);
  DC_OK(subject, access_end, stream.get(), memory.at(), bytes);
  stream.host(Sum::add, &sum);  // still open: closed pages would end this process
  DC_OK(subject, access_end, stream.get(), memory.at(), bytes);
  stream.wait();
  require(sum.sum == bytes, "a host function read other bytes than the stream had written");
  return "";
}

// A device that cannot pin says so, and copies work without.
void needs_pinning(Subject& subject) {
  const HostMemory pages(subject, 4096, false);
  const hoist_status_t status = DC_STATUS(subject, host_register, pages.at(), 4096);
  if (status == HOIST_ERROR_UNSUPPORTED) throw Skip("host memory cannot be pinned: " + Subject::said().message);
  subject.expect("host_register", status, HOIST_OK);
  DC_OK(subject, host_unregister, pages.at(), 4096);
}

std::string pinned(Subject& subject) {
  needs_pinning(subject);
  const HostMemory pages(subject, 1 << 20, false);
  const Memory memory(subject, 1 << 20);
  Stream stream(subject);
  for (int turn = 1; turn <= 3; ++turn) {
    DC_OK(subject, host_register, pages.at(), pages.size());
    stream.fill(memory.at(), static_cast<std::uint8_t>(turn), 1 << 20);
    stream.copy(HOIST_COPY_D2H, pages.at(), memory.at(), 1 << 20);
    stream.wait();
    DC_OK(subject, host_unregister, pages.at(), pages.size());
    require(!subject.moves_bytes() || pages.at()[pages.size() - 1] == turn, "wrong bytes in registered memory");
  }
  return "";
}

std::string pinned_twice(Subject& subject) {
  needs_pinning(subject);
  const HostMemory pages(subject, 16384);
  DC_FAILS(HOIST_ERROR_ALREADY_EXISTS, subject, host_register, pages.at(), 16384);
  DC_FAILS(HOIST_ERROR_ALREADY_EXISTS, subject, host_register, pages.at(4096), 4096);
  return "whole and in part";
}

std::string pinned_refusals(Subject& subject) {
  needs_pinning(subject);
  const HostMemory pages(subject, 8192, false);
  DC_FAILS(HOIST_ERROR_INVALID_ARGUMENT, subject, host_register, nullptr, 4096);
  DC_FAILS(HOIST_ERROR_INVALID_ARGUMENT, subject, host_unregister, pages.at(), 8192);
  return "";
}

}  // namespace

void add_host_checks(Checks& checks) {
  checks.push_back({"host_functions.in_order",
                    "host_function",
                    "Runs `function` in stream order on a thread of the device",
                    in_order,
                    {"streams.wait"}});
  checks.push_back({"host_functions.null",
                    "host_function",
                    "HOIST_ERROR_INVALID_ARGUMENT for NULL.",
                    null_function,
                    {"streams.wait"}});
  checks.push_back({"host_functions.addressable",
                    "memory_create, host_function",
                    "Device pointers may be read and written by host functions.",
                    addressable,
                    {"identity.claims", "copies.in_order", "fills.in_order"},
                    HOIST_CAPABILITY_HOST_ADDRESSABLE});
  checks.push_back({"host_functions.access",
                    "access_begin, access_end",
                    "In stream order: the pages of [memory, memory + bytes) open for host functions; counted.",
                    access_counted,
                    {"identity.claims", "host_functions.addressable"},
                    HOIST_CAPABILITY_ACCESS});
  checks.push_back({"pinned.registered",
                    "host_register, host_unregister",
                    "Makes touched host memory fit for asynchronous copies (pins it).",
                    pinned,
                    {"copies.in_order", "fills.in_order"}});
  checks.push_back({"pinned.twice",
                    "host_register",
                    "HOIST_ERROR_ALREADY_EXISTS: somebody pinned it before, or a part of it.",
                    pinned_twice,
                    {"pinned.registered"}});
  checks.push_back({"pinned.refusals",
                    "host_register, host_unregister",
                    "Undoes host_register of exactly that range; HOIST_ERROR_INVALID_ARGUMENT for another.",
                    pinned_refusals,
                    {"pinned.registered"}});
}

}  // namespace device_check
