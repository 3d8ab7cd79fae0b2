// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"

#include <charconv>
#include <cstdio>
#include <vector>

#include "nearest.hpp"

namespace tool {
namespace {

// The subcommand that was named, else the command itself.
const CLI::App& named(const CLI::App& app) {
  const auto subcommands = app.get_subcommands();
  return subcommands.empty() ? app : named(*subcommands.front());
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

bool has_commands(const CLI::App& app) { return !commands_of(app).empty(); }

std::vector<std::string> known_words(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  }
  for (const std::string& name : commands_of(app)) words.push_back(name);
  return words;
}

// A bare word is no misspelt option: where there is nothing that it could name, all options are told.
std::string unknown(const std::string& word, const CLI::App& context) {
  const auto known = known_words(context);
  const bool options_only = !has_commands(context);
  if (word.rfind('-', 0) != 0 && options_only) {
    return "'" + word + "' is one argument too many; an option must say what it is: " + CLI::detail::join(known, ", ");
  }
  // Not where a command's name is shorter to come by than the option that begins as this one does.
  for (const std::string& name : known) {
    if (word.size() == 2 && word[0] == '-' && name.rfind("--" + word.substr(1), 0) == 0) {
      return "unknown '" + word + "'; the nearest known one is '" + name + "'";
    }
  }
  return "unknown '" + word + "'; the nearest known one is '" + nearest(word, known) + "'";
}

// "12" and "1.5e3", without blanks, signs or anything after them.
template <typename Number>
bool take(const std::string& text, Number& value) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end;
}

// "64MiB".
bool take_bytes(std::string text, std::uint64_t& value) {
  try {
    return CLI::AsSizeValue(false)(text).empty() && take(text, value);
  } catch (const CLI::ValidationError&) {
    return false;
  }
}

std::string shown(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

CLI::Validator within(const std::string& kind, const std::string& least, const std::string& most,
                      const std::function<bool(std::string&)>& holds) {
  const std::string range = "from " + least + " to " + most;
  return {[=](std::string& value) { return holds(value) ? "" : "'" + value + "' is not " + kind + " " + range; },
          range};
}

// Of an option's description.
std::string first_sentence(const std::string& description) { return description.substr(0, description.find(". ")); }

// What CLI11 says begins with the option's name.
const CLI::Option* option_of(const CLI::App& context, const std::string& said) {
  for (const CLI::Option* option : context.get_options()) {
    const std::string name = option->get_name();
    if (said.compare(0, name.size(), name) == 0 && said.find_first_of(": ", name.size()) == name.size()) return option;
  }
  return nullptr;
}

std::string missing(const CLI::App& context) {
  for (const CLI::Option* option : context.get_options()) {
    if (option->get_required() && option->count() == 0) {
      return option->get_name() + " is missing: " + first_sentence(option->get_description());
    }
  }
  return "name a command: " + CLI::detail::join(commands_of(context), ", ");
}

std::string mismatch(const CLI::App& context, const std::string& said) {
  const CLI::Option* option = option_of(context, said);
  if (option == nullptr) return said;
  const std::string name = option->get_name();
  if (option->count() > 1) return name + " is given " + std::to_string(option->count()) + " times; give it once";
  return name + " needs a value: " + first_sentence(option->get_description());
}

// A flag that was given a value, "Could not convert: --json = x"; every other value has a validator.
std::string conversion(const CLI::App& context, const std::string& said) {
  for (const CLI::Option* option : context.get_options()) {
    if (option->get_expected_max() == 0 && said.find(option->get_name() + " = ") != std::string::npos) {
      return option->get_name() + " takes no value";
    }
  }
  return said;
}

std::string words(const CLI::App& context, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return missing(context);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) return mismatch(context, error.what());
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) return conversion(context, error.what());
  return error.what();
}

}  // namespace

CLI::Validator a_path() {
  return {[](std::string& path) { return path.empty() ? "it is empty; name a file" : ""; }, ""};
}

CLI::Validator a_budget() {
  return {[](std::string& budget) { return budget.empty() ? "it is empty; give a share (40%) or bytes (8GiB)" : ""; },
          ""};
}

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return within("a whole number", std::to_string(least), std::to_string(most), [=](const std::string& text) {
    std::uint64_t value = 0;
    return take(text, value) && value >= least && value <= most;
  });
}

CLI::Validator number(double least, double most) {
  return within("a number", shown(least), shown(most), [=](const std::string& text) {
    double value = 0;
    return take(text, value) && value >= least && value <= most;
  });
}

CLI::Validator bytes(std::uint64_t least, std::uint64_t most) {
  return within("a number of bytes, such as 64MiB,", std::to_string(least), std::to_string(most),
                [=](std::string& text) {
                  std::uint64_t value = 0;
                  if (!take_bytes(text, value) || value < least || value > most) return false;
                  text = std::to_string(value);
                  return true;
                });
}

std::string refusal(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& context = named(app);
  const auto extras = app.remaining(true);
  std::string name = context.get_name();
  for (const CLI::App* above = context.get_parent(); above != nullptr; above = above->get_parent()) {
    name = above->get_name() + " " + name;
  }
  return (extras.empty() ? words(context, error) : unknown(extras.front(), context)) + " (see " + name + " --help)";
}

}  // namespace tool
