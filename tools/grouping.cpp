// SPDX-License-Identifier: Apache-2.0
#include "grouping.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "command.hpp"
#include "nearest.hpp"

namespace tool {
namespace {

using Parts = std::vector<std::string_view>;

Parts split(std::string_view name) {
  Parts parts;
  for (std::size_t begin = 0;;) {
    const std::size_t dot = name.find('.', begin);
    parts.push_back(name.substr(begin, dot - begin));
    if (dot == std::string_view::npos) return parts;
    begin = dot + 1;
  }
}

std::string join(const Parts& parts, std::size_t count) {
  std::string name;
  for (std::size_t i = 0; i < count; ++i) name.append(i == 0 ? "" : ".").append(parts[i]);
  return name;
}

bool is_number(std::string_view part) {
  return !part.empty() && std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string natural_unit(const Parts& parts) {
  const auto number = std::find_if(parts.begin(), parts.end(), is_number);
  if (number != parts.end()) return join(parts, static_cast<std::size_t>(number - parts.begin()) + 1);
  return join(parts, std::clamp<std::size_t>(parts.size() - 1, 1, 2));
}

// '*' stands for any run of characters.
bool matches_part(std::string_view glob, std::string_view part) {
  std::size_t g = 0, p = 0, star = std::string_view::npos, resume = 0;
  while (p < part.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      resume = p;
    } else if (g < glob.size() && glob[g] == part[p]) {
      ++g;
      ++p;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      p = ++resume;
    } else {
      return false;
    }
  }
  return std::all_of(glob.begin() + static_cast<std::ptrdiff_t>(g), glob.end(), [](char c) { return c == '*'; });
}

bool matches(const Parts& glob, const Parts& name) {
  return glob.size() <= name.size() && std::equal(glob.begin(), glob.end(), name.begin(), matches_part);
}

// What could have been meant: prefixes as long as the glob, numbers as stars.
std::vector<std::string> glob_candidates(const std::vector<std::string>& names, std::size_t parts) {
  std::set<std::string> candidates;
  for (const std::string& name : names) {
    Parts split_name = split(name);
    for (std::string_view& part : split_name) part = is_number(part) ? "*" : part;
    candidates.insert(join(split_name, std::min(parts, split_name.size())));
  }
  return {candidates.begin(), candidates.end()};
}

// The model's parts in the order in which they compute.
enum class Stage { embeddings, encoder, layers, decoder, after, head };

bool has_word(const Parts& parts, std::initializer_list<std::string_view> words) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return part.find(word) != std::string_view::npos; });
  });
}

Stage stage_of(const Parts& unit) {
  if (std::any_of(unit.begin(), unit.end(), is_number)) {
    if (has_word(unit, {"decoder", "up_blocks"})) return Stage::decoder;
    return has_word(unit, {"encoder", "down", "visi", "visual"}) ? Stage::encoder : Stage::layers;
  }
  if (has_word(unit, {"embed", "wte", "wpe", "shared", "stem", "conv_in"})) return Stage::embeddings;
  return has_word(unit, {"head", "classifier", "score", "output", "proj_out", "conv_out"}) ? Stage::head : Stage::after;
}

bool part_before(std::string_view a, std::string_view b) {
  if (!is_number(a) || !is_number(b)) return a < b;
  const auto digits = [](std::string_view n) { return n.substr(std::min(n.find_first_not_of('0'), n.size())); };
  const std::string_view left = digits(a), right = digits(b);
  return std::pair(left.size(), left) < std::pair(right.size(), right);
}

bool computes_before(const Group& a, const Group& b) {
  const Parts left = split(a.name), right = split(b.name);
  const Stage left_stage = stage_of(left), right_stage = stage_of(right);
  if (left_stage != right_stage) return left_stage < right_stage;
  return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end(), part_before);
}

class Globs {
 public:
  explicit Globs(const std::vector<std::string>& globs) : used_(globs.size(), false) {
    for (const std::string& glob : globs) parts_.push_back(split(glob));
  }

  // The unit that the first matching glob makes of a name.
  std::optional<std::string> unit(const Parts& name) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (!matches(parts_[i], name)) continue;
      used_[i] = true;
      return join(name, parts_[i].size());
    }
    return std::nullopt;
  }

  void check_all_used(const std::vector<std::string>& names) const {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (used_[i]) continue;
      const std::string glob = join(parts_[i], parts_[i].size());
      const std::string near = nearest(glob, glob_candidates(names, parts_[i].size()));
      throw BadInput("--unit '" + glob + "' matches no tensor that an earlier one leaves; the nearest is '" + near +
                     "'");
    }
  }

 private:
  std::vector<Parts> parts_;
  std::vector<bool> used_;
};

}  // namespace

std::vector<Group> group_tensors(const std::vector<std::string>& names, const std::vector<std::string>& globs) {
  Globs wanted(globs);
  std::map<std::string, std::size_t> places;
  std::vector<Group> groups;
  for (std::uint64_t i = 0; i < names.size(); ++i) {
    const Parts parts = split(names[i]);
    const std::string unit = wanted.unit(parts).value_or(natural_unit(parts));
    const auto [place, added] = places.emplace(unit, groups.size());
    if (added) groups.push_back({unit, {}});
    groups[place->second].tensors.push_back(i);
  }
  wanted.check_all_used(names);
  std::stable_sort(groups.begin(), groups.end(), computes_before);
  return groups;
}

}  // namespace tool
