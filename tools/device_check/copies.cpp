// SPDX-License-Identifier: Apache-2.0
// Copies of every kind, size and alignment, fills, batches; what they touch, and when.
#include <algorithm>
#include <cstring>

#include "device_check/check.hpp"

namespace device_check {
namespace {

void fill_pattern(std::uint8_t* bytes, std::uint64_t count, std::uint64_t seed) {
  for (std::uint64_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 251 + seed);
}

std::string where(std::uint64_t bytes, std::uint64_t source, std::uint64_t destination) {
  return std::to_string(bytes) + " bytes from offset " + std::to_string(source) + " to offset " +
         std::to_string(destination);
}

// Up, across and down again, each copy waited for.
void round_trip(Subject& subject, Stream& stream, bool registered, std::uint64_t bytes, std::uint64_t from,
                std::uint64_t to) {
  const HostMemory up(subject, bytes + 64, registered);
  const HostMemory down(subject, bytes + 64, registered);
  const Memory one(subject, bytes + 64);
  const Memory other(subject, bytes + 64);
  fill_pattern(up.at(from), bytes, bytes);
  stream.copy(HOIST_COPY_H2D, one.at(to), up.at(from), bytes);
  stream.wait();
  stream.copy(HOIST_COPY_D2D, other.at(from), one.at(to), bytes);
  stream.wait();
  stream.copy(HOIST_COPY_D2H, down.at(to), other.at(from), bytes);
  stream.wait();
  require(!subject.moves_bytes() || std::memcmp(up.at(from), down.at(to), bytes) == 0,
          "wrong bytes came back, of " + where(bytes, from, to) + (registered ? "" : ", host memory not registered"));
}

std::string every_way(Subject& subject) {
  Stream stream(subject);
  for (bool registered : {true, false}) {
    for (std::uint64_t bytes : {1ULL, 2ULL, 15ULL, 511ULL, 4096ULL, 65537ULL}) {
      for (std::uint64_t offset : {0ULL, 1ULL, 3ULL, 8ULL, 61ULL}) {
        round_trip(subject, stream, registered, bytes, offset, 0);
        round_trip(subject, stream, registered, bytes, 0, offset);
      }
    }
    round_trip(subject, stream, registered, (8ULL << 20) + 7, 5, 2);
  }
  return "1 byte to 8 MiB, registered or not, offsets 0 to 61";
}

// The bytes before and after what was copied stay as they were, on either side.
std::string exact(Subject& subject) {
  if (!subject.moves_bytes()) throw Skip("it moves no bytes");
  constexpr std::uint64_t edge = 64;
  Stream stream(subject);
  for (std::uint64_t bytes : {1ULL, 63ULL, 511ULL, 4097ULL, (1ULL << 20) + 3}) {
    const std::uint64_t whole = bytes + 2 * edge;
    const HostMemory host(subject, whole);
    const HostMemory back(subject, whole);
    const Memory memory(subject, whole);
    const Memory other(subject, whole);
    std::memset(host.at(), 0xEE, whole);
    for (const Memory* each : {&memory, &other}) {
      stream.copy(HOIST_COPY_H2D, each->at(), host.at(), whole);
      stream.wait();
    }
    std::memset(host.at(), 0x11, whole);
    stream.copy(HOIST_COPY_H2D, memory.at(edge), host.at(), bytes);
    stream.wait();
    stream.copy(HOIST_COPY_D2D, other.at(edge), memory.at(edge), bytes);
    stream.wait();
    std::memset(back.at(), 0xEE, whole);
    stream.copy(HOIST_COPY_D2H, back.at(edge), other.at(edge), bytes);
    stream.wait();
    const HostMemory around(subject, whole);
    stream.copy(HOIST_COPY_D2H, around.at(), other.at(), whole);
    stream.wait();
    for (std::uint64_t i = 0; i < whole; ++i) {
      const std::uint8_t expected = i >= edge && i < edge + bytes ? 0x11 : 0xEE;
      require(back.at()[i] == expected && around.at()[i] == expected,
              "a copy of " + std::to_string(bytes) + " bytes did not end where it should: byte " +
                  std::to_string(static_cast<std::int64_t>(i - edge)));
    }
  }
  return "";
}

struct Write {
  std::uint8_t* bytes;
  std::uint64_t count;
  std::uint8_t value;
  static void late(void* data) {
    Flag flag;
    Flag::raise_late(&flag);
    now(data);
  }
  static void now(void* data) {
    const auto* write = static_cast<const Write*>(data);
    std::memset(write->bytes, write->value, write->count);
  }
};

// A host function writes the source late; the copy behind it must have seen that, and not what comes after.
std::string in_order(Subject& subject) {
  if (!subject.moves_bytes()) throw Skip("it moves no bytes");
  constexpr std::uint64_t bytes = 65536;
  const HostMemory source(subject, bytes);
  const HostMemory back(subject, bytes);
  const Memory memory(subject, bytes);
  const Memory other(subject, bytes);
  std::memset(source.at(), 0, bytes);
  Write first{source.at(), bytes, 1};
  Write second{source.at(), bytes, 2};
  Stream stream(subject);
  stream.host(Write::late, &first, 20000);
  stream.copy(HOIST_COPY_H2D, memory.at(), source.at(), bytes);
  stream.copy(HOIST_COPY_D2D, other.at(), memory.at(), bytes);
  stream.copy(HOIST_COPY_D2H, back.at(), other.at(), bytes);
  stream.host(Write::now, &second);
  stream.wait();
  for (std::uint64_t i = 0; i < bytes; ++i) {
    require(back.at()[i] == 1, back.at()[i] == 0 ? "a copy ran before the work that was submitted before it"
                                                 : "a copy ran after work that was submitted after it");
  }
  return "";
}

std::string fills_exact(Subject& subject) {
  if (!subject.moves_bytes()) throw Skip("it moves no bytes");
  constexpr std::uint64_t whole = 8192;
  Stream stream(subject);
  const HostMemory back(subject, whole);
  const Memory memory(subject, whole);
  for (std::uint64_t offset : {0ULL, 3ULL, 64ULL}) {
    for (std::uint64_t bytes : {1ULL, 2ULL, 1001ULL, 4096ULL}) {
      stream.fill(memory.at(), 0xA5, whole);
      stream.wait();
      stream.fill(memory.at(offset), 0x5A, bytes);
      stream.wait();
      stream.copy(HOIST_COPY_D2H, back.at(), memory.at(), whole);
      stream.wait();
      for (std::uint64_t i = 0; i < whole; ++i) {
        require(back.at()[i] == (i >= offset && i < offset + bytes ? 0x5A : 0xA5),
                "a fill of " + std::to_string(bytes) + " bytes at offset " + std::to_string(offset) + " made byte " +
                    std::to_string(i) + " a " + std::to_string(back.at()[i]));
      }
    }
  }
  return "";
}

std::string fills_in_order(Subject& subject) {
  if (!subject.moves_bytes()) throw Skip("it moves no bytes");
  constexpr std::uint64_t bytes = 65536;
  const HostMemory back(subject, bytes);
  const Memory memory(subject, bytes);
  Flag flag;
  Stream stream(subject);
  stream.fill(memory.at(), 1, bytes);
  stream.wait();
  stream.host(Flag::raise_late, &flag, 20000);
  stream.copy(HOIST_COPY_D2H, back.at(), memory.at(), bytes);
  stream.fill(memory.at(), 2, bytes);
  stream.wait();
  require(back.at()[0] == 1 && back.at()[bytes - 1] == 1, "a fill ran before the work that was submitted before it");
  return "";
}

std::string batches(Subject& subject) {
  if (!subject.moves_bytes()) throw Skip("it moves no bytes");
  constexpr std::uint64_t count = 300;
  constexpr std::uint64_t piece = 1000;
  const HostMemory host(subject, count * piece);
  const HostMemory back(subject, count * piece);
  const Memory memory(subject, count * 1024);
  std::vector<void*> up, down;
  std::vector<const void*> from, at;
  std::vector<std::uint64_t> bytes;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::memset(host.at(i * piece), static_cast<int>(i % 251), piece);
    up.push_back(memory.at(i * 1024));
    from.push_back(host.at(i * piece));
    at.push_back(up.back());
    down.push_back(back.at((count - 1 - i) * piece));
    bytes.push_back(1 + i * 3);
    bytes.back() = std::min(bytes.back(), piece);
  }
  Stream stream(subject);
  stream.fill(memory.at(), 0xEE, count * 1024);
  DC_OK(subject, copy_batch, stream.get(), HOIST_COPY_H2D, count, up.data(), from.data(), bytes.data());
  const std::vector<std::uint64_t> whole(count, piece);
  DC_OK(subject, copy_batch, stream.get(), HOIST_COPY_D2H, count, down.data(), at.data(), whole.data());
  stream.wait();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint8_t* got = back.at((count - 1 - i) * piece);
    const bool head = std::all_of(got, got + bytes[i], [&](std::uint8_t byte) { return byte == i % 251; });
    const bool tail = std::all_of(got + bytes[i], got + piece, [](std::uint8_t byte) { return byte == 0xEE; });
    require(head && tail, "copy " + std::to_string(i) + " of a batch of 300 has wrong bytes");
  }
  return "300 at once";
}

