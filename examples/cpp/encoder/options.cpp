// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <charconv>
#include <map>
#include <stdexcept>

namespace encoder {
namespace {

unsigned number(const std::string& text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0 || value > 100'000) {
    throw std::invalid_argument("--steps is '" + text + "'; a number from 1 to 100000 would do");
  }
  return value;
}

}  // namespace

std::optional<Options> read_options(int count, char** arguments) {
  Options options;
  const std::map<std::string, std::string*> texts = {{"--model", &options.model},
                                                     {"--data", &options.data},
                                                     {"--budget", &options.budget},
                                                     {"--trace", &options.trace},
                                                     {"--device", &options.device}};
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    if (name == "--help" || name == "-h") return std::nullopt;
    const auto text = texts.find(name);
    if (text == texts.end() && name != "--steps") throw std::invalid_argument("unknown option '" + name + "'");
    if (++i == count) throw std::invalid_argument(name + " needs a value");
    if (text != texts.end()) {
      *text->second = arguments[i];
    } else {
      options.steps = number(arguments[i]);
    }
  }
  if (options.model.empty() || options.data.empty()) throw std::invalid_argument("--model and --data are needed");
  return options;
}

}  // namespace encoder
