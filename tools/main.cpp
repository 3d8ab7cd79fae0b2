// SPDX-License-Identifier: Apache-2.0
// The hoist command. Statuses: 0 fine, 1 what ran was not right, 2 bad input, 3 no plan fits.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "arguments.hpp"
#include "command.hpp"
#include "hoist/hoist.hpp"
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

int run(CLI::App& app, int& status, int count, char** arguments) {
  try {
    app.parse(count, arguments);
    return status;
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return complain(exit_bad_input, refusal(app, error));
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
