// SPDX-License-Identifier: Apache-2.0
// What the demo prints, and whether it holds.
#pragma once

#include <string>
#include <vector>

#include "model.hpp"
#include "run.hpp"
#include "sentences.hpp"

namespace encoder {

std::string megabytes(std::uint64_t bytes);

void print_model(const std::string& path, const Model& model, const std::vector<Sentence>& sentences);
void print_plan(const hoist::Manager& manager, const Model& model);
void print_measured(const Measured& measured, unsigned steps);

// A bar that is drawn over itself, on a terminal only.
Progress progress_bar();

// Each says what it found and returns whether that is right.
bool check_moved(const Measured& measured);
bool check_reference(const Matrix& embeddings, const std::vector<Sentence>& sentences);
bool check_parity(const std::vector<Matrix>& streamed, const Matrix& resident);

}  // namespace encoder
