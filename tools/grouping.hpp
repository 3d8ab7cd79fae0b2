// SPDX-License-Identifier: Apache-2.0
// Which tensors make a unit, by their names alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tool {

struct Group {
  std::string name;
  std::vector<std::uint64_t> tensors;  // indices into the names
};

// A tensor's unit is its name up to the first number: "model.layers.3.mlp.up.weight" is of "model.layers.3". One
// without a number is of its module, "model.norm". Embeddings come first, then numbered units in the order of their
// numbers (encoders before decoders), then the rest, then heads: the order in which models compute.
//
// Globs override that: "model.layers.*.mlp" makes a unit of each "model.layers.3.mlp" and all below it; a star stands
// for anything within one part of a name. Throws BadInput, with the nearest, for a glob that no name matches.
std::vector<Group> group_tensors(const std::vector<std::string>& names, const std::vector<std::string>& globs);

}  // namespace tool
