// SPDX-License-Identifier: Apache-2.0
// hoist.hpp: what the compiler must refuse, what a scope does when it is left, what an exception carries.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "hoist/hoist.hpp"

namespace {

template <typename Owner>
constexpr bool is_owner = !std::is_copy_constructible_v<Owner> && !std::is_copy_assignable_v<Owner> &&
                          std::is_nothrow_move_constructible_v<Owner> && std::is_nothrow_move_assignable_v<Owner>;
static_assert(is_owner<hoist::Device> && is_owner<hoist::Stream> && is_owner<hoist::Event> && is_owner<hoist::Budget>);
static_assert(is_owner<hoist::Manager> && is_owner<hoist::Problem> && is_owner<hoist::Plan>);
static_assert(is_owner<hoist::Checkpoint> && is_owner<hoist::Memory>);
static_assert(!std::is_move_constructible_v<hoist::Step> && !std::is_move_constructible_v<hoist::Unit>);
static_assert(std::is_base_of_v<std::runtime_error, hoist::Exception>);

// Two units of one weight each, under a budget that holds one of them.
class HoistHpp : public testing::Test {
 protected:
  HoistHpp() : device_("host:0?mode=threaded"), stream_(device_), budget_(make_budget()), manager_(device_, budget_) {
    for (std::size_t u = 0; u < 2; ++u) {
      units_[u] = manager_.add_unit("u" + std::to_string(u));
      hoist::TensorDesc desc;
      const std::string name = "w" + std::to_string(u);
      desc.name = name.c_str();
      desc.bytes = sources_[u].size();
      desc.host = sources_[u].data();
      desc.flags = HOIST_TENSOR_COPY;
      tensors_[u] = manager_.add_tensor(units_[u], desc);
    }
    manager_.commit();
  }
  hoist::Budget make_budget() {
    return hoist::Budget(device_, hoist::BudgetOptions().set("budget", "50%").set("profile_steps", "1"));
  }

