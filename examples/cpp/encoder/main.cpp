// SPDX-License-Identifier: Apache-2.0
// Streams the MiniLM encoder's weights through a byte budget, computes sentence embeddings with them, and
// compares these with a run in which all weights stay on the device, bit by bit, and with torch's.
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "forward.hpp"
#include "hoist/hoist.hpp"
#include "model.hpp"
#include "options.hpp"
#include "report.hpp"
#include "run.hpp"
#include "sentences.hpp"

namespace {

enum Exit { ok = 0, check_failed = 1, bad_input = 2, infeasible = 3 };

// A copy on the host device is a memcpy, too fast to show anything: slow it down to a link's pace.
constexpr const char* throttle = "?h2d_gbps=2&d2h_gbps=2";

hoist::Device open_device(const std::string& name) {
  const bool plain_host = name.rfind("host:", 0) == 0 && name.find('?') == std::string::npos;
  hoist::Device device(plain_host ? name + throttle : name);
  const hoist_device_properties_t facts = device.query();
  if ((facts.capabilities & HOIST_CAPABILITY_HOST_ADDRESSABLE) == 0) {
    std::printf(
        "device     %s holds bytes where this demo's arithmetic, which runs on the CPU, cannot read them: "
        "using host:0 instead\n",
        facts.name);
    return open_device("host:0");
  }
  if ((facts.capabilities & HOIST_CAPABILITY_NO_BYTES) != 0) {
    throw std::invalid_argument(name + " moves no bytes, so there is nothing to compute with");
  }
  std::printf("device     %s, %s%s\n", facts.name, facts.description,
              plain_host ? "; link throttled to 2 GB/s, as the host device's own is a memcpy" : "");
  return device;
}

encoder::Matrix resident_embeddings(const hoist::Device& device, const encoder::Model& model,
                                    const std::vector<encoder::Sentence>& sentences) {
  encoder::Run run(device, model, sentences, "100%");
  run.reach_serving();
  return run.results().back();
}

int demo(const encoder::Options& options) {
  const hoist::Checkpoint checkpoint(options.model);
  const encoder::Model model(checkpoint);
  const auto sentences = encoder::read_sentences(options.data, model.vocabulary(), model.positions(), model.hidden());
  encoder::print_model(options.model, model, sentences);
  const hoist::Device device = open_device(options.device);
  const encoder::Matrix resident = resident_embeddings(device, model, sentences);

  encoder::Run run(device, model, sentences, options.budget);
  run.reach_serving();
  encoder::print_plan(run.manager(), model);
  const encoder::Measured measured = run.serve(options.steps, options.trace, encoder::progress_bar());
  encoder::print_measured(measured, options.steps);
  if (!options.trace.empty()) std::printf("trace      %s (open it in Perfetto)\n", options.trace.c_str());
  const bool moved = encoder::check_moved(measured);
  const bool near = encoder::check_reference(run.results().back(), sentences);
  const bool exact = encoder::check_parity(run.results(), resident);
  return moved && near && exact ? ok : check_failed;
}

int status_of(hoist_status_t code) {
  switch (code) {
    case HOIST_ERROR_INFEASIBLE:
      return infeasible;
    case HOIST_ERROR_INVALID_ARGUMENT:
    case HOIST_ERROR_NOT_FOUND:
    case HOIST_ERROR_IO:
    case HOIST_ERROR_CORRUPT:
      return bad_input;
    default:
      return check_failed;
  }
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const auto options = encoder::read_options(count, arguments);
    if (options) return demo(*options);
    std::puts(encoder::usage);
    return ok;
  } catch (const hoist::Exception& error) {
    std::fprintf(stderr, "hoist_encoder_demo: %s\n", error.what());
    return status_of(error.code());
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "hoist_encoder_demo: %s\n%s\n", error.what(), encoder::usage);
    return bad_input;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hoist_encoder_demo: %s\n", error.what());
    return check_failed;
  }
}
