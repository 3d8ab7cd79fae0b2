// SPDX-License-Identifier: Apache-2.0
#include "stream_report.hpp"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "output.hpp"

namespace tool {
namespace {

using Json = nlohmann::ordered_json;

const char* phase_name(hoist_phase_t phase) {
  switch (phase) {
    case HOIST_PHASE_BUILDING:
      return "building";
    case HOIST_PHASE_DISCOVERY:
      return "discovery";
    case HOIST_PHASE_PROFILING:
      return "profiling";
    case HOIST_PHASE_SERVING:
      return "serving";
    default:
      return "suspended";
  }
}

// Bytes a step: whole where every step moved the same.
Json count(double value) { return value == std::floor(value) ? Json(static_cast<std::uint64_t>(value)) : Json(value); }

std::string explanation(const hoist::Manager& manager) { return hoist::Plan(manager).explain(hoist::Problem(manager)); }

Json lines(const std::string& text) {
  Json result = Json::array();
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

// What would do, where no time says anything; "" elsewhere.
std::string note_of(const StreamOptions& options, const StreamResult& result) {
  if (!result.timeless) return "";
  const char* const join = options.device.find('?') == std::string::npos ? "?" : "&";
  return "copies take no time, since this device was given no speed; for times, name one: --device '" + options.device +
         join + "h2d_gbps=55'";
}

// The bound is for the compute times that were measured before the plan was made.
std::string of_bound(const StreamResult& result) {
  const double ratio = result.status.bound_us > 0 ? result.step_us / result.status.bound_us : 1.0;
  char text[96];
  std::snprintf(text, sizeof text, "%.3f of the bound%s", ratio,
                ratio < 0.99 ? " (compute was faster than when it was measured)" : "");
  return text;
}

// Which steps the checksum is of.
std::string checked_text(const StreamResult& result) {
  if (result.checked_steps == 0) return "";
  const std::string steps = std::to_string(result.checked_steps);
  if (result.timed_are_checked) return " in each of these " + steps + " steps";
  return " in each of " + steps + " more steps of " + time_text(result.checked_step_us) + ", checks included";
}

std::string rounded_bytes(double bytes) { return bytes_text(static_cast<std::uint64_t>(std::llround(bytes))); }

void print_plan(const Model& model, const StreamResult& result) {
  const hoist_budget_status_t& status = result.status;
  const double stay = static_cast<double>(model.bytes()) - result.h2d_bytes;
  std::printf("plan      %s stay on the device, %s move in every step\n", rounded_bytes(std::max(stay, 0.0)).c_str(),
              rounded_bytes(result.h2d_bytes).c_str());
  if (result.timeless) return;
  std::printf("          predicted step %s; no plan can beat %s\n", time_text(status.predicted_step_us).c_str(),
              time_text(status.bound_us).c_str());
}

void print_timing(const Model& model, const StreamResult& result) {
  const auto spread = [](double least, double median, double most) {
    char text[64];
    std::snprintf(text, sizeof text, "%.3f %.3f %.3f", least / 1e3, median / 1e3, most / 1e3);
    return std::string(text);
  };
  if (result.timing.empty()) return;
  std::printf("timing    ms, least, median and most of each step: compute | transfer | wait\n");
  for (std::size_t unit = 0; unit < result.timing.size(); ++unit) {
    const hoist_unit_timing_t& t = result.timing[unit];
    std::printf("          %s: %s | %s | %s\n", one_line(model.units()[unit].name).c_str(),
                spread(t.compute_min_us, t.compute_median_us, t.compute_max_us).c_str(),
                spread(t.transfer_min_us, t.transfer_median_us, t.transfer_max_us).c_str(),
                spread(t.wait_min_us, t.wait_median_us, t.wait_max_us).c_str());
  }
}

Json json_of_timing(const Model& model, const StreamResult& result) {
  Json units = Json::array();
  for (std::size_t unit = 0; unit < result.timing.size(); ++unit) {
    const hoist_unit_timing_t& t = result.timing[unit];
    units.push_back({{"unit", model.units()[unit].name},
                     {"steps", t.steps},
                     {"compute_us", {t.compute_min_us, t.compute_median_us, t.compute_max_us}},
                     {"transfer_us", {t.transfer_min_us, t.transfer_median_us, t.transfer_max_us}},
                     {"wait_us", {t.wait_min_us, t.wait_median_us, t.wait_max_us}},
                     {"transfer_bytes", t.transfer_bytes}});
  }
  return units;
}

}  // namespace

std::string complaint_of(const StreamResult& result) {
  const hoist_budget_status_t& status = result.status;
  if (result.checksum != "ok" && result.checksum != "unchecked") {
    return "tensor " + result.checksum + " differs on the device from the file";
  }
  const bool must_move = status.tensor_bytes > status.budget_bytes;
  if (must_move && result.h2d_bytes == 0) return "nothing moved, although the budget is below the weights";
  if (!must_move && result.h2d_bytes != 0) return "bytes moved, although the budget holds all weights";
  if (status.peak_bytes > status.budget_bytes) return "the peak is above the budget";
  if (status.mispredictions != 0) return "units came in an order that the plan did not expect";
  return "";
}

void print_stream(const StreamOptions& options, const Model& model, const StreamResult& result,
                  const hoist::Manager& manager) {
  const hoist_budget_status_t& status = result.status;
  std::printf("model     %s: %s in %s, %s of %s\n", options.model.c_str(),
              count_text(model.tensors(), "tensor").c_str(), count_text(model.units().size(), "unit").c_str(),
              bytes_text(model.bytes()).c_str(), model.dtypes().c_str());
  std::printf("device    %s, budget %s\n", options.device.c_str(), bytes_text(status.budget_bytes).c_str());
  const std::string note = note_of(options, result);
  if (!note.empty()) std::printf("note      %s\n", note.c_str());
  print_plan(model, result);
  if (options.explain) std::printf("%s", explanation(manager).c_str());
  std::printf("step      %s, mean of %u back to back%s\n", time_text(result.step_us).c_str(), options.steps,
              result.timeless ? "" : (": " + of_bound(result)).c_str());
  std::printf("moved     h2d %s, d2h %s a step\n", rounded_bytes(result.h2d_bytes).c_str(),
              rounded_bytes(result.d2h_bytes).c_str());
  std::printf("peak      %s\n", bytes_text(status.peak_bytes).c_str());
  std::printf("checksum  %s%s\n", one_line(result.checksum).c_str(), checked_text(result).c_str());
  if (status.pageable_bytes != 0) {
    std::printf("pageable  %s of host memory, which the device refused to pin: copies of it are slow\n",
                bytes_text(status.pageable_bytes).c_str());
  }
  print_timing(model, result);
  if (!options.trace.empty()) std::printf("trace     %s\n", options.trace.c_str());
}

void print_stream_json(const StreamOptions& options, const Model& model, const StreamResult& result,
                       const hoist::Manager& manager) {
  const hoist_budget_status_t& status = result.status;
  Json document = {
      {"units", model.units().size()},
      {"tensors", model.tensors()},
      {"weight_bytes", model.bytes()},
      {"budget_bytes", status.budget_bytes},
      {"peak_bytes", status.peak_bytes},
      {"steps", options.steps},
      {"step_us", result.step_us},
      {"predicted_step_us", status.predicted_step_us},
      {"bound_us", status.bound_us},
      {"bytes", {{"h2d", count(result.h2d_bytes)}, {"d2h", count(result.d2h_bytes)}}},
      {"mispredictions", status.mispredictions},
      {"checksum", result.checksum},
      {"checked",
       {{"steps", result.checked_steps}, {"step_us", result.checked_step_us}, {"timed", result.timed_are_checked}}},
      {"device", options.device},
      {"phase", phase_name(status.phase)}};
  if (result.timeless) document["note"] = note_of(options, result);
  if (status.pageable_bytes != 0) document["pageable_bytes"] = status.pageable_bytes;
  if (options.timing) document["timing"] = json_of_timing(model, result);
  if (options.explain) document["explain"] = lines(explanation(manager));
  std::printf("%s\n", document.dump(2).c_str());
}

}  // namespace tool