std::string refusals(Subject& subject) {
  const HostMemory host(subject, 4096);
  const Memory memory(subject, 4096);
  Stream stream(subject);
  DC_FAILS(HOIST_ERROR_INVALID_ARGUMENT, subject, copy, stream.get(), HOIST_COPY_H2D, nullptr, host.at(), 1);
  DC_FAILS(HOIST_ERROR_INVALID_ARGUMENT, subject, copy, stream.get(), HOIST_COPY_H2D, memory.at(), nullptr, 1);
  DC_FAILS(HOIST_ERROR_INVALID_ARGUMENT, subject, copy, stream.get(), static_cast<hoist_copy_kind_t>(9), memory.at(),
           host.at(), 1);
  return "";
}

// Whoever submits goes on at once, though the stream is busy.
std::string asynchronous(Subject& subject) {
  if (!subject.runs_beside()) throw Skip("work does not run beside the calling thread in real time");
  constexpr std::uint64_t bytes = 1 << 20;
  const HostMemory host(subject, bytes);
  const Memory memory(subject, bytes);
  Gate gate;
  Flag flag;
  Event event(subject);
  Stream stream(subject);
  stream.host(Gate::pass, &gate);
  stream.copy(HOIST_COPY_H2D, memory.at(), host.at(), bytes);
  stream.fill(memory.at(), 3, bytes);
  stream.copy(HOIST_COPY_D2H, host.at(), memory.at(), bytes);
  stream.host(Flag::raise, &flag);
  event.record(stream);
  const bool blocked = gate.gave_up();
  gate.open();
  stream.wait();
  require(!blocked, "a call that submits work waited for the work before it");
  return "";
}

}  // namespace

