// SPDX-License-Identifier: Apache-2.0
// Every way in which a header can lie is refused with the file, the tensor and the byte.
#include "checkpoint/header.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "unit/checkpoint/safetensors_file.hpp"

namespace hoist {
namespace {

using test::entry;
using test::length_field;
using test::safetensors;
using ::testing::HasSubstr;

std::vector<HeaderTensor> read(const std::string& file) { return read_header("m.safetensors", file); }

// What the error says; fails the test where there is none.
std::string refusal(const std::string& file) {
  try {
    read(file);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), HOIST_ERROR_CORRUPT);
    EXPECT_THAT(error.what(), HasSubstr("m.safetensors"));
    EXPECT_THAT(error.what(), HasSubstr("byte "));
    EXPECT_NE(error.hint(), "");
    return std::string(error.what()) + " | " + error.hint();
  }
  ADD_FAILURE() << "accepted: " << file.substr(0, 200);
  return {};
}

TEST(Header, GivesTensorsByOffset) {
  const std::string json = std::string("{") + entry("b", "F32", "[2,2]", 4, 20) +
                           ",\"__metadata__\":{\"format\":\"pt\"}," + entry("a", "BF16", "[2]", 0, 4) + "}  ";
  const std::vector<HeaderTensor> tensors = read(safetensors(json, 20));
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0].name, "a");
  EXPECT_STREQ(tensors[0].dtype->name, "BF16");
  EXPECT_EQ(tensors[0].offset, 8 + json.size());
  EXPECT_EQ(tensors[0].bytes, 4U);
  EXPECT_EQ(tensors[1].name, "b");
  EXPECT_EQ(tensors[1].offset, 8 + json.size() + 4);
  EXPECT_EQ(tensors[1].shape, (std::vector<std::uint64_t>{2, 2}));
}

TEST(Header, TakesNoTensorsScalarsAndZeroBytes) {
  EXPECT_TRUE(read(safetensors("{}", 0)).empty());
  EXPECT_TRUE(read(safetensors("{\"__metadata__\":{}}", 0)).empty());
  const std::vector<HeaderTensor> tensors =
      read(safetensors(std::string("{") + entry("scalar", "F64", "[]", 0, 8) + "," +
                           entry("none", "F32", "[3,0]", 8, 8) + "," + entry("first", "I8", "[0]", 0, 0) + "}",
                       8));
  ASSERT_EQ(tensors.size(), 3U);
  EXPECT_EQ(tensors[0].name, "first");
  EXPECT_EQ(tensors[1].bytes, 8U);
  EXPECT_TRUE(tensors[1].shape.empty());
  EXPECT_EQ(tensors[2].bytes, 0U);
}

struct Size {
  const char* dtype;
  std::uint64_t elements;
  std::uint64_t bytes;
};
class HeaderDtype : public ::testing::TestWithParam<Size> {};

TEST_P(HeaderDtype, HasItsSize) {
  const Size size = GetParam();
  const std::string shape = "[" + std::to_string(size.elements) + "]";
  const auto tensors =
      read(safetensors(std::string("{") + entry("t", size.dtype, shape, 0, size.bytes) + "}", size.bytes));
  ASSERT_EQ(tensors.size(), 1U);
  EXPECT_EQ(tensors[0].bytes, size.bytes);
  EXPECT_THAT(
      refusal(safetensors(std::string("{") + entry("t", size.dtype, shape, 0, size.bytes + 1) + "}", size.bytes + 1)),
      HasSubstr(std::string(size.dtype) + " in its shape is " + std::to_string(size.bytes) + " bytes"));
}
INSTANTIATE_TEST_SUITE_P(All, HeaderDtype,
                         ::testing::Values(Size{"BOOL", 3, 3}, Size{"F4", 6, 3}, Size{"F6_E2M3", 4, 3},
                                           Size{"F6_E3M2", 8, 6}, Size{"U8", 3, 3}, Size{"I8", 3, 3},
                                           Size{"F8_E5M2", 3, 3}, Size{"F8_E4M3", 3, 3}, Size{"F8_E8M0", 3, 3},
                                           Size{"F8_E4M3FNUZ", 3, 3}, Size{"F8_E5M2FNUZ", 3, 3}, Size{"I16", 3, 6},
                                           Size{"U16", 3, 6}, Size{"F16", 3, 6}, Size{"BF16", 3, 6}, Size{"I32", 3, 12},
                                           Size{"U32", 3, 12}, Size{"F32", 3, 12}, Size{"C64", 3, 24},
                                           Size{"F64", 3, 24}, Size{"I64", 3, 24}, Size{"U64", 3, 24}),
                         [](const auto& size) { return size.param.dtype; });