  hoist::Device device_;
  hoist::Stream stream_;
  hoist::Budget budget_;
  hoist::Manager manager_;
  std::vector<std::uint8_t> sources_[2] = {std::vector<std::uint8_t>(8192, 1), std::vector<std::uint8_t>(8192, 2)};
  hoist_unit_t units_[2];
  hoist_tensor_t tensors_[2];
};

TEST_F(HoistHpp, LeavingScopesEndsThem) {
  for (int i = 0; i < 4; ++i) {
    hoist::Step step(manager_, stream_);
    for (const hoist_unit_t unit : units_) {
      const hoist::Unit open = step.unit(unit);
      ASSERT_EQ(open.view().size(), 1u);
      EXPECT_EQ(open.view()[0].tensor, tensors_[unit]);
    }
  }
  const hoist_budget_status_t status = manager_.query();
  EXPECT_EQ(status.steps, 4u);
  EXPECT_EQ(status.aborted_steps, 0u);
  EXPECT_GT(status.last_step_h2d_bytes, 0u);
}

TEST_F(HoistHpp, AnExceptionInAUnitGivesTheStepUp) {
  try {
    hoist::Step step(manager_, stream_);
    const hoist::Unit unit = step.unit(units_[0]);
    throw std::logic_error("compute");
  } catch (const std::logic_error& error) {
    EXPECT_STREQ(error.what(), "compute");
  }
  EXPECT_EQ(manager_.query().aborted_steps, 1u);
  EXPECT_NO_THROW(hoist::Step(manager_, stream_).end());
}

TEST_F(HoistHpp, AStepThatCannotEndThrowsAndIsGivenUp) {
  const auto leave_a_unit_open = [&] {
    hoist::Step step(manager_, stream_);
    hoist_unit_view_t view = HOIST_UNIT_VIEW_INIT;
    hoist::check(hoist_unit_begin(manager_.get(), units_[0], stream_.get(), &view));
  };
  EXPECT_THROW(leave_a_unit_open(), hoist::Exception);
  EXPECT_EQ(manager_.query().aborted_steps, 1u);
  EXPECT_NO_THROW(hoist::Step(manager_, stream_).end());
}

TEST_F(HoistHpp, ScopesInsideACatchBlockAreNotTakenForFailures) {
  try {
    throw std::logic_error("of somebody else");
  } catch (const std::logic_error&) {
    hoist::Step step(manager_, stream_);
    const hoist::Unit unit = step.unit(units_[0]);
  }
  EXPECT_EQ(manager_.query().aborted_steps, 0u);
  EXPECT_EQ(manager_.query().steps, 1u);
}

TEST_F(HoistHpp, ExceptionsCarryTheRecordOfTheirCall) {
  try {
    static_cast<void>(manager_.tensor("w7"));
    FAIL() << "no such tensor";
  } catch (const hoist::Exception& error) {
    EXPECT_EQ(error.code(), HOIST_ERROR_NOT_FOUND);
    EXPECT_EQ(error.where(), "hoist_manager_get_tensor");
    EXPECT_NE(error.message().find("w7"), std::string::npos);
    EXPECT_EQ(error.what(),
              error.where() + ": " + error.message() + (error.hint().empty() ? "" : " (" + error.hint() + ")"));
  }
}

TEST_F(HoistHpp, CallablesRunOnceInOrderAndAreFreed) {
  const auto counter = std::make_shared<std::vector<int>>();
  for (int i = 0; i < 100; ++i) stream_.submit_host([counter, i] { counter->push_back(i); }, 1.0);
  stream_.wait();
  ASSERT_EQ(counter->size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ((*counter)[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(counter.use_count(), 1);
  device_.set("fail", "host_function@1");
  EXPECT_THROW(stream_.submit_host([counter] { counter->clear(); }, 1.0), hoist::Exception);
  EXPECT_EQ(counter.use_count(), 1);
  device_.set("fail", "");
}

TEST(HoistHppViews, ElementsMayBeLongerThanOurs) {
  struct Longer {
    hoist_tensor_view_t known;
    std::uint64_t newer;
  } elements[3] = {};
  for (std::uint32_t i = 0; i < 3; ++i) elements[i].known.tensor = 10 + i;
  const hoist::UnitView view({sizeof(hoist_unit_view_t), 3, sizeof(Longer), &elements[0].known});
  std::vector<hoist_tensor_t> seen;
  for (const hoist_tensor_view_t& tensor : view) seen.push_back(tensor.tensor);
  EXPECT_EQ(seen, (std::vector<hoist_tensor_t>{10, 11, 12}));
  EXPECT_EQ(view[2].tensor, 12u);
}

// Calls of C would take what stands before the zero byte, and open or add another thing.
TEST(HoistHppTexts, AZeroByteIsRefusedAndTheArgumentNamed) {
  using namespace std::string_literals;
  const hoist::Device device("host:0?mode=inline");
  hoist::Manager manager(device);
  for (const auto& call : std::vector<std::function<void()>>{
           [] { hoist::Device("host:0\0x"s); }, [&] { manager.add_unit("a\0b"s); }, [] { hoist::Checkpoint("a\0b"s); },
           [] { hoist::BudgetOptions().set("budget", "5\0%"s); }}) {
    try {
      call();
      ADD_FAILURE() << "taken";
    } catch (const hoist::Exception& error) {
      EXPECT_EQ(HOIST_ERROR_INVALID_ARGUMENT, error.code());
      EXPECT_NE(std::string::npos, error.message().find("goes on after a zero byte")) << error.message();
    }
  }
}

TEST(HoistHppDevices, MemoryCopiesAndEvents) {
  const hoist::Device device("host:1");
  hoist::Stream stream(device);
  const hoist::Memory memory(device, 4096);
  hoist::Event begin(device), end(device);
  EXPECT_THROW(end.wait(), hoist::Exception);
  begin.record(stream);
  stream.submit_fill(memory.data(), 7, memory.bytes());
  end.record(stream);
  end.wait();
  std::vector<std::uint8_t> back(4096);
  stream.submit_copy(HOIST_COPY_D2H, back.data(), memory.data(), back.size());
  stream.wait();
  EXPECT_EQ(back, std::vector<std::uint8_t>(4096, 7));
  EXPECT_TRUE(end.poll());
  EXPECT_GE(hoist::elapsed_us(begin, end), 0.0);
  EXPECT_GE(hoist::device_count(), 2u);
  EXPECT_STREQ(hoist::device_properties(1).name, "host:1");
  EXPECT_NE(hoist::device_ops("host").copy, nullptr);
  EXPECT_THROW(hoist::plugin_load("/nowhere/libnpu.so"), hoist::Exception);
  EXPECT_EQ(device.query().name, std::string("host:1"));
}

TEST_F(HoistHpp, PlansOfAManagerAreThoseOfTheirProblem) {
  for (int i = 0; i < 3; ++i) {
    hoist::Step step(manager_, stream_);
    for (const hoist_unit_t unit : units_) step.unit(unit).end();
  }
  const hoist::Problem problem(manager_);
  const hoist::Plan plan(manager_);
  EXPECT_NO_THROW(plan.check(problem));
  const hoist::Plan again(problem, plan.json());
  EXPECT_EQ(again.json(), plan.json());
  EXPECT_GE(plan.simulate(problem).step_us, problem.bound().step_us * (1 - 1e-9));
  EXPECT_NE(plan.explain(problem).find("w1"), std::string::npos);
  hoist::replan_prepare(manager_);
  hoist::replan(manager_, problem, again);
  EXPECT_EQ(hoist::replan_query(manager_).state, HOIST_REPLAN_PENDING);
}

TEST(HoistHppEffects, RunInOrderOrNotAtAll) {
  const hoist::Device device("host:0?mode=threaded");
  const hoist::Stream stream(device);
  hoist::Sequence sequence(device, "graph");
  std::vector<int> ran;
  const hoist_effect_t first = sequence.add("first", [&](hoist_stream_t* given) {
    EXPECT_EQ(given, stream.get());
    ran.push_back(1);
  });
  const hoist_effect_t second = sequence.add("second", [&](hoist_stream_t*) {
    ran.push_back(2);
    if (ran.size() == 2) throw std::out_of_range("not yet");
  });
  const hoist_token_t begun = sequence.begin();
  EXPECT_THROW(static_cast<void>(sequence.submit(second, nullptr, begun)), hoist::Exception);
  EXPECT_TRUE(ran.empty());
  const hoist_token_t token = sequence.submit(first, stream.get(), begun);
  EXPECT_THROW(static_cast<void>(sequence.submit(second, nullptr, token)), std::out_of_range);
  sequence.end(sequence.submit(second, nullptr, token));
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 2}));
  static_cast<void>(sequence.begin());
  sequence.abort();
  EXPECT_EQ(sequence.query().aborted_runs, 1U);
  EXPECT_EQ(sequence.query().refused, 1U);
}

TEST_F(HoistHpp, DLPackTensorsAreTheBytesInPlace) {
  namespace dlpack = hoist::dlpack;
  auto kept = std::make_shared<int>(1);
  hoist::Step step(manager_, stream_);
  const hoist::Unit open = step.unit(units_[1]);
  const hoist_tensor_view_t& tensor = open.view()[0];
  const dlpack::View view = dlpack::view(device_, tensor, dlpack::data_type("BF16"), {{64, 64}}, kept);
  dlpack::ManagedTensorVersioned* made = dlpack::managed_versioned(view);
  EXPECT_EQ(made->version.major, 1U);
  EXPECT_EQ(made->flags, dlpack::flag_read_only);  // the unit only reads it
  EXPECT_EQ(made->dl_tensor.data, tensor.data);
  EXPECT_EQ(made->dl_tensor.device.type, dlpack::type_cpu);
  ASSERT_EQ(made->dl_tensor.ndim, 2);
  EXPECT_EQ(made->dl_tensor.shape[0] * made->dl_tensor.shape[1], 4096);
  EXPECT_EQ(made->dl_tensor.dtype.code, 4);
  EXPECT_EQ(kept.use_count(), 3);
  made->deleter(made);
  EXPECT_EQ(kept.use_count(), 2);
  dlpack::ManagedTensor* old =
      dlpack::managed(dlpack::view(device_, tensor, dlpack::data_type("float32"), std::nullopt, {}));
  EXPECT_EQ(old->dl_tensor.shape[0], 2048);
  old->deleter(old);
  EXPECT_THROW(dlpack::data_type("float31"), hoist::Exception);
  EXPECT_THROW(dlpack::view(device_, tensor, dlpack::data_type("F32"), {{3, 5}}, {}), hoist::Exception);
  EXPECT_THROW(dlpack::view(device_, tensor, {2, 96, 1}, std::nullopt, {}), hoist::Exception);
}

TEST_F(HoistHpp, TimesAndPinnedMemory) {
  manager_.timing_begin(0);
  for (int i = 0; i < 3; ++i) {
    hoist::Step step(manager_, stream_);
    for (const hoist_unit_t unit : units_) const hoist::Unit open = step.unit(unit);
  }
  manager_.drain();
  manager_.timing_update();
  EXPECT_EQ(manager_.timing(units_[0]).steps, 3U);
  manager_.timing_end();
  EXPECT_THROW(static_cast<void>(manager_.timing(units_[0])), hoist::Exception);
  const hoist::HostMemory host(device_, 5000);
  EXPECT_TRUE(host.pinned());
  EXPECT_EQ(host.bytes(), 5000U);
  std::memset(host.data(), 1, host.bytes());
}

TEST(HoistHppGraph, CapturedStepsAreReplayedUnderOtherPlans) {
  hoist::Device device("host:0?mode=threaded");
  hoist::Stream stream(device);
  hoist::Budget budget(device, hoist::BudgetOptions().set("budget", "50%").set("placement", "slots"));
  hoist::Manager manager(device, budget);
  const std::vector<std::uint8_t> bytes(8192, 1);
  for (int u = 0; u < 4; ++u) {
    const std::string name = "u" + std::to_string(u);
    hoist::TensorDesc desc;
    desc.name = name.c_str();
    desc.bytes = bytes.size();
    desc.host = const_cast<std::uint8_t*>(bytes.data());
    desc.flags = HOIST_TENSOR_COPY;
    static_cast<void>(manager.add_tensor(manager.add_unit(name), desc));
  }
  manager.commit();
  const auto run = [&] {
    hoist::Step step(manager, stream);
    for (hoist_unit_t unit = 0; unit < 4; ++unit) static_cast<void>(step.unit(unit));
    step.end();
  };
  for (int i = 0; i < 3; ++i) run();
  hoist::capture_begin(stream);
  run();
  hoist::Graph graph = hoist::capture_end(stream);
  for (double share : {0.75, 0.5}) {
    for (int i = 0; i < 10; ++i) graph.launch(stream);
    budget.set_share(share);
  }
  budget.reserve(4096);  // beside a share
  EXPECT_EQ(4096U, budget.query().reserved_bytes);
  budget.release(4096);
  budget.set("75%");
  stream.wait();
  EXPECT_EQ(20U, manager.replay_query().begun);
  manager.replay_abort();
  EXPECT_EQ(0U, manager.replay_query().aborted);
  manager.replay_release();
  EXPECT_EQ(HOIST_REPLAY_NONE, manager.replay_query().state);
}

}  // namespace
