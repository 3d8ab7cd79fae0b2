// SPDX-License-Identifier: Apache-2.0
// Built with a slot appended to the table (next.cmake): device-check on this library of tomorrow, and what hoist itself
// makes of an old plugin. usage: compat_next DEVICE|PLUGIN
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "command.hpp"
#include "hoist/device.hpp"

namespace {

void require(bool condition, const char* words) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", words);
  std::exit(1);
}

// By hoist's own loader and the C ABI.
void serve(const std::string& plugin) {
  const std::string kind = hoist::plugin_load(plugin);
  const hoist_device_ops_t ops = hoist::device_ops(kind);
  require(ops.abi_version < HOIST_DEVICE_ABI_VERSION, "the plugin is not older than this library");
  require(ops.appended == nullptr, "an old table has a slot that it cannot have");
  require(hoist::device_ops("host").abi_version == HOIST_DEVICE_ABI_VERSION, "the built-in table is of another level");
  const hoist::Device device(kind + ":0");
  hoist::Stream stream(device);
  const hoist::Memory memory(device, 4096);
  std::vector<unsigned char> back(4096);
  stream.submit_fill(memory.data(), 7, memory.bytes());
  stream.submit_copy(HOIST_COPY_D2H, back.data(), memory.data(), back.size());
  stream.wait();
  require(back == std::vector<unsigned char>(4096, 7), "an old plugin's bytes are wrong");
}

}  // namespace

int main(int count, char** arguments) {
  require(count == 2, "name a device or a plugin");
  const std::string device = arguments[1];
  CLI::App app("compat_next");
  int status = 0;
  tool::add_device_check(app, status);
  try {
    app.parse("device-check " + device, false);  // before a plugin is loaded here
    if (device.find('/') != std::string::npos) serve(device);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return status;
}
