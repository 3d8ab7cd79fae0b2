// SPDX-License-Identifier: Apache-2.0
// Loads of one unit that are neighbours on both sides go as one copy, and a unit's loads share one mark: calls of the
// device are counted in steps that run as planned. What is refused as one is made up for one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "device/registry.hpp"
#include "device/services.hpp"
#include "exec/graph_program.hpp"
#include "support/model_rig.hpp"

extern "C" hoist_status_t hoist_host_plugin_init(std::uint32_t, const hoist_device_services_t*, hoist_device_ops_t*);

namespace hoist::test {
namespace {

constexpr std::uint32_t units = 6;
constexpr std::uint32_t tensors = 20;  // a unit
constexpr std::uint32_t in_a_step = units * tensors;

struct Calls {
  std::uint64_t copies = 0;
  std::uint64_t batches = 0;
  std::uint64_t records = 0;
  std::uint64_t waits = 0;  // of streams
};

hoist_device_ops_t inner{};
std::atomic<std::uint64_t> counts[5];  // the last: looks at events

// The host device's table with a count in front of these slots, as a kind of its own.
void register_counted() {
  static bool done = false;
  if (std::exchange(done, true)) return;
  inner.struct_size = sizeof inner;
  ASSERT_EQ(hoist_host_plugin_init(HOIST_DEVICE_ABI_VERSION, &device_services(), &inner), HOIST_OK);
  hoist_device_ops_t ops = inner;
  ops.name = "counted";
#define COUNTED(slot, index)    \
  ops.slot = [](auto... args) { \
    ++counts[index];            \
    return inner.slot(args...); \
  }
  COUNTED(copy, 0);
  COUNTED(copy_batch, 1);
  COUNTED(event_record, 2);
  COUNTED(stream_wait_event, 3);
  COUNTED(event_poll, 4);
  COUNTED(event_wait, 4);
#undef COUNTED
  static_cast<void>(register_device(ops));
}

// In a slab tensors of a size are in the order of their names, as in a plan.
std::string name(std::uint32_t unit, std::uint32_t tensor) {
  return "u" + std::to_string(unit) + (tensor < 10 ? ".0" : ".") + std::to_string(tensor);
}

Model model(std::uint64_t bytes) {
  Model model;
  for (std::uint32_t unit = 0; unit < units; ++unit) {
    model.units.emplace_back();
    for (std::uint32_t tensor = 0; tensor < tensors; ++tensor) {
      model.units.back().uses.push_back({static_cast<std::uint32_t>(model.items.size())});
      model.items.push_back({name(unit, tensor), bytes});
    }
  }
  return model;
}

enum class Places : std::uint8_t { in_order, reversed };

class Neighbours {
 public:
  Neighbours(std::uint64_t bytes, Places places, const std::string& device = "mode=threaded")
      : room_((bytes + 63) / 64 * 64), rig_("counted:0?" + device, model(bytes), options(room_)) {
    rig_.step();
    rig_.step();
    const auto problem = rig_.budget().problem();
    const plan::Plan plan = two_slots(*problem, places);
    rig_.budget().request_replan(problem.get(), &plan);
    rig_.steps(3);
    rig_.residency().wait_all();
  }

  ModelRig& rig() { return rig_; }
  // In the least of some steps: one of eight has its units timed. Nothing is in flight when a step begins.
  Calls calls_of_a_step() {
    Calls least{1000, 1000, 1000, 1000};
    for (int i = 0; i < 10; ++i) {
      rig_.residency().wait_all();
      for (auto& count : counts) count = 0;
      rig_.step();
      least.copies = std::min(least.copies, counts[0].load());
      least.batches = std::min(least.batches, counts[1].load());
      least.records = std::min(least.records, counts[2].load());
      least.waits = std::min(least.waits, counts[3].load());
    }
    rig_.wait();
    EXPECT_EQ(rig_.wrong(), 0U);
    EXPECT_EQ(rig_.budget().status().last_step_h2d_bytes, in_a_step * rig_.residency().items()[0].bytes);
    return least;
  }

 private:
  static BudgetOptions options(std::uint64_t room) {
    BudgetOptions options;
    options.bytes = 2 * tensors * room;
    options.profile_steps = 0;
    options.plan_effort = 1;
    return options;
  }

