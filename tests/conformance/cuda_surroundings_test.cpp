// SPDX-License-Identifier: Apache-2.0
// Bad surroundings of the cuda device: each test runs with a stand-in driver that is in that mood
// (stand_in/stand_in.cmake), and says so where it is run without.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include "memory/pinned_arena.hpp"
#include "support/device_objects.hpp"
#include "support/device_rig.hpp"

namespace hoist {
namespace {

using ::testing::HasSubstr;

// A model in slots whose every byte is checked.
test::DeviceRigOptions in_slots(double share) {
  test::DeviceRigOptions options;
  options.states = options.transients = false;
  options.budget.share = share;
  options.budget.trust = true;
  options.budget.placement = Placement::slots;
  return options;
}

void expect_serving(test::DeviceRig& rig) {
  rig.run_steps(8);
  rig.wait();
  EXPECT_EQ(Phase::serving, rig.budget().phase());
  EXPECT_EQ(0U, rig.wrong());
  EXPECT_GT(rig.budget().status().h2d_bytes, 0U);
}

std::string mood() {
  const char* given = std::getenv("STAND_IN_CUDA");
  return given == nullptr ? "" : given;
}

#define NEEDS_MOOD(wanted) \
  if (mood() != (wanted)) GTEST_SKIP() << "runs with a stand-in driver in the mood '" << (wanted) << "'"

struct Failure {
  hoist_status_t code = HOIST_OK;
  std::string words;
  std::string hint;
};

template <typename Call>
Failure failure_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.code(), error.what(), error.hint()};
  }
  return {};
}

TEST(CudaSurroundings, NoDriver) {
  NEEDS_MOOD("");
  const Failure failure = failure_of([] { Device::open("cuda:0"); });
  if (failure.code == HOIST_OK) GTEST_SKIP() << "there is a driver here";
  EXPECT_EQ(HOIST_ERROR_NOT_FOUND, failure.code);
  EXPECT_THAT(failure.words, HasSubstr("libcuda.so.1"));
  EXPECT_EQ("host:0", Device::open("host:0")->name());
}

// Whoever calls hoist may use CUDA for himself: his thread's current context stays what it was.
TEST(CudaSurroundings, TheCallersContextStays) {
  NEEDS_MOOD("no-batches");
  using GetCurrent = int (*)(void**);
  using SetCurrent = int (*)(void*);
  using GetAddress = int (*)(const char*, void**, int, std::uint64_t);
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  ASSERT_NE(nullptr, library);
  auto* find = reinterpret_cast<GetAddress>(dlsym(library, "cuGetProcAddress"));
  void* get = nullptr;
  void* set = nullptr;
  ASSERT_EQ(0, find("cuCtxGetCurrent", &get, 4000, 1));
  ASSERT_EQ(0, find("cuCtxSetCurrent", &set, 4000, 1));
  char own = 0;
  for (void* before : {static_cast<void*>(nullptr), static_cast<void*>(&own)}) {
    reinterpret_cast<SetCurrent>(set)(before);
    const auto device = Device::open("cuda:0");
    test::StreamOf stream(device);
    test::DeviceMemory memory(device, 4096);
    device->fill(stream.get(), memory.get(), 1, 4096);
    std::uint8_t stranger[8] = {};
    EXPECT_NE(HOIST_OK, failure_of([&] { device->fill(stream.get(), stranger, 1, 8); }).code);
    device->stream_wait(stream.get());
    void* after = &after;
    reinterpret_cast<GetCurrent>(get)(&after);
    EXPECT_EQ(before, after);
    reinterpret_cast<SetCurrent>(set)(nullptr);
  }
}

TEST(CudaSurroundings, AncientDriver) {
  NEEDS_MOOD("ancient");
  const Failure failure = failure_of([] { Device::open("cuda:0"); });
  EXPECT_EQ(HOIST_ERROR_UNSUPPORTED, failure.code);
  EXPECT_THAT(failure.words, HasSubstr("cuGetProcAddress"));
}

TEST(CudaSurroundings, NoVisibleDevices) {
  NEEDS_MOOD("no-devices");
  const Failure failure = failure_of([] { Device::open("cuda:0"); });
  EXPECT_EQ(HOIST_ERROR_NOT_FOUND, failure.code);
  EXPECT_THAT(failure.words, HasSubstr("CUDA_ERROR_NO_DEVICE"));
  EXPECT_THAT(failure.hint, HasSubstr("CUDA_VISIBLE_DEVICES is ''"));
}

TEST(CudaSurroundings, AMissingSymbolIsNamed) {
  NEEDS_MOOD("lacks=cuLaunchHostFunc");
  const Failure failure = failure_of([] { Device::open("cuda:0"); });
  EXPECT_EQ(HOIST_ERROR_UNSUPPORTED, failure.code);
  EXPECT_THAT(failure.words, HasSubstr("cuLaunchHostFunc"));
}

