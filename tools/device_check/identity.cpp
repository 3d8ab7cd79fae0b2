// SPDX-License-Identifier: Apache-2.0
// The table, and who the device says it is.
#include <dlfcn.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "device_check/check.hpp"
#include "hoist/hoist.hpp"

namespace device_check {
namespace {

// A process of its own: the loader's services must not take the place of those that listen here.
std::string accepted(Subject& subject) {
  const Target& target = subject.target();
  if (target.plugin.empty()) return "is registered with hoist";
  const std::string words = in_child(
      [&]() -> std::string {
        try {
          const std::string kind = hoist::plugin_load(target.plugin);
          return target.kind.empty() || target.kind == kind ? "" : "it is of kind " + kind + ", not " + target.kind;
        } catch (const hoist::Exception& error) {
          return error.message();
        }
      },
      20);
  if (!words.empty()) throw Failure(words);
  return "level " + std::to_string(subject.ops().abi_version);
}

std::string levels(Subject& subject) {
  if (subject.target().plugin.empty()) throw Skip("is no plugin");
  const std::string path = subject.target().plugin;
  const std::string words = in_child(
      [&]() -> std::string {
        static const hoist_device_services_t services = {sizeof services, 0x7fff, 0,
                                                         [](hoist_status_t, const char*, const char*) {},
                                                         [](hoist_log_level_t, const char*) {}};
        void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        auto* init = reinterpret_cast<hoist_device_plugin_init_fn_t>(dlsym(library, "hoist_device_plugin_init"));
        for (std::uint32_t level : {0x7fffU, 0U}) {
          struct {
            hoist_device_ops_t ops{};
            unsigned char more[2048] = {};
          } space;
          space.ops.struct_size = sizeof space;
          const hoist_status_t status = init(level, &services, &space.ops);
          if (status == HOIST_ERROR_UNSUPPORTED) continue;
          const std::string asked = "asked for level " + std::to_string(level) + " it ";
          if (status != HOIST_OK) return asked + "gave " + hoist_status_string(status);
          if (space.ops.abi_version > level) return asked + "gave level " + std::to_string(space.ops.abi_version);
        }
        return "";
      },
      20);
  if (!words.empty()) throw Failure(words);
  return "";
}

std::uint32_t count_of(Subject& subject) {
  std::uint32_t count = 0;
  subject.expect("count", subject.at("count", subject.ops().count)(subject.ops().driver, &count), HOIST_OK);
  return count;
}

std::string count(Subject& subject) {
  const std::uint32_t first = count_of(subject);
  require(first != 0, "there is none");
  require(count_of(subject) == first, "it changes from call to call");
  return std::to_string(first) + (first == 1 ? " device" : " devices");
}

std::size_t threads_now() {
  std::size_t threads = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) ++threads;
  return threads;
}

void check_facts(const Subject& subject, const hoist_device_properties_t& facts, std::uint32_t index) {
  const std::string name = std::string(subject.ops().name) + ":" + std::to_string(index);
  require(facts.name == name, "name is '" + std::string(facts.name) + "', not '" + name + "'");
  require(facts.description[0] != '\0', "description is empty");
  require(facts.memory_bytes != 0, "memory_bytes is 0");
  require(facts.alignment != 0 && (facts.alignment & (facts.alignment - 1)) == 0,
          "alignment " + std::to_string(facts.alignment) + " is no power of two");
}

hoist_status_t describe_one(Subject& subject, std::uint32_t index, hoist_device_properties_t& facts) {
  facts = {};
  facts.struct_size = sizeof facts;
  return subject.at("describe", subject.ops().describe)(subject.ops().driver, index, &facts);
}

std::string describe(Subject& subject) {
  const std::uint32_t number = count_of(subject);
  const std::size_t before = threads_now();
  for (std::uint32_t index = 0; index < number; ++index) {
    hoist_device_properties_t facts;
    subject.expect("describe", describe_one(subject, index, facts), HOIST_OK);
    check_facts(subject, facts, index);
  }
  require(threads_now() <= before, "a thread was started");
  hoist_device_properties_t facts;
  require(describe_one(subject, number, facts) != HOIST_OK,
          "it describes " + std::to_string(number) + " of " + std::to_string(number) + " devices");
  return "";
}

std::string query(Subject& subject) {
  const hoist_device_properties_t facts = subject.facts();
  check_facts(subject, facts, subject.target().index);
  if (!subject.target().options.empty()) return facts.description;
  hoist_device_properties_t described;
  subject.expect("describe", describe_one(subject, subject.target().index, described), HOIST_OK);
  require(std::strcmp(facts.description, described.description) == 0 && facts.memory_bytes == described.memory_bytes &&
              facts.alignment == described.alignment && facts.capabilities == described.capabilities &&
              facts.granularity == described.granularity && facts.dlpack_type == described.dlpack_type &&
              facts.dlpack_index == described.dlpack_index &&
              std::strcmp(facts.pci_address, described.pci_address) == 0,
          "query and describe differ");
  return facts.description;
}

struct Claim {
  hoist_capability_t capability;
  bool there;
};

std::string claims(Subject& subject) {
  const hoist_device_ops_t& ops = subject.ops();
  for (const Claim& claim :
       {Claim{HOIST_CAPABILITY_BATCH, ops.copy_batch != nullptr},
        Claim{HOIST_CAPABILITY_WRAP, ops.stream_wrap != nullptr},
        Claim{HOIST_CAPABILITY_ACCESS, ops.access_begin != nullptr && ops.access_end != nullptr},
        Claim{HOIST_CAPABILITY_REMAP, ops.handle_create != nullptr && ops.handle_destroy != nullptr &&
                                          ops.address_reserve != nullptr && ops.address_release != nullptr &&
                                          ops.memory_map != nullptr && ops.memory_unmap != nullptr},
        Claim{HOIST_CAPABILITY_WORDS,
              ops.words_create != nullptr && ops.words_destroy != nullptr && ops.words_submit != nullptr},
        Claim{HOIST_CAPABILITY_GRAPH, ops.capture_query != nullptr && ops.capture_begin != nullptr &&
                                          ops.capture_end != nullptr && ops.graph_launch != nullptr &&
                                          ops.graph_destroy != nullptr && ops.stream_create_aside != nullptr}}) {
    require(claim.there || !subject.has(claim.capability),
            capability_name(claim.capability) + " is claimed, but its slot is NULL");
  }
  return capability_list(subject.facts().capabilities);
}

// A slot that is there and not claimed must say so itself.
std::string unclaimed(Subject& subject) {
  const auto& ops = subject.ops();
  void* made = nullptr;
  std::uint32_t* words = nullptr;
  Stream stream(subject);
  const auto refused = [&](std::uint64_t capability, const char* slot, hoist_status_t status) {
    if (!subject.has(capability)) subject.expect(slot, status, HOIST_ERROR_UNSUPPORTED);
  };
  if (ops.stream_wrap != nullptr && !subject.has(HOIST_CAPABILITY_WRAP)) {
    refused(HOIST_CAPABILITY_WRAP, "stream_wrap", DC_STATUS(subject, stream_wrap, nullptr, &made));
  }
  if (ops.handle_create != nullptr && !subject.has(HOIST_CAPABILITY_REMAP)) {
    refused(HOIST_CAPABILITY_REMAP, "handle_create", DC_STATUS(subject, handle_create, 1 << 21, &made));
  }
  if (ops.words_create != nullptr && !subject.has(HOIST_CAPABILITY_WORDS)) {
    refused(HOIST_CAPABILITY_WORDS, "words_create", DC_STATUS(subject, words_create, 1, &words));
  }
  if (ops.capture_begin != nullptr && !subject.has(HOIST_CAPABILITY_GRAPH)) {
    refused(HOIST_CAPABILITY_GRAPH, "capture_begin", DC_STATUS(subject, capture_begin, stream.get()));
  }
  return "";
}

std::string open(Subject& subject) {
  const auto& ops = subject.ops();
  void* opened = nullptr;
  const hoist_status_t beyond = subject.at("open", ops.open)(ops.driver, count_of(subject), "", &opened);
  subject.expect("open of an index that is not there", beyond, HOIST_ERROR_NOT_FOUND);
  const hoist_status_t odd =
      subject.at("open", ops.open)(ops.driver, subject.target().index, "no_such_option=1", &opened);
  subject.expect("open with no_such_option=1", odd, HOIST_ERROR_INVALID_ARGUMENT);
  return "";
}

std::string reopen(Subject& subject) {
  for (int i = 0; i < 2; ++i) {
    subject.close();
    Memory memory(subject, 4096);
    Stream stream(subject);
    stream.fill(memory.at(), 1, 4096);
    stream.wait();
  }
  return "";
}

std::string clock(Subject& subject) {
  if (subject.has(HOIST_CAPABILITY_VIRTUAL_CLOCK)) throw Skip("its clock is modelled");
  double begin = 0;
  double end = 0;
  DC_OK(subject, get_time, &begin);
  const auto wall_begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  DC_OK(subject, get_time, &end);
  const std::chrono::duration<double, std::micro> wall = std::chrono::steady_clock::now() - wall_begin;
  require(end - begin > 0.9 * wall.count() - 100 && end - begin < 1.1 * wall.count() + 5000,
          std::to_string(end - begin) + " went by in " + std::to_string(wall.count()) + " µs");
  return "";
}

}  // namespace

