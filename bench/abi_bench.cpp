// SPDX-License-Identifier: Apache-2.0
// What crossing the C ABI costs: calls that only check and read, a failure, a unit's begin and end where nothing
// moves. Through the shared library, as a user calls it. Usage: abi_bench [--json]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "hoist/hoist.h"

namespace {

struct Row {
  const char* name;
  double ns = 0;
};

void must(hoist_status_t status) {
  if (status == HOIST_OK) return;
  hoist_error_t error = HOIST_ERROR_INIT;
  if (hoist_last_error(&error) == HOIST_OK) std::fprintf(stderr, "%s: %s\n", error.where, error.message);
  std::exit(1);
}

// The best of several rounds, since the machine does other things too.
template <typename Call>
double ns_of(Call&& call) {
  constexpr int calls = 20'000, rounds = 21;
  double best = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    best = round == 0 ? took.count() : std::min(best, took.count());
  }
  return best / calls;
}

// One unit of one tensor that stays on the device.
struct Model {
  hoist_device_t* device = nullptr;
  hoist_stream_t* stream = nullptr;
  hoist_manager_t* manager = nullptr;
  hoist_event_t* event = nullptr;
  hoist_unit_t unit = 0;
  hoist_tensor_t tensor = 0;

  Model() {
    must(hoist_device_open("host:0?mode=inline", &device));
    must(hoist_stream_create(device, &stream));
    must(hoist_event_create(device, &event));
    must(hoist_event_record(event, stream));
    must(hoist_manager_create(device, nullptr, &manager));
    must(hoist_manager_add_unit(manager, "layers.0", &unit));
    hoist_tensor_desc_t desc = HOIST_TENSOR_DESC_INIT;
    desc.name = "layers.0.weight";
    desc.bytes = 4096;
    desc.flags = HOIST_TENSOR_ZERO;
    must(hoist_manager_add_tensor(manager, unit, &desc, &tensor));
    must(hoist_manager_commit(manager));
    for (int i = 0; i < 8; ++i) step(1);
  }
  ~Model() {
    hoist_manager_destroy(manager);
    hoist_event_destroy(event);
    hoist_stream_destroy(stream);
    hoist_device_close(device);
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  void pair() {
    hoist_unit_view_t view = HOIST_UNIT_VIEW_INIT;
    must(hoist_unit_begin(manager, unit, stream, &view));
    must(hoist_unit_end(manager, unit, stream));
  }
  void step(int pairs) {
    must(hoist_step_begin(manager, stream));
    for (int i = 0; i < pairs; ++i) pair();
    must(hoist_step_end(manager, stream));
  }
};

std::vector<Row> measure() {
  Model model;
  std::vector<Row> rows;
  const auto add = [&](const char* name, const auto& call) { rows.push_back({name, ns_of(call)}); };
  add("hoist_version_abi", [] {
    if (hoist_version_abi() == 0) std::exit(1);
  });
  add("hoist_event_poll", [&] {
    int ready = 0;
    must(hoist_event_poll(model.event, &ready));
  });
  add("hoist_device_query", [&] {
    hoist_device_properties_t facts;
    facts.struct_size = sizeof facts;
    must(hoist_device_query(model.device, &facts));
  });
  add("hoist_manager_get_tensor", [&] {
    hoist_tensor_t tensor = 0;
    must(hoist_manager_get_tensor(model.manager, "layers.0.weight", &tensor));
  });
  add("hoist_tensor_query", [&] {
    hoist_tensor_info_t info = HOIST_TENSOR_INFO_INIT;
    must(hoist_tensor_query(model.manager, model.tensor, &info));
  });
  add("hoist_manager_query", [&] {
    hoist_budget_status_t status = HOIST_BUDGET_STATUS_INIT;
    must(hoist_manager_query(model.manager, &status));
  });
  add("hoist_stream_submit_copy of 0 bytes",
      [&] { must(hoist_stream_submit_copy(model.stream, HOIST_COPY_H2D, model.manager, model.device, 0)); });
  add("a refusal: hoist_event_poll(NULL)", [] {
    int ready = 0;
    if (hoist_event_poll(nullptr, &ready) == HOIST_OK) std::exit(1);
  });
  add("step of one unit, nothing moves", [&] { model.step(1); });
  return rows;
}

}  // namespace

int main(int count, char** arguments) {
  const bool json = count > 1 && std::strcmp(arguments[1], "--json") == 0;
  const std::vector<Row> rows = measure();
  std::puts(json ? "{" : "call                                       ns");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (json) {
      std::printf("  \"%s\": %.1f%s\n", rows[i].name, rows[i].ns, i + 1 < rows.size() ? "," : "");
    } else {
      std::printf("%-36s %8.1f\n", rows[i].name, rows[i].ns);
    }
  }
  if (json) std::puts("}");
  return 0;
}