TEST(CudaSurroundings, OptionsAreUnknown) {
  NEEDS_MOOD("no-batches");
  const Failure failure = failure_of([] { Device::open("cuda:0?mode=fast"); });
  EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, failure.code);
  EXPECT_THAT(failure.words, HasSubstr("mode=fast"));
  EXPECT_THAT(Device::open("cuda:0")->properties().description, HasSubstr("no batches"));
}

TEST(CudaSurroundings, ADeviceThatIsNotThere) {
  NEEDS_MOOD("no-batches");
  const Failure failure = failure_of([] { Device::open("cuda:9"); });
  EXPECT_EQ(HOIST_ERROR_NOT_FOUND, failure.code);
  EXPECT_THAT(failure.words + failure.hint, HasSubstr("cuda:0"));
}

TEST(CudaSurroundings, DevicesSayWhereTheyAreAndWhatTheyAreToOthers) {
  NEEDS_MOOD("no-batches");
  const hoist_device_properties_t& facts = Device::open("cuda:0")->properties();
  EXPECT_STREQ("0000:3b:00.0", facts.pci_address);
  EXPECT_EQ(2, facts.dlpack_type);
  EXPECT_EQ(0, facts.dlpack_index);
}

TEST(CudaSurroundings, RefusedPinningIsCountedAndCopiesGoOn) {
  NEEDS_MOOD("refuses-pinning");
  const auto device = Device::open("cuda:0");
  PinnedArena arena(device, 0);
  auto* host = static_cast<std::uint8_t*>(arena.allocate(10000));
  EXPECT_EQ(12288U, arena.pageable_bytes());
  std::memset(host, 0x3C, 10000);
  test::StreamOf stream(device);
  test::DeviceMemory memory(device, 10000);
  std::vector<std::uint8_t> back(10000);
  device->copy(stream.get(), HOIST_COPY_H2D, memory.get(), host, 10000);
  device->copy(stream.get(), HOIST_COPY_D2H, back.data(), memory.get(), 10000);
  device->stream_wait(stream.get());
  EXPECT_EQ(std::vector<std::uint8_t>(10000, 0x3C), back);
  arena.adopt(back.data(), back.size());
  EXPECT_GE(arena.pageable_bytes(), 12288U + 10000U);
  arena.disown(back.data(), back.size());
  arena.release(host);
  EXPECT_EQ(0U, arena.pageable_bytes());
}

TEST(CudaSurroundings, MemoryThatTheDriverAllocatedIsPinned) {
  NEEDS_MOOD("allocated");
  const auto device = Device::open("cuda:0");
  PinnedArena arena(device, 0);
  std::vector<std::uint8_t> host(10000);
  arena.adopt(host.data(), host.size());
  EXPECT_EQ(0U, arena.pageable_bytes());
  EXPECT_GT(arena.adopted_bytes(), 0U);
  arena.disown(host.data(), host.size());
}

// The user's capture stays whole: no event, no wait, no step.
TEST(CudaSurroundings, AStreamThatIsCapturedTakesNoEvents) {
  NEEDS_MOOD("capturing");
  const auto device = Device::open("cuda:0");
  void* wrapped = device->stream_wrap(nullptr);
  test::EventOf event(device);
  const Failure failure = failure_of([&] { device->event_record(event.get(), wrapped); });
  EXPECT_EQ(HOIST_ERROR_UNSUPPORTED, failure.code);
  EXPECT_THAT(failure.words, HasSubstr("captured into a CUDA graph"));
  EXPECT_FALSE(device->event_poll(event.get()));
  device->stream_destroy(wrapped);
}

// A step that cannot go into a graph is refused for the reason, and steps outside of it go on.
void expect_no_capture(const std::function<Failure(test::DeviceRig&)>& capture, hoist_status_t code, const char* why) {
  const auto device = Device::open("cuda:0");
  test::DeviceRig rig(device, in_slots(0.5));
  expect_serving(rig);
  const Failure failure = capture(rig);
  EXPECT_EQ(code, failure.code) << failure.words;
  EXPECT_THAT(failure.words, HasSubstr(why));
  expect_serving(rig);
}

Failure step_captured(test::DeviceRig& rig) {
  rig.device().capture_begin(rig.stream());
  const Failure failure = failure_of([&] { rig.budget().step_begin(rig.stream()); });
  rig.device().graph_destroy(rig.device().capture_end(rig.stream()));
  return failure;
}

TEST(CudaSurroundings, NoWords) {
  NEEDS_MOOD("lacks=cuStreamBatchMemOp");
  expect_no_capture(step_captured, HOIST_ERROR_UNSUPPORTED, "whose streams cannot wait for words");
}

