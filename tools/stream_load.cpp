// SPDX-License-Identifier: Apache-2.0
#include "stream_load.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <map>
#include <utility>

#include "command.hpp"

namespace tool {
namespace {

// Called when a tensor has been packed: its pages are warm now, and not needed afterwards.
void sum_and_forget(void* user_data) {
  using Clock = std::chrono::steady_clock;
  auto& tensor = *static_cast<FileTensor*>(user_data);
  const auto begin_time = Clock::now();
  tensor.sum = checksum(tensor.facts.data, tensor.facts.bytes);
  tensor.sum_us = std::chrono::duration<double, std::micro>(Clock::now() - begin_time).count();
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(tensor.facts.data);
  const std::uintptr_t first = (begin + page - 1) / page * page;
  const std::uintptr_t last = (begin + tensor.facts.bytes) / page * page;
  // The mapping is of a file and read-only: pages come back on the next read. Refusal costs memory only.
  if (first < last) static_cast<void>(::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED));
}

double copy_us(const hoist::Device& device, const hoist::Memory& memory, const hoist::HostMemory& from,
               std::uint64_t bytes) {
  hoist::Stream stream(device);
  hoist::Event begin(device), end(device);
  double best = 0;
  for (int round = 0; round < 4; ++round) {  // the first touches the pages
    begin.record(stream);
    stream.submit_copy(HOIST_COPY_H2D, memory.data(), from.data(), bytes);
    end.record(stream);
    stream.wait();
    const double us = hoist::elapsed_us(begin, end);
    best = round == 0 ? us : std::min(best, us);
  }
  return best;
}

}  // namespace

std::uint64_t checksum(const void* bytes, std::uint64_t count) noexcept {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15U;
  std::uint64_t lanes[4] = {count, 1, 2, 3};  // four, so that multiplications overlap
  const auto* at = static_cast<const unsigned char*>(bytes);
  for (; count >= sizeof lanes; at += sizeof lanes, count -= sizeof lanes) {
    std::uint64_t words[4];
    std::memcpy(words, at, sizeof words);
    for (int i = 0; i < 4; ++i) lanes[i] = std::rotl((lanes[i] ^ words[i]) * factor, 29);
  }
  std::uint64_t rest[4] = {};
  if (count != 0) std::memcpy(rest, at, count);
  std::uint64_t sum = 0;
  for (int i = 0; i < 4; ++i)
    sum = std::rotl((sum ^ lanes[i]) * factor, 31) ^ std::rotl((rest[i] + 1) * factor, 17 + i);
  return sum;
}

Model::Model(const StreamOptions& options) : checkpoint_(options.model) {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < checkpoint_.size(); ++i) names.emplace_back(checkpoint_[i].name);
  if (names.empty()) throw BadInput(options.model + " has no tensors, so there is nothing to stream");
  for (const Group& group : group_tensors(names, options.units)) {
    LoadedUnit unit{group.name, {}};
    for (const std::uint64_t tensor : group.tensors) unit.tensors.push_back({checkpoint_[tensor]});
    for (const FileTensor& tensor : unit.tensors) unit.bytes += tensor.facts.bytes;
    units_.push_back(std::move(unit));
  }
}

std::uint64_t Model::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const LoadedUnit& unit : units_) sum += unit.bytes;
  return sum;
}

double Model::summed_bytes_per_us() const noexcept {
  double most = 0;
  for (const LoadedUnit& unit : units_) {
    for (const FileTensor& tensor : unit.tensors) {
      if (tensor.sum_us > 0) most = std::max(most, static_cast<double>(tensor.facts.bytes) / tensor.sum_us);
    }
  }
  return most;
}

std::string Model::dtypes() const {
  std::map<std::string, std::uint64_t> bytes;
  for (const LoadedUnit& unit : units_) {
    for (const FileTensor& tensor : unit.tensors) bytes[tensor.facts.dtype] += tensor.facts.bytes;
  }
  std::vector<std::pair<std::uint64_t, std::string>> sorted;
  for (const auto& [dtype, count] : bytes) sorted.emplace_back(count, dtype);
  std::sort(sorted.rbegin(), sorted.rend());
  std::string text;
  for (const auto& [count, dtype] : sorted) text += (text.empty() ? "" : ", ") + dtype;
  return text;
}

void Model::add_to(hoist::Manager& manager) {
  for (LoadedUnit& unit : units_) {
    const hoist_unit_t number = manager.add_unit(unit.name);
    for (FileTensor& tensor : unit.tensors) {
      hoist::TensorDesc desc;
      desc.name = tensor.facts.name;
      desc.bytes = tensor.facts.bytes;
      desc.host = const_cast<void*>(tensor.facts.data);  // a copied tensor's bytes are only read
      desc.flags = HOIST_TENSOR_COPY;
      desc.release = sum_and_forget;
      desc.user_data = &tensor;
      manager.add_tensor(number, desc);
    }
  }
}

LinkTime measure_link(const hoist::Device& device) {
  constexpr std::uint64_t most = std::uint64_t{16} << 20;
  const std::uint64_t large = std::clamp<std::uint64_t>(device.query_memory().free_bytes / 2, 2, most);
  const hoist::Memory memory(device, large);
  const hoist::HostMemory from(device, large);
  const double small_us = copy_us(device, memory, from, 1);
  const double large_us = copy_us(device, memory, from, large);
  const double bytes_us = std::max(large_us - small_us, 1e-3);  // a clock that stands still must not divide by zero
  return {small_us, static_cast<double>(large - 1) / bytes_us, large_us <= 0};
}

void set_compute(std::vector<LoadedUnit>& units, const StreamOptions& options, const LinkTime& link) {
  if (options.compute_us) {
    for (LoadedUnit& unit : units) unit.compute_us = *options.compute_us;
    return;
  }
  for (LoadedUnit& unit : units) {
    unit.compute_us = 0;
    for (const FileTensor& tensor : unit.tensors) {
      const auto bytes = static_cast<double>(tensor.facts.bytes);
      if (bytes > 0) unit.compute_us += link.latency_us + bytes / link.bytes_per_us;
    }
  }
}

}  // namespace tool