  // Unit i in slot i mod 2; its successor there comes at its end, half of it a unit later.
  plan::Plan two_slots(const plan::Problem& problem, Places places) const {
    PlanBuilder plan(problem);
    const auto at = [&](std::uint32_t unit, std::uint32_t tensor) {
      const std::uint32_t index = places == Places::in_order ? tensor : tensors - 1 - tensor;
      return (unit % 2 * tensors + index) * room_;
    };
    const auto all = [&](std::uint32_t first, std::uint32_t last, const auto& what) {
      for (std::uint32_t tensor = first; tensor < last; ++tensor) what(tensor);
    };
    constexpr std::uint32_t half = tensors / 2;
    for (std::uint32_t unit = 0; unit < units; ++unit) {
      const std::uint32_t next = (unit + 2) % units;
      const std::uint32_t before = (unit + units - 1) % units;
      const std::uint32_t late = (before + 2) % units;
      const auto after = static_cast<int>(unit);
      all(0, tensors, [&](std::uint32_t tensor) {
        plan.home(name(unit, tensor).c_str(), at(unit, tensor));
        if (unit < 1 || (unit < 2 && tensor < half)) plan.initial(name(unit, tensor).c_str(), at(unit, tensor));
        plan.drop(name(unit, tensor).c_str(), after);
      });
      all(half, tensors, [&](std::uint32_t tensor) {
        plan.load(name(late, tensor).c_str(), after, static_cast<int>(late), at(late, tensor));
      });
      all(0, half, [&](std::uint32_t tensor) {
        plan.load(name(next, tensor).c_str(), after, static_cast<int>(next), at(next, tensor));
      });
    }
    return plan.build();
  }

