// SPDX-License-Identifier: Apache-2.0
#include "trace/unit_timing.hpp"

#include <algorithm>

namespace hoist {
namespace {

Spread spread(std::vector<double>& values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {values.front(), values[(values.size() - 1) / 2], values.back()};
}

}  // namespace

// Null for a step that a newer one has taken the place of.
UnitTiming::Run* UnitTiming::run_of(std::uint32_t unit, std::uint64_t step) {
  if (step < first_step_ || unit >= units_.size()) return nullptr;
  std::vector<Run>& runs = units_[unit];
  const std::size_t place = (step - first_step_) % limit_;
  if (place >= runs.size()) runs.resize(place + 1);
  Run& run = runs[place];
  if (run.step > step) return nullptr;
  if (run.step < step) run = {};
  run.step = step;
  return &run;
}

void UnitTiming::on_unit(std::uint32_t unit, std::uint64_t step, double wait_us, double compute_us) {
  Run* run = run_of(unit, step);
  if (run == nullptr) return;
  run->wait_us += wait_us;
  run->compute_us += compute_us;
  run->ran = true;
}

void UnitTiming::on_copy(std::uint32_t item, std::uint64_t step, double us, std::uint64_t bytes) {
  if (item >= owners_.size()) return;
  Run* run = run_of(owners_[item], step);
  if (run == nullptr) return;
  run->transfer_us += us;
  run->bytes += bytes;
}

UnitTimes UnitTiming::times(std::uint32_t unit, std::uint64_t horizon) const {
  UnitTimes times;
  if (unit >= units_.size()) return times;
  std::vector<double> compute, transfer, wait;
  std::uint64_t newest = 0;
  for (const Run& run : units_[unit]) {
    if (!run.ran || run.step >= horizon) continue;
    compute.push_back(run.compute_us);
    transfer.push_back(run.transfer_us);
    wait.push_back(run.wait_us);
    if (run.step < newest) continue;
    newest = run.step;
    times.transfer_bytes = run.bytes;
  }
  times.steps = compute.size();
  times.compute = spread(compute);
  times.transfer = spread(transfer);
  times.wait = spread(wait);
  return times;
}

}  // namespace hoist
