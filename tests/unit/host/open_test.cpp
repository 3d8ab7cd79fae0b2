// SPDX-License-Identifier: Apache-2.0
// Options of the host device, what it says of itself, links that are slowed down.
#include <cstring>

#include "unit/host/bench.hpp"

namespace hoist {
namespace {

std::string open_error(const std::string& options, hoist_status_t want = HOIST_ERROR_INVALID_ARGUMENT) {
  std::string message;
  EXPECT_EQ(want, status_of([&] { Device::open("host:1?" + options); }, &message)) << options;
  return message;
}

TEST(Open, UnknownOptionsNameTheNearest) {
  EXPECT_NE(std::string::npos, open_error("mod=virtual").find("'mode'"));
  EXPECT_NE(std::string::npos, open_error("h2d_gbs=1").find("'h2d_gbps'"));
  EXPECT_NE(std::string::npos, open_error("copy_delay=1").find("'copy_delay_us'"));
}

TEST(Open, BadValuesSayWhatWouldDo) {
  EXPECT_NE(std::string::npos, open_error("mode=fast").find("guarded"));
  EXPECT_NE(std::string::npos, open_error("memory=lots").find("512MiB"));
  EXPECT_NE(std::string::npos, open_error("alignment=100").find("power of two"));
  EXPECT_NE(std::string::npos, open_error("mode=guarded&alignment=512").find("4096"));
  for (const char* bad : {"memory=0", "memory=", "memory=-1", "memory=1.5GiB", "memory=99999999TiB", "h2d_gbps=-1",
                          "h2d_gbps=inf", "h2d_gbps=nan", "h2d_gbps=1e", "latency_us=x", "duplex_factor=0",
                          "duplex_factor=1.5", "bytes=some", "seed=-1", "alignment=0", "copy_delay_us=1e9"}) {
    open_error(bad);
  }
  // 0 means something; what would vanish in sums of times does not.
  EXPECT_NE(std::string::npos,
            open_error("h2d_gbps=1e-300").find("option h2d_gbps is '1e-300' | give 0, or a number from 1e-06"));
  EXPECT_NE(std::string::npos, open_error("d2h_gbps=1e-7").find("option d2h_gbps is '1e-7'"));
  EXPECT_NE(std::string::npos, open_error("latency_us=1e-300").find("give 0, or a number from 0.001 to 1e+09"));
  EXPECT_EQ("", open_error("h2d_gbps=0&d2h_gbps=1e-6&latency_us=0", HOIST_OK));
}

TEST(Open, SaysWhatItIs) {
  const auto capabilities = [](const char* options) { return Bench(options)->properties().capabilities; };
  constexpr std::uint64_t always = HOIST_CAPABILITY_HOST_ADDRESSABLE | HOIST_CAPABILITY_GRAPH;
  // Waits for words need a thread that waits; pages that open and close stay where they are.
  constexpr std::uint64_t async = HOIST_CAPABILITY_ASYNC | HOIST_CAPABILITY_WORDS | HOIST_CAPABILITY_REMAP;
  EXPECT_EQ(always | HOIST_CAPABILITY_REMAP, capabilities("mode=inline"));
  EXPECT_EQ(always | async, capabilities("mode=threaded"));
  EXPECT_EQ(always | HOIST_CAPABILITY_ACCESS, capabilities("mode=guarded"));
  EXPECT_EQ(always | async | HOIST_CAPABILITY_VIRTUAL_CLOCK, capabilities("mode=virtual"));
  Bench bench("", 1);
  EXPECT_STREQ("host:1", bench->properties().name);
  EXPECT_NE(nullptr, std::strstr(bench->properties().description, "threaded"));
  EXPECT_EQ(std::uint64_t{8} << 30, bench->properties().memory_bytes);
  EXPECT_EQ(512u, bench->properties().alignment);
}

double copies_us(Bench& bench, hoist_copy_kind_t kind, int count, std::uint64_t bytes) {
  void* stream = bench.stream();
  std::vector<char> host(bytes);
  void* device = bench.memory(bytes);
  void* begin = bench.mark(stream);
  for (int i = 0; i < count; ++i) {
    if (kind == HOIST_COPY_H2D) bench->copy(stream, kind, device, host.data(), bytes);
    if (kind == HOIST_COPY_D2H) bench->copy(stream, kind, host.data(), device, bytes);
  }
  void* end = bench.mark(stream);
  bench->event_wait(end);
  return bench->event_elapsed_us(begin, end);
}

// 1 MB at 0.1 GB/s is 10 ms. Never faster than the link; slower only by what the machine adds.
TEST(Throttle, CopiesTakeTheTimeOfTheirLink) {
  for (const char* mode : {"inline", "threaded", "guarded"}) {
    Bench bench(std::string("h2d_gbps=0.1&d2h_gbps=0.2&latency_us=100&mode=") + mode);
    const double up = copies_us(bench, HOIST_COPY_H2D, 3, 1'000'000);
    const double down = copies_us(bench, HOIST_COPY_D2H, 3, 1'000'000);
    EXPECT_GE(up, 3 * 10'100 * 0.999) << mode;
    EXPECT_GE(down, 3 * 5'100 * 0.999) << mode;
    EXPECT_LE(up, 3 * 10'100 + 200'000) << mode;
  }
}

TEST(Throttle, ALinkIsSharedByStreams) {
  Bench bench("mode=threaded&h2d_gbps=0.1");
  std::vector<char> host(500'000);
  void* device = bench.memory(500'000);
  void* streams[2] = {bench.stream(), bench.stream()};
  void* begin = bench.mark(streams[0]);
  bench->stream_wait_event(streams[1], begin);
  for (void* stream : streams) {
    for (int i = 0; i < 2; ++i) bench->copy(stream, HOIST_COPY_H2D, device, host.data(), 500'000);
  }
  void* ends[2] = {bench.mark(streams[0]), bench.mark(streams[1])};
  for (void* end : ends) bench->event_wait(end);
  const double last = std::max(bench->event_elapsed_us(begin, ends[0]), bench->event_elapsed_us(begin, ends[1]));
  EXPECT_GE(last, 4 * 5000 * 0.99);
}

TEST(Throttle, BothLinksAtOnceAreSlower) {
  Bench bench("mode=threaded&h2d_gbps=0.1&d2h_gbps=0.1&duplex_factor=0.5");
  std::vector<char> host(2'000'000);
  auto* device = static_cast<char*>(bench.memory(2'000'000));
  void* up = bench.stream();
  void* down = bench.stream();
  void* begin = bench.mark(up);
  bench->stream_wait_event(down, begin);
  bench->copy(up, HOIST_COPY_H2D, device, host.data(), 1'000'000);
  bench->copy(down, HOIST_COPY_D2H, host.data() + 1'000'000, device + 1'000'000, 1'000'000);
  void* loaded = bench.mark(up);
  void* stored = bench.mark(down);
  bench->event_wait(loaded);
  bench->event_wait(stored);
  const double last = std::max(bench->event_elapsed_us(begin, loaded), bench->event_elapsed_us(begin, stored));
  EXPECT_GE(last, 15'000);  // 20 ms where they overlap whole; one after the other would be 10
}

}  // namespace
}  // namespace hoist
