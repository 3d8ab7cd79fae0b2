// SPDX-License-Identifier: Apache-2.0
// hoist device-check: holds a device to every sentence of hoist/device_ops.h.
#include "command.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>

#include "arguments.hpp"
#include "device_check/report.hpp"
#include "output.hpp"

namespace tool {
namespace {

struct Wanted {
  std::string device;
  device_check::RunOptions run;
  bool json = false;
  bool verbose = false;
  bool list = false;
};

// "host:0?mode=inline", "libnpu.so", "./libnpu.so:1?memory=1GiB".
device_check::Target parse_target(const std::string& given) {
  device_check::Target target;
  const std::size_t question = given.find('?');
  if (question != std::string::npos) target.options = given.substr(question + 1);
  std::string base = given.substr(0, question);
  const bool is_path = base.find('/') != std::string::npos || base.find(".so") != std::string::npos;
  const std::size_t colon = base.rfind(':');
  if (colon != std::string::npos) {
    const char* end = base.data() + base.size();
    const auto [rest, error] = std::from_chars(base.data() + colon + 1, end, target.index);
    if (error != std::errc() || rest != end) throw BadInput("'" + given + "': there is no index after the colon");
    base.resize(colon);
  } else if (!is_path) {
    throw BadInput("'" + given + "' is neither a device such as host:0 nor the path of a plugin");
  }
  if (is_path)
    target.plugin = base.find('/') == std::string::npos ? "./" + base : base;
  else
    target.kind = base;
  return target;
}

void check_device(const Wanted& wanted, int& status) {
  if (wanted.list) return device_check::print_list();
  if (wanted.device.empty()) throw BadInput("name a device such as host:0, or the path of a plugin");
  const device_check::Target target = parse_target(wanted.device);
  if (const std::string why = device_check::absent(target); !why.empty()) throw BadInput(why);
  device_check::Report report;
  {
    ProgressBar bar(wanted.json);
    report = device_check::run_checks(target, wanted.run, [&](int done, int of) {
      bar.show(static_cast<unsigned>(done), static_cast<unsigned>(of));
    });
  }
  for (const std::string& left_out : wanted.run.except) {
    const auto& all = device_check::all_checks();
    const bool known = std::any_of(all.begin(), all.end(), [&](const auto& check) { return left_out == check.id; });
    if (!known) throw BadInput("no check is called '" + left_out + "'; --list names all");
  }
  if (report.results.empty()) throw BadInput("no check is called '" + wanted.run.only + "'; --list names all");
  wanted.json ? device_check::print_json(report) : device_check::print(report, wanted.verbose);
  if (report.count(device_check::Outcome::failed) != 0) status = exit_check_failed;
}

}  // namespace

void add_device_check(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("device-check", "Holds a device to every sentence of hoist/device_ops.h");
  auto wanted = std::make_shared<Wanted>();
  command->add_option("DEVICE", wanted->device, "host:0, cuda:0?..., or a plugin: ./libnpu.so, ./libnpu.so:1");
  command->add_option("--only", wanted->run.only, "A group or check, such as events or events.poll, and what it needs");
  command->add_option("--except", wanted->run.except, "A check that is left out; may be repeated");
  command->add_option("--timeout", wanted->run.timeout_s, "Seconds that one check may take")
      ->check(number(0.1, 3600))
      ->capture_default_str();
  command->add_flag("--verbose", wanted->verbose, "Slots and promises of all checks");
  command->add_flag("--list", wanted->list, "Name the checks, and look at no device");
  command->add_flag("--json", wanted->json, "Print one JSON object");
  command->callback([wanted, &status] { check_device(*wanted, status); });
}

}  // namespace tool
