// SPDX-License-Identifier: Apache-2.0
// The hoist command. Statuses: 0 fine, 1 what ran was not right, 2 bad input, 3 no plan fits.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "command.hpp"
#include "hoist/hoist.hpp"
#include "nearest.hpp"
#include "output.hpp"

namespace {

using namespace tool;

int complain(int status, const std::string& text) {
  std::fprintf(stderr, "hoist: %s\n", one_line(text).c_str());
  return status;
}

int status_of(hoist_status_t code) {
  switch (code) {
    case HOIST_ERROR_INFEASIBLE:
      return exit_infeasible;
    case HOIST_ERROR_INVALID_ARGUMENT:
    case HOIST_ERROR_NOT_FOUND:
    case HOIST_ERROR_ALREADY_EXISTS:
    case HOIST_ERROR_UNSUPPORTED:
    case HOIST_ERROR_IO:
    case HOIST_ERROR_CORRUPT:
    case HOIST_ERROR_INVALID_PLAN:
      return exit_bad_input;
    default:
      return exit_check_failed;
  }
}

int complain(const hoist::Exception& error) {
  return complain(status_of(error.code()), error.message() + (error.hint().empty() ? "" : "; " + error.hint()));
}

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

int refuse(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& context = named(app);
  const auto extras = app.remaining(true);
  std::string text = extras.empty() ? error.what() : unknown(extras.front(), context);
  if (extras.empty() && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && has_commands(context)) {
    text = "name a command: " + CLI::detail::join(commands_of(context), ", ");
  }
  std::string name = context.get_name();
  for (const CLI::App* above = context.get_parent(); above != nullptr; above = above->get_parent()) {
    name = above->get_name() + " " + name;
  }
  return complain(exit_bad_input, text + " (see " + name + " --help)");
}

int run(CLI::App& app, int& status, int count, char** arguments) {
  try {
    app.parse(count, arguments);
    return status;
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return refuse(app, error);
  } catch (const hoist::Exception& error) {
    return complain(error);
  } catch (const FileError& error) {
    return complain(status_of(error.code), error.words);
  } catch (const BadInput& error) {
    return complain(exit_bad_input, error.what());
  } catch (const std::exception& error) {
    return complain(exit_check_failed, error.what());
  }
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app("Moves model weights between host and device under one byte budget.", "hoist");
  app.set_version_flag("--version", std::string("hoist ") + hoist::version_string());
  app.require_subcommand(1);
  app.footer("Statuses: 0 fine, 1 what ran was not right, 2 bad input, 3 no plan fits the budget.");
  int status = exit_ok;
  add_stream(app, status);
  add_checkpoint(app, status);
  add_plan(app, status);
  add_simulate(app, status);
  add_device_check(app, status);
  add_info(app, status);
  add_bench(app, status);
  status = run(app, status, count, arguments);
  // What is not on the disk was not said.
  if ((std::fflush(stdout) == 0 && std::ferror(stdout) == 0) || status != exit_ok) return status;
  return complain(exit_check_failed, std::string("cannot write standard output: ") + std::strerror(errno));
}
