// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <ctime>

#include "base/error.hpp"
#include "unit/checkpoint/safetensors_file.hpp"

namespace hoist {
namespace {

using test::entry;
using test::safetensors;
using test::TemporaryFolder;
using ::testing::HasSubstr;

std::string refusal(const std::string& path, hoist_status_t code) {
  try {
    const Checkpoint checkpoint(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return std::string(error.what()) + " | " + error.hint();
  }
  ADD_FAILURE() << "accepted " << path;
  return {};
}

class Sharded : public ::testing::Test {
 protected:
  Sharded() {
    (void)folder.write("m-1.safetensors", safetensors(std::string("{") + entry("a", "U8", "[3]", 0, 3) + "}", 3));
    (void)folder.write(
        "m-2.safetensors",
        safetensors(std::string("{") + entry("b", "U8", "[0]", 0, 0) + "," + entry("c", "F32", "[2]", 0, 8) + "}", 8));
  }
  std::string index(const std::string& map) {
    return folder.write("m.safetensors.index.json",
                        std::string("{\"metadata\":{\"total_size\":11},\"weight_map\":{") + map + "}}");
  }
  TemporaryFolder folder;
};

TEST_F(Sharded, JoinsShards) {
  const Checkpoint checkpoint(index(R"("c":"m-2.safetensors","a":"m-1.safetensors","b":"m-2.safetensors")"));
  ASSERT_EQ(checkpoint.tensors().size(), 3U);
  EXPECT_EQ(checkpoint.tensors()[0].name, "a");
  EXPECT_EQ(checkpoint.tensors()[1].name, "b");
  EXPECT_EQ(checkpoint.data(checkpoint.tensors()[1]), nullptr);
  EXPECT_EQ(checkpoint.find("c"), 2U);
  const char expected[3] = {1, 8, 15};
  EXPECT_EQ(std::memcmp(checkpoint.data(checkpoint.tensors()[0]), expected, 3), 0);
  EXPECT_EQ(checkpoint.files()[checkpoint.tensors()[2].file].path(), folder.path("m-2.safetensors"));
}

TEST_F(Sharded, RefusesWhatIsMissingOrMisplaced) {
  EXPECT_THAT(refusal(index(R"("a":"m-1.safetensors","c":"m-9.safetensors")"), HOIST_ERROR_NOT_FOUND),
              HasSubstr("m-9.safetensors, which does not exist"));
  EXPECT_THAT(refusal(index(R"("a":"m-1.safetensors","d":"m-2.safetensors")"), HOIST_ERROR_CORRUPT),
              HasSubstr("m-2.safetensors, tensor 'd', byte 0: not in it"));
  EXPECT_THAT(refusal(index(R"("a":"m-2.safetensors","c":"m-1.safetensors")"), HOIST_ERROR_CORRUPT),
              HasSubstr("says that it is in"));
  (void)folder.write("m-3.safetensors", safetensors(std::string("{") + entry("a", "U8", "[3]", 0, 3) + "}", 3));
  EXPECT_THAT(refusal(index(R"("a":"m-1.safetensors","c":"m-3.safetensors")"), HOIST_ERROR_CORRUPT),
              HasSubstr("a tensor of this name is in"));
}

TEST_F(Sharded, RefusesBadIndexes) {
  EXPECT_THAT(refusal(index(R"("a":"../m-1.safetensors")"), HOIST_ERROR_CORRUPT), HasSubstr("beside the index"));
  EXPECT_THAT(refusal(index(R"("a":"/etc/passwd")"), HOIST_ERROR_CORRUPT), HasSubstr("beside the index"));
  EXPECT_THAT(refusal(index(R"("a":"")"), HOIST_ERROR_CORRUPT), HasSubstr("beside the index"));
  EXPECT_THAT(refusal(index(R"("a":1)"), HOIST_ERROR_CORRUPT), HasSubstr("not a string"));
  EXPECT_THAT(refusal(index(""), HOIST_ERROR_CORRUPT), HasSubstr("names no tensor"));
  EXPECT_THAT(refusal(index(R"("a":"m-1.safetensors","a":"m-2.safetensors")"), HOIST_ERROR_CORRUPT),
              HasSubstr("'a' comes twice"));
  EXPECT_THAT(refusal(folder.write("x.json", "{"), HOIST_ERROR_CORRUPT),
              HasSubstr("x.json: not valid JSON: line 1, column 2: the text ends where a key"));
  EXPECT_THAT(refusal(folder.write("x.json", R"({"weight_map":1e999})"), HOIST_ERROR_CORRUPT),
              HasSubstr("'1e999' is beyond the numbers of 64 bits"));
  EXPECT_THAT(refusal(folder.write("x.json", "[]"), HOIST_ERROR_CORRUPT), HasSubstr("weight_map"));
  EXPECT_THAT(refusal(folder.write("x.json", R"({"weight_map":[]})"), HOIST_ERROR_CORRUPT), HasSubstr("weight_map"));
  EXPECT_THAT(refusal(folder.write("x.json", R"({"weight_map":{},"weight_map":{}})"), HOIST_ERROR_CORRUPT),
              HasSubstr("'weight_map' comes twice"));
}

TEST(Checkpoint, RefusesWhatIsNoFile) {
  const TemporaryFolder folder;
  EXPECT_THAT(refusal(folder.path("none.safetensors"), HOIST_ERROR_NOT_FOUND), HasSubstr("none.safetensors"));
  EXPECT_THAT(refusal(folder.path("."), HOIST_ERROR_IO), HasSubstr("is a folder"));
  EXPECT_THAT(refusal("/dev/null", HOIST_ERROR_IO), HasSubstr("not a regular file"));
  EXPECT_THAT(refusal(folder.write("empty.safetensors", ""), HOIST_ERROR_CORRUPT), HasSubstr("0 bytes"));
}

TEST(Checkpoint, NamesTheNearestTensor) {
  const TemporaryFolder folder;
  const Checkpoint checkpoint(
      folder.write("m.safetensors", safetensors(std::string("{") + entry("layers.0.weight", "U8", "[3]", 0, 3) + "," +
                                                    entry("head", "U8", "[1]", 3, 4) + "}",
                                                4)));
  try {
    (void)checkpoint.find("layer.0.weight");
    FAIL() << "found a tensor that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), HOIST_ERROR_NOT_FOUND);
    EXPECT_THAT(error.hint(), HasSubstr("layers.0.weight"));
  }
}

TEST(Checkpoint, OpensAHundredThousandTensorsQuickly) {
  constexpr std::uint64_t count = 100'000;
  std::string json = "{";
  for (std::uint64_t i = 0; i < count; ++i) {
    json +=
        (i == 0 ? "" : ",") + entry("model.layers." + std::to_string(i) + ".mlp.weight", "U8", "[3]", 3 * i, 3 * i + 3);
  }
  const TemporaryFolder folder;
  const std::string path = folder.write("m.safetensors", safetensors(json + "}", 3 * count));
  const std::clock_t begin = std::clock();  // of this process: a busy machine must not decide
  const Checkpoint checkpoint(path);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_EQ(checkpoint.tensors().size(), count);
  EXPECT_EQ(checkpoint.find("model.layers.99999.mlp.weight"), count - 1);
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(seconds, 1.0);
#endif
  RecordProperty("seconds", std::to_string(seconds));
}

}  // namespace
}  // namespace hoist