void add_identity_checks(Checks& checks) {
  checks.push_back({"table.accepted", "hoist_device_plugin_init",
                    "It is filled in as for hoist_device_register, at a level that is not above the requested one, and "
                    "@p services are kept.",
                    accepted});
  checks.push_back({"table.levels",
                    "hoist_device_plugin_init",
                    "Called with the newest level that hoist serves, then with older ones while it returns "
                    "HOIST_ERROR_UNSUPPORTED.",
                    levels,
                    {"table.accepted"}});
  checks.push_back({"identity.count",
                    "count",
                    "How many devices there are; 0 where the hardware or its driver is missing.",
                    count,
                    {"table.accepted"}});
  checks.push_back({"identity.describe",
                    "describe",
                    "Fills every field but struct_size as query would for device `index` opened without options, and "
                    "opens nothing for it: no context, no thread.",
                    describe,
                    {"identity.count"}});
  checks.push_back({"identity.query", "query", "Fills every field but struct_size.", query, {"identity.count"}});
  checks.push_back({"identity.claims",
                    "copy_batch, stream_wrap, access_begin, access_end",
                    "A capability whose slot is NULL is an error of open.",
                    claims,
                    {"identity.query"}});
  checks.push_back({"identity.unclaimed",
                    "stream_wrap, handle_create, words_create, capture_begin",
                    "A slot left NULL is served by a stub that returns HOIST_ERROR_UNSUPPORTED.",
                    unclaimed,
                    {"streams.wait"}});
  checks.push_back({"identity.open",
                    "open",
                    "HOIST_ERROR_NOT_FOUND for a kind or index that is not there",
                    open,
                    {"identity.query"}});
  checks.push_back({"identity.reopen",
                    "open, close",
                    "Called once, when nothing uses the device any more.",
                    reopen,
                    {"identity.query", "streams.wait"}});
  checks.push_back(
      {"identity.clock", "get_time", "A clock that runs as that of events does, in µs", clock, {"identity.query"}});
}

}  // namespace device_check