TEST(CudaSurroundings, NoGraphs) {
  NEEDS_MOOD("lacks=cuStreamBeginCapture");
  const auto begin = [](test::DeviceRig& rig) { return failure_of([&] { rig.device().capture_begin(rig.stream()); }); };
  expect_no_capture(begin, HOIST_ERROR_UNSUPPORTED, "the GPU or its driver has no graphs");
}

TEST(CudaSurroundings, NoSecondContext) {
  NEEDS_MOOD("refuses=cuCtxCreate:2");
  expect_no_capture(step_captured, HOIST_ERROR_OUT_OF_MEMORY, "cuCtxCreate of a second context");
}

// Then tensors lie in an arena.
TEST(CudaSurroundings, NoRemapping) {
  if (mood() != "no-remap" && mood() != "lacks=cuMemMap") NEEDS_MOOD("no-remap");
  const auto device = Device::open("cuda:0");
  EXPECT_EQ(0U, device->properties().capabilities & HOIST_CAPABILITY_REMAP);
  const Failure failure = failure_of([&] { device->handle_create(4096); });
  EXPECT_EQ(HOIST_ERROR_UNSUPPORTED, failure.code);
  EXPECT_THAT(failure.words, HasSubstr("the GPU or its driver has no addresses to be mapped"));
  test::DeviceRig rig(device, in_slots(0.5));
  EXPECT_FALSE(rig.budget().replay_status().placement == Placement::slots);
  expect_serving(rig);
}

// The commit says which call it was, and leaves nothing behind.
TEST(CudaSurroundings, ARefusedMapIsAClearWord) {
  const bool map = mood() == "refuses=cuMemMap:2";
  if (!map) NEEDS_MOOD("refuses=cuMemSetAccess:1");
  const auto device = Device::open("cuda:0");
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  std::uint64_t total = 0;
  device->query_memory(before, total);
  const Failure failure = failure_of([&] { test::DeviceRig rig(device, in_slots(0.5)); });
  EXPECT_EQ(map ? HOIST_ERROR_OUT_OF_MEMORY : HOIST_ERROR_INVALID_ARGUMENT, failure.code);
  EXPECT_THAT(failure.words, HasSubstr(map ? "cuMemMap of " : "cuMemSetAccess of "));
  device->query_memory(after, total);
  EXPECT_EQ(before, after);
}

// What is not free is no budget's; what fits goes on.
TEST(CudaSurroundings, MemoryOfOthers) {
  NEEDS_MOOD("full");
  const auto device = Device::open("cuda:0");
  for (const Placement placement : {Placement::arena, Placement::slots}) {
    test::DeviceRigOptions options = in_slots(1.0);
    options.budget.placement = placement;
    options.bytes = 1 << 20;  // six of these
    const Failure failure = failure_of([&] { test::DeviceRig rig(device, options); });
    EXPECT_EQ(HOIST_ERROR_OUT_OF_MEMORY, failure.code);
    EXPECT_THAT(failure.words, HasSubstr("of 268435456 are free"));
    EXPECT_THAT(failure.hint, HasSubstr("other processes"));
    options.bytes = 64 << 10;
    options.budget.share = 0.5;
    test::DeviceRig rig(device, options);
    expect_serving(rig);
  }
}

// The user's kernel broke the context: whoever asks hears so, and hoist hides and clears nothing.
TEST(CudaSurroundings, ABrokenContextIsToldByTheManager) {
  NEEDS_MOOD("sticky");
  const auto device = Device::open("cuda:0");
  test::DeviceRig rig(device, in_slots(0.5));
  const Failure failure = failure_of([&] { rig.run_steps(1); });
  EXPECT_EQ(HOIST_ERROR_DEVICE, failure.code);
  EXPECT_THAT(failure.words, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
  EXPECT_THAT(failure.hint, HasSubstr("compute-sanitizer"));
}

TEST(CudaSurroundings, ABrokenContextIsToldAsTheUsersOwn) {
  NEEDS_MOOD("sticky");
  const auto device = Device::open("cuda:0");
  test::DeviceMemory memory(device, 4096);
  std::uint8_t host[16] = {};
  void* stream = device->stream_create();
  const Failure failure = failure_of([&] { device->copy(stream, HOIST_COPY_H2D, memory.get(), host, sizeof host); });
  EXPECT_EQ(HOIST_ERROR_DEVICE, failure.code);
  EXPECT_THAT(failure.words, HasSubstr("cuMemcpyHtoDAsync of 16 bytes"));
  EXPECT_THAT(failure.words, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
  EXPECT_THAT(failure.hint, HasSubstr("compute-sanitizer"));
  EXPECT_EQ(HOIST_ERROR_DEVICE, failure_of([&] { device->stream_wait(stream); }).code);
  device->stream_destroy(stream);
}

}  // namespace
}  // namespace hoist
