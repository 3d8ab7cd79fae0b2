// SPDX-License-Identifier: Apache-2.0
// What the demo is asked on its command line.
#pragma once

#include <optional>
#include <string>

namespace encoder {

struct Options {
  std::string model;
  std::string data;
  std::string budget = "40%";
  std::string trace;
  std::string device;  // "": cuda:0 where a GPU is, else host:0
  unsigned steps = 10;
};

inline constexpr const char* usage =
    "usage: hoist_encoder_demo --model MODEL.safetensors --data FOLDER [--budget 40%|BYTES]\n"
    "                          [--device NAME] [--steps N] [--trace FILE]";

// Nothing for --help. Throws std::invalid_argument for what is unknown, incomplete or no number.
std::optional<Options> read_options(int count, char** arguments);

}  // namespace encoder
