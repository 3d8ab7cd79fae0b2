// SPDX-License-Identifier: Apache-2.0
// A problem as JSON, in and out, and its digest over the canonical form.
#include <algorithm>
#include <numeric>

#include "base/hash.hpp"
#include "plan/json.hpp"
#include "plan/problem.hpp"

namespace hoist::plan {
namespace {

constexpr std::array<const char*, link_count> link_names = {"h2d", "d2h", "peer"};
constexpr std::array<const char*, 4> class_names = {"weight", "state", "activation", "shard"};
constexpr std::array<const char*, 3> mode_names = {"r", "w", "rw"};

// Which of the names a field holds.
template <typename Names>
std::size_t choice(const Fields& fields, const char* name, const Names& names) {
  const std::string& value = fields.string(name);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (value == names[i]) return i;
  }
  std::string wanted = "one of";
  for (const char* known : names) wanted += text(" \"", known, "\"");
  fields.refuse(name, wanted);
}

Link read_link(const Fields& links, const char* name, const Link& absent) {
  if (!links.has(name)) return absent;
  const Fields fields(links.any(name), Where{name, &links.where()});
  fields.only({"latency_us", "bytes_per_us"});
  return {fields.number("latency_us", 0), fields.number("bytes_per_us")};
}

Unit read_unit(const Json& json, std::size_t index) {
  const Fields fields(json, Where{"units", nullptr, index, &json});
  fields.only({"name", "compute_us", "workspace_bytes"});
  return {fields.string("name"), fields.number("compute_us"), fields.bytes("workspace_bytes", 0)};
}

Item read_item(const Json& json, std::size_t index, std::size_t units) {
  const Fields fields(json, Where{"items", nullptr, index, &json});
  fields.only({"name", "bytes", "class", "link", "transient", "uses"});
  Item item;
  item.name = fields.string("name");
  item.bytes = fields.bytes("bytes");
  if (fields.has("class")) item.item_class = static_cast<ItemClass>(choice(fields, "class", class_names));
  if (fields.has("link")) item.link = static_cast<LinkId>(choice(fields, "link", link_names));
  item.transient = fields.boolean("transient", false);
  const Json& uses = fields.array("uses");
  item.uses.reserve(uses.size());
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const Fields use(uses[i], Where{"uses", &fields.where(), i});
    use.only({"unit", "mode"});
    const auto unit = static_cast<std::uint32_t>(use.index("unit", 0, units));
    item.uses.push_back({unit, static_cast<Mode>(choice(use, "mode", mode_names))});
  }
  const auto earlier = [](const Use& a, const Use& b) { return a.unit < b.unit; };
  std::stable_sort(item.uses.begin(), item.uses.end(), earlier);
  return item;
}

void append_item(std::string& out, const Item& item) {
  out += "{\"bytes\":";
  append_number(out, item.bytes);
  out += ",\"class\":\"";
  out += class_names[static_cast<std::size_t>(item.item_class)];
  out += "\",\"link\":\"";
  out += link_names[static_cast<std::size_t>(item.link)];
  out += "\",\"name\":";
  append_string(out, item.name);
  out += item.transient ? ",\"transient\":true,\"uses\":[" : ",\"transient\":false,\"uses\":[";
  for (std::size_t i = 0; i < item.uses.size(); ++i) {
    out += i == 0 ? "{\"mode\":\"" : ",{\"mode\":\"";
    out += mode_names[static_cast<std::size_t>(item.uses[i].mode)];
    out += "\",\"unit\":";
    append_number(out, std::uint64_t{item.uses[i].unit});
    out += "}";
  }
  out += "]}";
}

void append_unit(std::string& out, const Unit& unit) {
  out += "{\"compute_us\":";
  append_number(out, unit.compute_us);
  out += ",\"name\":";
  append_string(out, unit.name);
  out += ",\"workspace_bytes\":";
  append_number(out, unit.workspace_bytes);
  out += "}";
}

