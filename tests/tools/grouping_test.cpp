// SPDX-License-Identifier: Apache-2.0
// Units from tensor names: what people's checkpoints look like, and globs.
#include "grouping.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.hpp"

namespace tool {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Names = std::vector<std::string>;

Names units(const Names& names, const Names& globs = {}) {
  Names result;
  for (const Group& group : group_tensors(names, globs)) result.push_back(group.name);
  return result;
}

TEST(Grouping, ADecoderInTheOrderOfItsLayers) {
  // Sorted as safetensors writes them: by type and name, so that 10 stands before 2.
  const Names names = {"lm_head.weight",
                       "model.embed_tokens.weight",
                       "model.layers.0.mlp.up_proj.weight",
                       "model.layers.10.mlp.up_proj.weight",
                       "model.layers.2.mlp.up_proj.weight",
                       "model.norm.weight",
                       "model.layers.0.input_layernorm.weight",
                       "model.layers.10.input_layernorm.weight"};
  const std::vector<Group> groups = group_tensors(names, {});
  EXPECT_THAT(units(names), ElementsAre("model.embed_tokens", "model.layers.0", "model.layers.2", "model.layers.10",
                                        "model.norm", "lm_head"));
  EXPECT_THAT(groups[1].tensors, ElementsAre(2, 6));
  EXPECT_THAT(groups[3].tensors, ElementsAre(3, 7));
}

TEST(Grouping, OtherFamilies) {
  EXPECT_THAT(units({"encoder.layer.1.w", "encoder.layer.0.w", "pooler.dense.weight", "embeddings.LayerNorm.bias"}),
              ElementsAre("embeddings.LayerNorm", "encoder.layer.0", "encoder.layer.1", "pooler.dense"));
  EXPECT_THAT(units({"h.0.attn.bias", "h.0.mlp.w", "ln_f.weight", "wpe.weight", "wte.weight"}),
              ElementsAre("wpe", "wte", "h.0", "ln_f"));
  EXPECT_THAT(units({"decoder.block.0.w", "decoder.final_layer_norm.w", "encoder.block.0.w", "shared.weight"}),
              ElementsAre("shared", "encoder.block.0", "decoder.block.0", "decoder.final_layer_norm"));
  EXPECT_THAT(units({"model.layers.3.mlp.experts.5.w1.weight", "model.layers.3.mlp.experts.11.w1.weight"}),
              ElementsAre("model.layers.3"));
  EXPECT_THAT(units({"0.weight", "2.weight", "10.weight"}), ElementsAre("0", "2", "10"));
}

TEST(Grouping, NamesWithoutStructure) {
  EXPECT_THAT(units({"b", "a", "a.weight", ""}), ElementsAre("", "a", "b"));
  EXPECT_THAT(units({"x.007.w", "x.7.w", "x.18446744073709551616.w", "x.8.w"}),
              ElementsAre("x.007", "x.7", "x.8", "x.18446744073709551616"));
  EXPECT_TRUE(units({}).empty());
}

TEST(Grouping, GlobsComeFirstAndLeaveTheRest) {
  const Names names = {"model.layers.0.mlp.up.weight", "model.layers.0.attn.q.weight", "model.layers.0.norm",
                       "model.layers.1.mlp.up.weight", "model.embed.weight"};
  EXPECT_THAT(
      units(names, {"model.layers.*.mlp", "model.layers.*.attn"}),
      ElementsAre("model.embed", "model.layers.0", "model.layers.0.attn", "model.layers.0.mlp", "model.layers.1.mlp"));
  EXPECT_THAT(units(names, {"*"}), ElementsAre("model"));
  EXPECT_THAT(units(names, {"model.layers.*.m*p"}),
              ElementsAre("model.embed", "model.layers.0", "model.layers.0.mlp", "model.layers.1.mlp"));
  EXPECT_THAT(units(names, {"model.layers.1"}), ElementsAre("model.embed", "model.layers.0", "model.layers.1"));
}

TEST(Grouping, GlobsThatMatchNothingNameTheNearest) {
  const Names names = {"model.layers.0.mlp.up", "model.layers.1.mlp.up"};
  for (const Names& globs : {Names{"model.layer.*"}, Names{"model.layers.*", "model.layers.*.mlp"}, Names{""}}) {
    try {
      (void)units(names, globs);
      FAIL() << "accepted " << globs.back();
    } catch (const BadInput& error) {
      EXPECT_THAT(error.what(), HasSubstr("'" + globs.back() + "'"));
      EXPECT_THAT(error.what(), HasSubstr("nearest is 'model"));
    }
  }
}

}  // namespace
}  // namespace tool
