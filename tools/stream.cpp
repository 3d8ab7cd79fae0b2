// SPDX-License-Identifier: Apache-2.0
// hoist stream: streams a checkpoint's weights under a budget, checks every byte, compares with the bound.
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>

#include "arguments.hpp"
#include "command.hpp"
#include "hoist/hoist.hpp"
#include "stream_load.hpp"
#include "stream_options.hpp"
#include "stream_report.hpp"
#include "stream_run.hpp"

namespace tool {
namespace {

int stream(const StreamOptions& options) {
  if (options.compute_us && !std::isfinite(*options.compute_us)) throw BadInput("--compute-us is not a finite number");
  Model model(options);
  const hoist::Device device(options.device);
  const LinkTime link = measure_link(device);
  set_compute(model.units(), options, link);
  StreamRun run(device, model, options);
  StreamResult result = run.run();
  result.timeless = link.timeless;
  const auto print = options.json ? print_stream_json : print_stream;
  print(options, model, result, run.manager());
  const std::string complaint = complaint_of(result);
  if (complaint.empty()) return exit_ok;
  std::fprintf(stderr, "hoist: %s\n", complaint.c_str());
  return exit_check_failed;
}

}  // namespace

void add_stream(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("stream", "Streams a checkpoint's weights under a byte budget");
  auto options = std::make_shared<StreamOptions>();
  command->add_option("MODEL", options->model, "MODEL.safetensors or MODEL.safetensors.index.json")
      ->check(a_path())
      ->required();
  command->add_option("--budget", options->budget, "Device memory for weights: a share (40%) or bytes (8GiB)")
      ->check(a_budget())
      ->required();
  command->add_option("--device", options->device, "Device and its options: host:0?mode=virtual&h2d_gbps=55")
      ->capture_default_str();
  command->add_option("--steps", options->steps, "Serving steps to measure")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  command
      ->add_option("--check-steps", options->check_steps,
                   "Serving steps to check where the timed ones cannot be: as many as --steps if it is not given")
      ->check(whole_number(1, 1'000'000));
  command->add_option("--unit", options->units, "A glob whose every match is a unit: 'model.layers.*'; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--compute-us", options->compute_us,
                   "Compute time of each unit, waited for or modelled. Without it: as long as the unit's own copies "
                   "take, the break-even where streaming can just hide behind compute. 0: none, so that the link "
                   "is what a step takes")
      ->check(number(0, 1e9));
  command->add_option("--trace", options->trace, "Write a Chrome trace of the serving steps")->check(a_path());
  command->add_flag("--timing", options->timing,
                    "Say for every unit how long it computed, waited and had bytes copied");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->add_flag("--explain", options->explain, "Say for every tensor why it stays or moves");
  command->callback([options, &status] { status = stream(*options); });
}

}  // namespace tool