void append_links(std::string& out, const Problem& problem) {
  for (const std::size_t i : {std::size_t{1}, std::size_t{0}, std::size_t{2}}) {  // by name: d2h, h2d, peer
    if (i != 1) out += ",";
    out += text("\"", link_names[i], "\":{\"bytes_per_us\":");
    append_number(out, problem.links[i].bytes_per_us);
    out += ",\"latency_us\":";
    append_number(out, problem.links[i].latency_us);
    out += "}";
  }
}

// Keys by name; `line` parts the elements of the two lists, so that people get a line each.
std::string written(const Problem& problem, const std::vector<std::uint32_t>& order, const char* line) {
  std::string out;
  out.reserve(160 * (problem.items.size() + problem.units.size()) + 1024);
  out += text("{\"cyclic\":", problem.cyclic ? "true" : "false", ",", line, "\"device\":{\"alignment\":");
  append_number(out, problem.alignment);
  out += ",\"budget_bytes\":";
  append_number(out, problem.budget_bytes);
  out += text("},", line, "\"duplex_factor\":");
  append_number(out, problem.duplex_factor);
  out += text(",", line, "\"items\":[");
  for (std::size_t i = 0; i < order.size(); ++i) {
    out += i == 0 ? "" : ",";
    out += line;
    append_item(out, problem.items[order[i]]);
  }
  out += text("],", line, "\"links\":{");
  append_links(out, problem);
  out += text("},", line, "\"units\":[");
  for (std::size_t i = 0; i < problem.units.size(); ++i) {
    out += i == 0 ? "" : ",";
    out += line;
    append_unit(out, problem.units[i]);
  }
  out += text("],", line, "\"version\":1}", line);
  return out;
}

void need_link(const Fields& links, const Item& item, LinkId link) {
  const char* name = link_names[static_cast<std::size_t>(link)];
  if (links.has(name)) return;
  fail(HOIST_ERROR_CORRUPT, text("item \"", item.name, "\" moves over ", name, ", but problem.links has no ", name));
}

std::vector<std::uint32_t> given_order(const Problem& problem) {
  std::vector<std::uint32_t> order(problem.items.size());
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

}  // namespace

Problem problem_from_json(std::string_view json) {
  const Json document = parse_json(json, "problem");
  const Fields fields(document, Where{"problem"});
  fields.only({"version", "device", "links", "duplex_factor", "cyclic", "units", "items"});
  (void)fields.any("version");
  Problem problem;
  const Fields device(fields.object("device"), Where{"device", &fields.where()});
  device.only({"budget_bytes", "alignment"});
  problem.budget_bytes = device.bytes("budget_bytes");
  problem.alignment = device.bytes("alignment", 1);
  const Fields links(fields.object("links"), Where{"links", &fields.where()});
  links.only({"h2d", "d2h", "peer"});
  for (std::size_t i = 0; i < link_count; ++i) problem.links[i] = read_link(links, link_names[i], problem.links[i]);
  problem.duplex_factor = fields.number("duplex_factor", 1);
  problem.cyclic = fields.boolean("cyclic", true);
  const Json& units = fields.array("units");
  if (units.empty()) fields.refuse("units", "one unit at least");
  for (std::size_t i = 0; i < units.size(); ++i) problem.units.push_back(read_unit(units[i], i));
  const Json& items = fields.array("items");
  problem.items.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) problem.items.push_back(read_item(items[i], i, units.size()));
  for (const Item& item : problem.items) {
    const bool written = std::any_of(item.uses.begin(), item.uses.end(), [](const Use& u) { return writes(u.mode); });
    need_link(links, item, item.link);
    if (written) need_link(links, item, LinkId::d2h);
  }
  validate(problem);
  return problem;
}

std::string problem_to_json(const Problem& problem) { return written(problem, given_order(problem), "\n"); }

std::string problem_digest(const Problem& problem) {
  std::vector<std::uint32_t> order = given_order(problem);
  const auto by_name = [&](std::uint32_t a, std::uint32_t b) { return problem.items[a].name < problem.items[b].name; };
  std::sort(order.begin(), order.end(), by_name);
  return text("sha256:", sha256_hex(written(problem, order, "")));
}

}  // namespace hoist::plan