  std::uint64_t room_;
  ModelRig rig_;
};

class NeighboursTest : public testing::Test {
 protected:
  void SetUp() override { register_counted(); }
};

TEST_F(NeighboursTest, GoAsOneCopy) {
  Neighbours trial(4096, Places::in_order);
  const Calls calls = trial.calls_of_a_step();
  EXPECT_EQ(calls.copies, 2 * units) << "the halves of a unit come at the ends of two";
  EXPECT_EQ(calls.batches, 0U);
}

// Bytes between tensors are nobody's, in a slab as in an arena.
TEST_F(NeighboursTest, GoAsOneCopyWithPaddingBetween) {
  Neighbours trial(1000, Places::in_order);
  EXPECT_EQ(trial.calls_of_a_step().copies, 2 * units);
  EXPECT_EQ(trial.rig().wrong_on_read_back(), 0U);
}

TEST_F(NeighboursTest, OfTheHostAloneDoNot) {
  Neighbours trial(4096, Places::reversed);
  const Calls calls = trial.calls_of_a_step();
  EXPECT_EQ(calls.copies, trial.rig().device().has(HOIST_CAPABILITY_BATCH) ? 0 : in_a_step);
  EXPECT_EQ(calls.batches, trial.rig().device().has(HOIST_CAPABILITY_BATCH) ? 2 * units : 0);
}

// On a virtual clock a copy is what the planner takes it for.
TEST_F(NeighboursTest, AreCountedOneByOneOnAVirtualClock) {
  Neighbours trial(4096, Places::in_order, "mode=virtual&h2d_gbps=1&d2h_gbps=1&latency_us=5");
  const Calls calls = trial.calls_of_a_step();
  EXPECT_TRUE(calls.copies == in_a_step || calls.batches != 0);
}

// A mark a unit's end and one where a unit's bytes are complete, though they come at the ends of two; each waits for
// the other's once.
TEST_F(NeighboursTest, ShareOneMark) {
  Neighbours trial(4096, Places::in_order);
  const Calls calls = trial.calls_of_a_step();
  const std::uint64_t marks = 1 + 2 * units;  // the step's begin is one
  EXPECT_TRUE(calls.records == marks || calls.records == marks + 2 * units) << calls.records << ", with units timed";
  EXPECT_LE(calls.waits, 2 * units);
}

TEST_F(NeighboursTest, AreMarkedWithoutALookAtEachOlderMark) {
  const auto device = Device::open("counted:0?mode=threaded");
  Lane lane(device, LaneId::h2d, 64);
  counts[4] = 0;
  for (int i = 0; i < 1024; ++i) {
    lane.record();
    if (i % 16 == 0) device->stream_wait(lane.stream());
  }
  EXPECT_LE(counts[4], 1024U / 32);
  // What has not been reached is waited for, and no event is taken while somebody may wait for it.
  static std::atomic<int> ran{0};
  for (int i = 0; i < 200; ++i) {
    device->host_function(
        lane.stream(), [](void*) { ++ran; }, nullptr, 0);
    lane.record();
    EXPECT_GE(ran, i - 64);
  }
  lane.wait_all();
  EXPECT_EQ(ran, 200);
}

TEST_F(NeighboursTest, RefusedTogetherAreMadeUpForOneByOne) {
  Neighbours trial(4096, Places::in_order);
  ModelRig& rig = trial.rig();
  for (int call = 1; call <= 5; ++call) {
    const std::uint64_t before = rig.budget().status().counters.refused_ops;
    const Ledger ledger = rig.residency().ledger();
    rig.device().set("fail", ("copy@" + std::to_string(call)).c_str());
    rig.step();
    rig.device().set("fail", "");
    EXPECT_EQ(rig.budget().status().counters.refused_ops - before, tensors / 2) << call;
    const auto moved = [&](Reason reason) {
      const auto at = static_cast<std::size_t>(reason);
      return rig.residency().ledger().h2d[at].copies - ledger.h2d[at].copies;
    };
    EXPECT_EQ(moved(Reason::plan), in_a_step - tensors / 2);
    EXPECT_EQ(moved(Reason::restore), tensors / 2);
    EXPECT_EQ(moved(Reason::demand), 0U);
    rig.steps(2);
    rig.wait();
    EXPECT_EQ(rig.wrong(), 0U);
    EXPECT_EQ(rig.wrong_on_read_back(), 0U);
  }
}

// Each is registered for itself, and a copy from one into another is refused by drivers, and by this device.
TEST_F(NeighboursTest, OfDifferentRegistrationsDoNot) {
  constexpr std::uint64_t bytes = 4096;
  const auto device = Device::open("counted:0?mode=inline");
  void* stream = device->stream_create();
  std::vector<char> host(8 * bytes, 1);
  {
    BudgetOptions options;
    options.bytes = 4 * bytes;
    const auto budget = std::make_shared<Budget>(device, options);
    Manager manager(budget);
    for (std::uint32_t tensor = 0; tensor < 8; ++tensor) {
      if (tensor % 2 == 0) manager.add_unit("u" + std::to_string(tensor / 2));
      TensorSpec spec;
      spec.name = "t" + std::to_string(tensor);
      spec.bytes = bytes;
      spec.host = host.data() + tensor * bytes;
      spec.flags = HOIST_TENSOR_ADOPT;
      manager.add_tensor(tensor / 2, spec);
    }
    manager.commit();
    for (int step = 0; step < 12; ++step) {
      budget->step_begin(stream);
      for (std::uint32_t unit = 0; unit < 4; ++unit) {
        manager.unit_begin(unit, stream);
        manager.unit_end(unit, stream);
      }
      budget->step_end();
    }
    device->stream_wait(stream);
    EXPECT_GT(budget->status().last_step_h2d_bytes, 0U);
    EXPECT_EQ(budget->status().counters.refused_ops, 0U);
  }
  device->stream_destroy(stream);
}

// What is submitted beside a captured step is the same, in the same copies.
TEST_F(NeighboursTest, GoAsOneCopyBesideAGraph) {
  Neighbours trial(1000, Places::in_order);
  std::vector<std::vector<UnitUse>> uses(units);
  for (std::uint32_t item = 0; item < in_a_step; ++item) uses[item / tensors].push_back({item, plan::Mode::read});
  const auto graph = compile_graph(trial.rig().budget().executor().program(), uses, trial.rig().residency(), false);
  const auto copies = std::count_if(graph->step.begin(), graph->step.end(),
                                    [](const GraphAction& action) { return action.kind == GraphAction::Kind::copy; });
  EXPECT_EQ(copies, 2 * units);
  EXPECT_EQ(graph->bytes, in_a_step * 1000);
  std::uint64_t copied = 0;
  for (const GraphAction& action : graph->initial) copied += action.bytes;
  EXPECT_EQ(copied, 1000 + (tensors - 1) * 1024 + 1000 + (tensors / 2 - 1) * 1024) << "a unit and half of the next";
}

}  // namespace
}  // namespace hoist::test
