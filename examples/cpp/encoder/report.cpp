// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

namespace encoder {
namespace {

constexpr double largest_difference = 1e-5;

std::set<std::string> moving_items(const hoist::Manager& manager) {
  std::set<std::string> names;
  const nlohmann::json document = nlohmann::json::parse(hoist::Plan(manager).json());
  for (const auto& op : document.at("ops")) {
    if (op.at("op") == "load") names.insert(op.at("item").get<std::string>());
  }
  return names;
}

}  // namespace

std::string megabytes(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(bytes) / 1e6);
  return text;
}

void print_model(const std::string& path, const Model& model, const std::vector<Sentence>& sentences) {
  std::size_t tokens = 0;
  for (const Sentence& sentence : sentences) tokens += sentence.ids.size();
  std::printf("model      %s\n           %s in %zu tensors and %zu units; %zu sentences of %zu tokens in all\n",
              path.c_str(), megabytes(model.bytes()).c_str(), model.tensors(), model.units().size(), sentences.size(),
              tokens);
}

void print_plan(const hoist::Manager& manager, const Model& model) {
  const std::set<std::string> moving = moving_items(manager);
  const hoist_budget_status_t status = manager.query();
  std::uint64_t stay = 0, move = 0;
  std::size_t whole = 0, owners = 0;
  for (const Unit& unit : model.units()) {
    const std::uint64_t before = move;
    for (const Weight& weight : unit.weights) (moving.count(weight.name) == 0 ? stay : move) += weight.size;
    whole += !unit.weights.empty() && move == before ? 1 : 0;
    owners += unit.weights.empty() ? 0 : 1;
  }
  std::printf("plan       %zu of %zu units stay whole on the device: %s stay, %s move in every step\n", whole, owners,
              megabytes(stay).c_str(), megabytes(move).c_str());
  std::printf("           predicted step %.2f ms; no plan can beat %.2f ms\n", status.predicted_step_us / 1e3,
              status.bound_us / 1e3);
}

Progress progress_bar() {
  if (::isatty(STDOUT_FILENO) == 0) return [](unsigned, unsigned) {};
  return [](unsigned done, unsigned of) {
    constexpr unsigned width = 40;
    const unsigned full = width * done / of;
    std::printf("\r[%s%s] %u of %u steps%s", std::string(full, '#').c_str(), std::string(width - full, '.').c_str(),
                done, of, done == of ? "\n" : "");
    std::fflush(stdout);
  };
}

void print_measured(const Measured& measured, unsigned steps) {
  const hoist_budget_status_t& status = measured.status;
  const double ratio = measured.step_us / status.bound_us;
  std::printf("step       %.2f ms, mean of %u back to back: %.3f of the bound%s\n", measured.step_us / 1e3, steps,
              ratio, ratio < 0.99 ? " (compute was faster than when it was measured)" : "");
  std::printf("moved      host to device %s a step, device to host %s a step\n",
              megabytes(measured.h2d_bytes / steps).c_str(), megabytes(measured.d2h_bytes / steps).c_str());
  std::printf("peak       %s on the device, of a budget of %s\n", megabytes(status.peak_bytes).c_str(),
              megabytes(status.budget_bytes).c_str());
}

bool check_moved(const Measured& measured) {
  const hoist_budget_status_t& status = measured.status;
  if (measured.h2d_bytes == 0) std::printf("FAILED     nothing moved: a budget below 100%% must stream\n");
  if (status.peak_bytes > status.budget_bytes) std::printf("FAILED     the peak is above the budget\n");
  return measured.h2d_bytes != 0 && status.peak_bytes <= status.budget_bytes;
}

bool check_reference(const Matrix& embeddings, const std::vector<Sentence>& sentences) {
  double worst = 0;
  for (std::size_t s = 0; s < sentences.size(); ++s) {
    for (std::size_t c = 0; c < sentences[s].reference.size(); ++c) {
      const float mine = embeddings(static_cast<std::int64_t>(s), static_cast<std::int64_t>(c));
      const double difference = std::abs(static_cast<double>(mine) - static_cast<double>(sentences[s].reference[c]));
      worst = std::isfinite(difference) ? std::max(worst, difference) : HUGE_VAL;
    }
  }
  const bool near = worst <= largest_difference;
  std::printf("reference  largest difference to torch's embeddings %.2g, %s %.0e\n", worst, near ? "within" : "ABOVE",
              largest_difference);
  return near;
}

bool check_parity(const std::vector<Matrix>& streamed, const Matrix& resident) {
  for (std::size_t step = 0; step < streamed.size(); ++step) {
    for (std::int64_t i = 0; i < resident.size(); ++i) {
      const float mine = streamed[step].data()[i], right = resident.data()[i];
      if (std::memcmp(&mine, &right, sizeof mine) == 0) continue;
      std::printf("parity: DIFFERS at step %zu, sentence %lld, dimension %lld: %.9g, resident %.9g\n", step,
                  static_cast<long long>(i / resident.cols()), static_cast<long long>(i % resident.cols()),
                  static_cast<double>(mine), static_cast<double>(right));
      return false;
    }
  }
  std::printf("parity: exact\n");
  return true;
}

}  // namespace encoder
