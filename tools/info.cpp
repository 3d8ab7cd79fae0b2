// SPDX-License-Identifier: Apache-2.0
// hoist info: versions, and the devices that can be opened here.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.hpp"
#include "hoist/hoist.hpp"
#include "output.hpp"

namespace tool {
namespace {

std::vector<hoist_device_properties_t> devices() {
  std::vector<hoist_device_properties_t> found;
  const std::uint32_t count = hoist::device_count();
  for (std::uint32_t index = 0; index < count; ++index) found.push_back(hoist::device_properties(index));
  return found;
}

void print(const std::vector<hoist_device_properties_t>& found) {
  std::printf("hoist %s, ABI level %u\n", hoist::version_string(), hoist::version_abi());
  for (const hoist_device_properties_t& device : found) {
    std::printf("%-8s %s, %s, sizes rounded up to %llu bytes\n", device.name, device.description,
                bytes_text(device.memory_bytes).c_str(), static_cast<unsigned long long>(device.alignment));
  }
}

void print_json(const std::vector<hoist_device_properties_t>& found) {
  nlohmann::ordered_json document = {{"version", hoist::version_string()},
                                     {"abi", hoist::version_abi()},
                                     {"device_count", found.size()},
                                     {"devices", nlohmann::ordered_json::array()}};
  for (const hoist_device_properties_t& device : found) {
    document["devices"].push_back({{"name", device.name},
                                   {"description", device.description},
                                   {"memory_bytes", device.memory_bytes},
                                   {"alignment", device.alignment}});
  }
  std::printf("%s\n", document.dump(2).c_str());
}

}  // namespace

void add_info(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("info", "Versions and devices");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print one JSON object");
  command->callback([json] { *json ? print_json(devices()) : print(devices()); });
}

}  // namespace tool
