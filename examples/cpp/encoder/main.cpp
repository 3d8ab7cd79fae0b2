// SPDX-License-Identifier: Apache-2.0
// Streams the MiniLM encoder's weights through a byte budget, computes sentence embeddings with them, and
// compares these with a run in which all weights stay on the device, bit by bit, and with torch's.
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "device.hpp"
#include "hoist/hoist.hpp"
#include "model.hpp"
#include "options.hpp"
#include "report.hpp"
#include "run.hpp"
#include "sentences.hpp"

namespace {

enum Exit { ok = 0, check_failed = 1, bad_input = 2, infeasible = 3 };

encoder::Matrix resident_embeddings(const encoder::Place& place, const encoder::Model& model) {
  encoder::Run run(place.device, model, place.arithmetic(), "100%");
  run.reach_serving();
  return run.results().back();
}

int demo(const encoder::Options& options) {
  const hoist::Checkpoint checkpoint(options.model);
  const encoder::Model model(checkpoint);
  const auto sentences = encoder::read_sentences(options.data, model.vocabulary(), model.positions(), model.hidden());
  encoder::print_model(options.model, model, sentences);
  const auto place = encoder::choose_place(options.device, model, sentences);
  const encoder::Matrix resident = resident_embeddings(*place, model);

  encoder::Run run(place->device, model, place->arithmetic(), options.budget);
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
