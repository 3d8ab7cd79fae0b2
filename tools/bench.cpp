// SPDX-License-Identifier: Apache-2.0
// hoist bench links: what the links of this machine give.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "bench_links.hpp"
#include "command.hpp"
#include "output.hpp"

namespace tool {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::vector<std::string> devices;
  std::uint64_t largest = std::uint64_t{1} << 30;
  bool json = false;
};

// Those that were named; else every GPU; else host:0.
std::vector<hoist::Device> open_devices(const std::vector<std::string>& names) {
  std::vector<hoist::Device> devices;
  for (const std::string& name : names) devices.emplace_back(name);
  for (unsigned index = 0; names.empty(); ++index) {
    try {
      devices.emplace_back("cuda:" + std::to_string(index));
    } catch (const hoist::Exception& error) {
      if (error.code() != HOIST_ERROR_NOT_FOUND) throw;
      break;
    }
  }
  if (devices.empty()) devices.emplace_back("host:0");
  return devices;
}

std::vector<PeerReport> measure_peers(const std::vector<hoist::Device>& devices, std::uint64_t largest) {
  std::vector<PeerReport> reports;
  for (const hoist::Device& from : devices) {
    for (const hoist::Device& to : devices) {
      if (&from != &to) reports.push_back(measure_peer(from, to, largest));
    }
  }
  return reports;
}

void print_rate(const char* what, std::uint64_t bytes, double us) {
  std::printf("  %-34s %8.1f GB/s\n", what, gb_per_s(bytes, us));
}

void print(const LinkReport& report) {
  const hoist_device_properties_t& facts = report.facts;
  std::printf("%s: %s%s%s\n", facts.name, facts.description, *facts.pci_address == '\0' ? "" : ", at ",
              facts.pci_address);
  if (!report.pinned) std::printf("  the device refused to pin host memory: all of this is pageable\n");
  std::printf("  %10s %12s %10s %12s %10s\n", "bytes", "h2d us", "GB/s", "d2h us", "GB/s");
  for (const CurvePoint& point : report.curve) {
    std::printf("  %10llu %12.2f %10.2f %12.2f %10.2f\n", static_cast<unsigned long long>(point.bytes), point.h2d_us,
                gb_per_s(point.bytes, point.h2d_us), point.d2h_us, gb_per_s(point.bytes, point.d2h_us));
  }
  print_rate("both ways at once, in sum", 2 * report.large, report.both_us);
  print_rate("h2d while the device fills memory", report.large, report.h2d_under_load_us);
  print_rate("d2h while the device fills memory", report.large, report.d2h_under_load_us);
  print_rate("within the device, copied", report.large, report.d2d_us);
  print_rate("h2d from pageable memory", report.large, report.pageable_us);
  print_rate("host memory taken and pinned", report.curve.back().bytes, report.pinning_us);
}

void print(const PeerReport& report) {
  if (report.refusal.empty()) {
    std::printf("%s to %s: %.1f GB/s\n", report.from.c_str(), report.to.c_str(), gb_per_s(report.bytes, report.us));
  } else {
    std::printf("%s to %s: %s\n", report.from.c_str(), report.to.c_str(), one_line(report.refusal).c_str());
  }
}

Json json_of(const LinkReport& report) {
  Json curve = Json::array();
  for (const CurvePoint& point : report.curve) {
    curve.push_back({{"bytes", point.bytes}, {"h2d_us", point.h2d_us}, {"d2h_us", point.d2h_us}});
  }
  return {{"device", report.facts.name},
          {"description", report.facts.description},
          {"pci_address", report.facts.pci_address},
          {"pinned", report.pinned},
          {"curve", curve},
          {"large_bytes", report.large},
          {"both_us", report.both_us},
          {"h2d_under_load_us", report.h2d_under_load_us},
          {"d2h_under_load_us", report.d2h_under_load_us},
          {"d2d_us", report.d2d_us},
          {"pageable_us", report.pageable_us},
          {"pinning_bytes", report.curve.back().bytes},
          {"pinning_us", report.pinning_us}};
}

Json json_of(const PeerReport& report) {
  Json json = {{"from", report.from}, {"to", report.to}, {"bytes", report.bytes}};
  report.refusal.empty() ? json["us"] = report.us : json["refusal"] = report.refusal;
  return json;
}

void links(const Options& options) {
  const std::vector<hoist::Device> devices = open_devices(options.devices);
  Json document = {{"devices", Json::array()}, {"peers", Json::array()}};
  for (const hoist::Device& device : devices) {
    const LinkReport report = measure_links_of(device, options.largest);
    options.json ? document["devices"].push_back(json_of(report)) : print(report);
  }
  for (const PeerReport& report : measure_peers(devices, options.largest)) {
    options.json ? document["peers"].push_back(json_of(report)) : print(report);
  }
  if (options.json) std::printf("%s\n", document.dump(2).c_str());
}

}  // namespace

void add_bench(CLI::App& app, int&) {
  CLI::App* bench = app.add_subcommand("bench", "Measures this machine");
  bench->require_subcommand(1);
  CLI::App* command = bench->add_subcommand("links", "Copies by size, both ways, under load, between devices; pinning");
  auto options = std::make_shared<Options>();
  command->add_option("--device", options->devices, "Devices, such as cuda:0; may be repeated. Default: all GPUs")
      ->allow_extra_args(false);
  command->add_option("--largest", options->largest, "Largest copy: 1GiB, 64MiB")
      ->transform(bytes(4096, std::uint64_t{1} << 36));
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options] { links(*options); });
}

}  // namespace tool
