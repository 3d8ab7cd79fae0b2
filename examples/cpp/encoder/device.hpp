// SPDX-License-Identifier: Apache-2.0
// Where the demo computes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arithmetic.hpp"
#include "hoist/hoist.hpp"
#include "model.hpp"
#include "sentences.hpp"

namespace encoder {

struct Place {
  hoist::Device device;
  MakeArithmetic arithmetic;
};

// The device that was named; with "" cuda:0 where a GPU is, else host:0. Says which, and why where it is another one.
// Throws where nothing can be computed there. All must outlive the place.
std::unique_ptr<Place> choose_place(const std::string& name, const Model& model,
                                    const std::vector<Sentence>& sentences);

}  // namespace encoder