void add_copy_checks(Checks& checks) {
  checks.push_back(
      {"copies.every_way",
       "copy",
       "At least one byte, at any address; host memory is registered, or the copy may be slow and may block.",
       every_way,
       {"streams.wait"}});
  checks.push_back({"copies.exact", "copy", "Submits a copy to the stream.", exact, {"copies.every_way"}});
  checks.push_back({"copies.in_order",
                    "copy",
                    "A queue of work that runs in order on a device.",
                    in_order,
                    {"copies.every_way", "host_functions.in_order"}});
  checks.push_back({"copies.refusals",
                    "copy",
                    "HOIST_ERROR_INVALID_ARGUMENT for NULL or another kind.",
                    refusals,
                    {"streams.wait"}});
  checks.push_back({"copies.batch",
                    "copy_batch",
                    "`count` independent copies of one kind, none of zero bytes.",
                    batches,
                    {"identity.claims", "copies.every_way", "fills.in_order"},
                    HOIST_CAPABILITY_BATCH});
  checks.push_back({"copies.asynchronous",
                    "copy, fill, host_function, event_record",
                    "\"may block\" slots may wait for work; all others return at once.",
                    asynchronous,
                    {"copies.every_way"},
                    HOIST_CAPABILITY_ASYNC});
  checks.push_back({"fills.exact", "fill", "At least one byte of device memory.", fills_exact, {"copies.every_way"}});
  checks.push_back({"fills.in_order",
                    "fill",
                    "A queue of work that runs in order on a device.",
                    fills_in_order,
                    {"fills.exact", "copies.in_order"}});
}

}  // namespace device_check