struct Lie {
  const char* name;
  std::string json;
  std::uint64_t data_bytes;
  const char* says;
};
void PrintTo(const Lie& lie, std::ostream* stream) { *stream << lie.json.substr(0, 200); }
class HeaderLie : public ::testing::TestWithParam<Lie> {};

TEST_P(HeaderLie, IsRefused) {
  EXPECT_THAT(refusal(safetensors(GetParam().json, GetParam().data_bytes)), HasSubstr(GetParam().says));
}

std::string one(const std::string& fields) { return std::string("{\"layer.weight\":{") + fields + "}}"; }

INSTANTIATE_TEST_SUITE_P(
    Structure, HeaderLie,
    ::testing::Values(
        Lie{"NotAnObject", "[]", 0, "does not begin with '{'"}, Lie{"Blank", "  {}", 0, "does not begin with '{'"},
        Lie{"Cut", "{\"a\":{\"dtype\":\"F32\"", 0, "not valid JSON"}, Lie{"Trailing", "{} {}", 0, "not valid JSON"},
        Lie{"Comment", "{/* */}", 0, "not valid JSON"}, Lie{"BadUtf8", "{\"\xff\":{}}", 0, "not valid JSON"},
        Lie{"Deep", std::string("{\"a\":") + std::string(100000, '['), 0, "is an array, not an object"},
        Lie{"EntryNumber", "{\"a\":3}", 0, "the entry 'a' is 3"}, Lie{"EntryNull", "{\"a\":null}", 0, "is null"},
        Lie{"Metadata", "{\"__metadata__\":{\"k\":1}}", 0, "has 1 for 'k', not a string"},
        Lie{"MetadataTwice", "{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0, "'k' twice"},
        Lie{"NameTwice", std::string("{") + entry("a", "U8", "[1]", 0, 1) + "," + entry("a", "U8", "[1]", 1, 2) + "}",
            2, "the name 'a' comes twice"},
        Lie{"NameWithZero", "{\"a\\u0000b\":{}}", 0, "zero character"},
        Lie{"NoDtype", one("\"shape\":[1],\"data_offsets\":[0,1]"), 1, "'layer.weight'"},
        Lie{"NoShape", one("\"dtype\":\"U8\",\"data_offsets\":[0,1]"), 1, "no shape"},
        Lie{"NoOffsets", one("\"dtype\":\"U8\",\"shape\":[1]"), 1, "no data_offsets"},
        Lie{"DtypeTwice", one("\"dtype\":\"U8\",\"dtype\":\"U8\""), 1, "its dtype comes twice"},
        Lie{"ShapeTwice", one("\"shape\":[1],\"shape\":[1]"), 1, "its shape comes twice"},
        Lie{"UnknownField", one("\"strides\":[1]"), 1, "unknown field 'strides'"},
        Lie{"UnknownDtype", one("\"dtype\":\"F7\",\"shape\":[1],\"data_offsets\":[0,1]"), 1, "unknown dtype 'F7'"},
        Lie{"LowerDtype", one("\"dtype\":\"f32\",\"shape\":[1],\"data_offsets\":[0,4]"), 4, "known are BOOL, F4"},
        Lie{"DtypeNumber", one("\"dtype\":1"), 1, "its 'dtype' is 1"},
        Lie{"ShapeString", one("\"shape\":\"1\""), 1, "its 'shape' is the string"},
        Lie{"ShapeNested", one("\"shape\":[[1]]"), 1, "its shape holds an array"}),
    [](const auto& lie) { return lie.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Numbers, HeaderLie,
    ::testing::Values(
        Lie{"NegativeShape", std::string("{") + entry("a", "U8", "[-1]", 0, 1) + "}", 1, "its shape holds -1"},
        Lie{"FractionShape", std::string("{") + entry("a", "U8", "[1.5]", 0, 1) + "}", 1, "its shape holds 1.5"},
        Lie{"HugeShape", std::string("{") + entry("a", "U8", "[18446744073709551616]", 0, 1) + "}", 1, "below 2^64"},
        Lie{"ShapeOverflow", std::string("{") + entry("a", "F32", "[4611686018427387904,4]", 0, 0) + "}", 0,
            "2^64 bits"},
        Lie{"BitsOverflow", std::string("{") + entry("a", "I64", "[2305843009213693952]", 0, 0) + "}", 0, "2^64 bits"},
        Lie{"Rank17", std::string("{") + entry("a", "U8", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", 0, 1) + "}", 1,
            "16 dimensions"},
        Lie{"HalfByte", std::string("{") + entry("a", "F4", "[3]", 0, 2) + "}", 2, "12 bits, not whole bytes"},
        Lie{"ThreeOffsets", one("\"data_offsets\":[0,1,2]"), 1, "more than two"},
        Lie{"OneOffset", one("\"data_offsets\":[0]"), 1, "fewer than two"},
        Lie{"Backwards", std::string("{") + entry("a", "U8", "[1]", 2, 1) + "}", 2, "end (1) before they begin (2)"},
        Lie{"BeyondFile", std::string("{") + entry("a", "U8", "[9]", 0, 9) + "}", 8, "the file holds 8 bytes"},
        Lie{"OffsetWraps",
            std::string("{") + entry("a", "U8", "[1]", 18446744073709551614ULL, 18446744073709551615ULL) + "}", 1,
            "the file holds 1 bytes"},
        Lie{"WrongSize", std::string("{") + entry("a", "F32", "[2]", 0, 4) + "}", 4, "F32 in its shape is 8 bytes"},
        Lie{"Overlap", std::string("{") + entry("a", "U8", "[4]", 0, 4) + "," + entry("b", "U8", "[4]", 2, 6) + "}", 6,
            "overlap those of 'a'"},
        Lie{"SameBytes", std::string("{") + entry("a", "U8", "[4]", 0, 4) + "," + entry("b", "U8", "[4]", 0, 4) + "}",
            4, "overlap those of 'a'"},
        Lie{"ZeroBytesInside",
            std::string("{") + entry("a", "U8", "[4]", 0, 4) + "," + entry("z", "U8", "[0]", 2, 2) + "}", 4,
            "overlap those of 'a'"},
        Lie{"HoleFirst", std::string("{") + entry("a", "U8", "[4]", 2, 6) + "}", 6,
            "no tensor has the 2 bytes before it"},
        Lie{"HoleBetween", std::string("{") + entry("a", "U8", "[1]", 0, 1) + "," + entry("b", "U8", "[1]", 3, 4) + "}",
            4, "no tensor has the 2 bytes before it"},
        Lie{"HoleLast", std::string("{") + entry("a", "U8", "[4]", 0, 4) + "}", 7, "no tensor has the last 3 bytes"}),
    [](const auto& lie) { return lie.param.name; });

TEST(Header, RefusesLyingLengths) {
  EXPECT_THAT(refusal(""), HasSubstr("the file has 0 bytes"));
  EXPECT_THAT(refusal("1234567"), HasSubstr("the file has 7 bytes"));
  EXPECT_THAT(refusal(length_field(0)), HasSubstr("does not begin"));
  EXPECT_THAT(refusal(length_field(3) + "{}"), HasSubstr("claims 3 bytes, but the file has only 10"));
  EXPECT_THAT(refusal(length_field(100000001) + "{}"), HasSubstr("at most 100000000"));
  EXPECT_THAT(refusal(length_field(~std::uint64_t{0}) + "{}"), HasSubstr("at most 100000000"));
}

TEST(Header, NamesTheByte) {
  const std::string json = std::string("{") + entry("a", "U8", "[4]", 0, 4) + "," + entry("b", "U8", "[1]", 5, 6) + "}";
  const std::string says = "tensor 'b', byte " + std::to_string(8 + json.size() + 5);
  EXPECT_THAT(refusal(safetensors(json, 6)), HasSubstr(says));
  EXPECT_THAT(refusal(safetensors("{\"a\":3}", 0)), HasSubstr("byte 14"));  // the newest character read
}

TEST(Header, EveryTruncationIsRefused) {
  const std::string whole = safetensors(
      std::string("{") + entry("a", "F32", "[4]", 0, 16) + "," + entry("b", "BF16", "[2,2]", 16, 24) + "}", 24);
  ASSERT_EQ(read(whole).size(), 2U);
  for (std::size_t length = 0; length < whole.size(); ++length) refusal(whole.substr(0, length));
}

TEST(Header, CutsLongNames) {
  const std::string says =
      refusal(safetensors(std::string("{") + entry(std::string(100000, 'x'), "F7", "[1]", 0, 1) + "}", 1));
  EXPECT_LT(says.size(), 1000U);
}

}  // namespace
}  // namespace hoist
