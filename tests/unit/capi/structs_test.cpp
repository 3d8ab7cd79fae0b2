// SPDX-License-Identifier: Apache-2.0
// The rules of structs, fields by name and handles, on types of the test's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include "../../../capi/handle.hpp"
#include "../../../capi/options.hpp"

namespace hoist::capi {
namespace {

using testing::HasSubstr;

struct Options {
  std::size_t struct_size;
  std::uint64_t profile_steps;
  std::uint64_t budget_bytes;
};

std::string refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "not refused";
}

TEST(ReadStruct, TakesSmallerOnesAndRefusesUnknownTails) {
  EXPECT_EQ(0u, read_options<Options>(nullptr, "options").budget_bytes);
  EXPECT_THAT(refusal([] { read_struct<Options>(nullptr, "desc"); }), HasSubstr("desc is NULL"));
  Options given{sizeof(std::size_t) * 2, 5, 77};
  EXPECT_EQ(5u, read_options(&given, "options").profile_steps);
  EXPECT_EQ(0u, read_options(&given, "options").budget_bytes);  // beyond what the caller knows
  struct {
    Options known;
    std::uint64_t more[2];
  } newer{{sizeof newer, 1, 2}, {0, 0}};
  EXPECT_EQ(2u, read_options(&newer.known, "options").budget_bytes);
  EXPECT_EQ(sizeof(Options), read_options(&newer.known, "options").struct_size);
  newer.more[1] = 1;
  EXPECT_THAT(refusal([&] { read_options(&newer.known, "options"); }), HasSubstr("options: byte 32 is set"));
  given.struct_size = 0;
  EXPECT_THAT(refusal([&] { read_options(&given, "options"); }), HasSubstr("options->struct_size is 0"));
  given.struct_size = ~std::size_t{0};
  EXPECT_THAT(refusal([&] { read_options(&given, "options"); }), HasSubstr("struct_size"));
}

TEST(WriteStruct, StaysWithinTheCallersSize) {
  struct {
    Options known;
    std::uint64_t more[2];
  } out{{2 * sizeof(std::size_t), 9, 9}, {9, 9}};
  const Options full{sizeof(Options), 1, 2};
  write_struct(check_out(&out.known, "out"), full);
  EXPECT_EQ(2 * sizeof(std::size_t), out.known.struct_size);
  EXPECT_EQ(1u, out.known.profile_steps);
  EXPECT_EQ(9u, out.known.budget_bytes);
  out.known.struct_size = sizeof(Options) + 8;
  write_struct(out.known, full);
  EXPECT_EQ(2u, out.known.budget_bytes);
  EXPECT_EQ(0u, out.more[0]);  // a field of the future reads as zero
  EXPECT_EQ(9u, out.more[1]);
}

constexpr Field<Options> fields[] = {
    {"profile_steps",
     [](Options& o, std::string_view what, std::string_view value) { o.profile_steps = parse_count(what, value, 100); },
     [](const Options& o) { return o.profile_steps == 0; }},
    {"budget_bytes",
     [](Options& o, std::string_view what, std::string_view value) { o.budget_bytes = parse_bytes(what, value); },
     [](const Options& o) { return o.budget_bytes == 0; }},
};

TEST(Fields, AreSetByNameOrRefusedWithTheNearest) {
  Options options{sizeof options, 0, 0};
  set_option<Options>(options, fields, "budget_bytes", "2MiB");
  EXPECT_EQ(2u << 20, options.budget_bytes);
  EXPECT_THAT(refusal([&] { set_option<Options>(options, fields, "budget", "1"); }), HasSubstr("'budget_bytes'"));
  EXPECT_THAT(refusal([&] { set_option<Options>(options, fields, "profile_steps", "101"); }),
              HasSubstr("option profile_steps is '101'"));
}

TEST(Fields, TheEnvironmentSetsDefaultsOnly) {
  ::setenv("HOIST_BUDGET_BYTES", "4MiB", 1);
  ::setenv("HOIST_PROFILE_STEPS", "7", 1);
  Options options{sizeof options, 3, 0};
  apply_environment<Options>(options, fields);
  EXPECT_EQ(4u << 20, options.budget_bytes);
  EXPECT_EQ(3u, options.profile_steps);  // what the call set wins
  ::setenv("HOIST_BUDGET_BYTES", "much", 1);
  options.budget_bytes = 0;
  EXPECT_THAT(refusal([&] { apply_environment<Options>(options, fields); }),
              HasSubstr("environment variable HOIST_BUDGET_BYTES is 'much'"));
  ::unsetenv("HOIST_BUDGET_BYTES");
  ::setenv("HOIST_PROFIL_STEPS", "7", 1);
  EXPECT_THAT(refusal([&] { apply_environment<Options>(options, fields); }), HasSubstr("'HOIST_PROFILE_STEPS'"));
  ::unsetenv("HOIST_PROFIL_STEPS");
  ::unsetenv("HOIST_PROFILE_STEPS");
}

TEST(Guarded, TurnsEveryExceptionIntoAStatusAndARecord) {
  EXPECT_EQ(HOIST_OK, guarded("f", [] {}));
  EXPECT_EQ(HOIST_ERROR_STALE, guarded("f", [] { fail(HOIST_ERROR_STALE, "message", "hint"); }));
  EXPECT_EQ("message", error_record().message);
  EXPECT_EQ("hint", error_record().hint);
  EXPECT_EQ("f", error_record().where);
  EXPECT_EQ(HOIST_ERROR_OUT_OF_MEMORY, guarded("f", [] { throw std::bad_alloc(); }));
  EXPECT_EQ(HOIST_ERROR_INTERNAL, guarded("g", [] { throw std::runtime_error("why"); }));
  EXPECT_EQ("why", error_record().message);
  EXPECT_EQ(HOIST_ERROR_INTERNAL, guarded("g", [] { throw 7; }));
  guarded_void("h", [] { throw 7; });  // logged
  EXPECT_EQ("g", error_record().where);
}

struct Thing : Handle<std::string> {
  static constexpr const char* type = "hoist_thing_t";
};
struct Other : Handle<std::string> {
  static constexpr const char* type = "hoist_other_t";
};

TEST(Handles, KnowTheirTypeAndTheirEnd) {
  Thing* thing = create_handle<Thing>("value");
  EXPECT_EQ("value", value_of(thing, "thing"));
  const Thing* constant = thing;
  EXPECT_EQ("value", value_of(constant, "thing"));
  EXPECT_THAT(refusal([] { value_of<Thing>(nullptr, "thing"); }), HasSubstr("thing is NULL"));
  EXPECT_THAT(refusal([&] { value_of(reinterpret_cast<Other*>(thing), "other"); }),
              HasSubstr("other is no hoist_other_t"));
  std::string released;
  destroy_handle(thing, "destroy", [&](std::string& value) { released = value; });
  EXPECT_EQ("value", released);
  if (trust_mode()) {
    EXPECT_THAT(refusal([&] { value_of(thing, "thing"); }), HasSubstr("has been destroyed"));
    released.clear();
    destroy_handle(thing, "destroy", [&](std::string& value) { released = value; });
    EXPECT_EQ("", released);
  }
  destroy_handle<Thing>(nullptr, "destroy");
}

TEST(Handles, OfTheParentAreRefusedAndLeftAlone) {
  Thing* thing = create_handle<Thing>("value");
  --thing->generation;  // as a child of fork sees it
  EXPECT_THAT(refusal([&] { value_of(thing, "thing"); }), HasSubstr("belongs to the parent process"));
  bool released = false;
  destroy_handle(thing, "destroy", [&](std::string&) { released = true; });
  EXPECT_FALSE(released);
  ++thing->generation;
  EXPECT_EQ("value", value_of(thing, "thing"));
  destroy_handle(thing, "destroy");
}

TEST(Handles, HoldOneThreadAtATime) {
  Thing* thing = create_handle<Thing>("value");
  {
    const Held held(thing, "thing");
    EXPECT_EQ(5u, held->size());
    std::thread([&] {
      EXPECT_THAT(refusal([&] { Held<Thing>(thing, "thing"); }),
                  HasSubstr("another thread is inside this hoist_thing_t"));
    }).join();
  }
  EXPECT_EQ("not refused", refusal([&] { Held<Thing>(thing, "thing"); }));
  destroy_handle(thing, "destroy");
}

}  // namespace
}  // namespace hoist::capi
