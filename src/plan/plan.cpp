// SPDX-License-Identifier: Apache-2.0
// A plan as JSON, in and out.
#include "plan/plan.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "plan/json.hpp"

namespace hoist::plan {
namespace {

constexpr std::array<const char*, 3> op_names = {"drop", "load", "store"};

// Looked up, never walked: its order decides nothing.
using Names = std::unordered_map<std::string_view, std::uint32_t>;

Names names_of(const Problem& problem) {
  Names names;
  names.reserve(problem.items.size());
  for (std::uint32_t i = 0; i < problem.items.size(); ++i) names.emplace(problem.items[i].name, i);
  return names;
}

std::uint32_t item_named(const Names& names, const std::string& name, const Where& where) {
  const auto found = names.find(name);
  if (found == names.end()) {
    fail(HOIST_ERROR_INVALID_PLAN,
         text(where.words(), " names the item \"", name, "\", which the problem does not have"));
  }
  return found->second;
}

std::vector<Place> read_places(const Problem& problem, const Names& names, const Fields& plan, const char* field) {
  std::vector<Place> places;
  const Fields fields(plan.object(field), Where{field, &plan.where()});
  for (const auto& [name, value] : plan.object(field).items()) {
    places.push_back({item_named(names, name, fields.where()), fields.bytes(name.c_str())});
  }
  std::sort(places.begin(), places.end(),
            [&](const Place& a, const Place& b) { return problem.items[a.item].name < problem.items[b.item].name; });
  return places;
}

Op read_op(const Problem& problem, const Names& names, const Json& json, std::size_t index) {
  const Fields fields(json, Where{"ops", nullptr, index});
  const std::string& kind = fields.string("op");
  Op op;
  if (kind == "load") {
    op.kind = OpKind::load;
    fields.only({"op", "item", "after", "before", "offset"});
    op.before = fields.index("before", 0, problem.units.size());
    op.offset = fields.bytes("offset");
  } else {
    op.kind = kind == "store" ? OpKind::store : OpKind::drop;
    if (kind != "store" && kind != "drop") fields.refuse("op", "one of \"drop\" \"load\" \"store\"");
    fields.only({"op", "item", "after"});
  }
  op.item = item_named(names, fields.string("item"), fields.where());
  op.after = fields.index("after", -1, problem.units.size());
  return op;
}

Predicted read_predicted(const Fields& fields) {
  fields.only({"step_us", "stall_us", "peak_bytes", "bound_us", "h2d_bytes", "d2h_bytes", "peer_bytes"});
  Predicted predicted;
  predicted.step_us = fields.number("step_us", 0);
  predicted.stall_us = fields.number("stall_us", 0);
  predicted.peak_bytes = fields.bytes("peak_bytes", 0);
  predicted.bound_us = fields.number("bound_us", 0);
  predicted.h2d_bytes = fields.bytes("h2d_bytes", 0);
  predicted.d2h_bytes = fields.bytes("d2h_bytes", 0);
  predicted.peer_bytes = fields.bytes("peer_bytes", 0);
  return predicted;
}

void append_places(std::string& out, const Problem& problem, const char* field, std::vector<Place> places) {
  std::sort(places.begin(), places.end(),
            [&](const Place& a, const Place& b) { return problem.items[a.item].name < problem.items[b.item].name; });
  out += text("\"", field, "\":{");
  for (std::size_t i = 0; i < places.size(); ++i) {
    out += i == 0 ? "\n" : ",\n";
    append_string(out, problem.items[places[i].item].name);
    out += ":";
    append_number(out, places[i].offset);
  }
  out += "},\n";
}

void append_op(std::string& out, const Problem& problem, const Op& op) {
  out += "{\"op\":\"";
  out += op_names[static_cast<std::size_t>(op.kind)];
  out += "\",\"item\":";
  append_string(out, problem.items[op.item].name);
  out += ",\"after\":";
  append_number(out, std::int64_t{op.after});
  if (op.kind == OpKind::load) {
    out += ",\"before\":";
    append_number(out, std::int64_t{op.before});
    out += ",\"offset\":";
    append_number(out, op.offset);
  }
  out += "}";
}

template <typename Number>
void append_field(std::string& out, const char* field, Number value) {
  out += text(out.back() == '{' ? "\"" : ",\"", field, "\":");
  append_number(out, value);
}

}  // namespace

std::vector<std::uint32_t> numbers_in(const Problem& to, const Problem& from) {
  const Names names = names_of(to);
  std::vector<std::uint32_t> numbers;
  numbers.reserve(from.items.size());
  for (const Item& item : from.items) {
    const auto found = names.find(item.name);
    numbers.push_back(found == names.end() ? UINT32_MAX : found->second);
  }
  return numbers;
}

Plan renumbered(Plan plan, const std::vector<std::uint32_t>& numbers) {
  for (Op& op : plan.ops) op.item = numbers[op.item];
  for (auto* places : {&plan.initial_resident, &plan.births, &plan.homes}) {
    for (Place& place : *places) place.item = numbers[place.item];
  }
  return plan;
}

Plan over_sorted(const Problem& problem, const std::function<Plan(const Problem& sorted)>& make) {
  std::vector<std::uint32_t> order(problem.items.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto by_name = [&](std::uint32_t a, std::uint32_t b) { return problem.items[a].name < problem.items[b].name; };
  if (std::is_sorted(order.begin(), order.end(), by_name)) return make(problem);
  std::sort(order.begin(), order.end(), by_name);
  Problem sorted = problem;
  for (std::size_t i = 0; i < order.size(); ++i) sorted.items[i] = problem.items[order[i]];
  return renumbered(make(sorted), order);
}

Plan plan_from_json(const Problem& problem, std::string_view json) {
  const Names names = names_of(problem);
  const Json document = parse_json(json, "plan");
  const Fields fields(document, Where{"plan"});
  fields.only({"version", "problem_digest", "initial_resident", "births", "ops", "homes", "predicted"});
  if (fields.bytes("version") != 1) fields.refuse("version", "1");
  Plan plan;
  plan.problem_digest = fields.string("problem_digest");
  plan.initial_resident = read_places(problem, names, fields, "initial_resident");
  plan.births = read_places(problem, names, fields, "births");
  plan.homes = read_places(problem, names, fields, "homes");
  const Json& ops = fields.array("ops");
  plan.ops.reserve(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) plan.ops.push_back(read_op(problem, names, ops[i], i));
  if (fields.has("predicted"))
    plan.predicted = read_predicted(Fields(fields.object("predicted"), Where{"predicted", &fields.where()}));
  return plan;
}

std::string plan_to_json(const Problem& problem, const Plan& plan) {
  std::string out;
  out.reserve(96 * plan.ops.size() + 64 * problem.items.size() + 1024);
  out += "{\"version\":1,\n\"problem_digest\":";
  append_string(out, plan.problem_digest);
  out += ",\n";
  append_places(out, problem, "initial_resident", plan.initial_resident);
  append_places(out, problem, "births", plan.births);
  out += "\"ops\":[";
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    out += i == 0 ? "\n" : ",\n";
    append_op(out, problem, plan.ops[i]);
  }
  out += "],\n";
  append_places(out, problem, "homes", plan.homes);
  out += "\"predicted\":{";
  append_field(out, "step_us", plan.predicted.step_us);
  append_field(out, "stall_us", plan.predicted.stall_us);
  append_field(out, "peak_bytes", plan.predicted.peak_bytes);
  append_field(out, "bound_us", plan.predicted.bound_us);
  append_field(out, "h2d_bytes", plan.predicted.h2d_bytes);
  append_field(out, "d2h_bytes", plan.predicted.d2h_bytes);
  append_field(out, "peer_bytes", plan.predicted.peer_bytes);
  out += "}}\n";
  return out;
}

}  // namespace hoist::plan
