// SPDX-License-Identifier: Apache-2.0
// Every byte that moved, by link and by reason: how tests know that offloading took place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hoist {

// Why bytes moved.
enum class Reason : std::uint8_t {
  plan,     // an op of the plan
  initial,  // the residency that a plan begins with
  demand,   // a unit needed bytes that no plan had brought
  restore,  // back to the planned residency after a demand
  update,   // the caller replaced a tensor's bytes
  drain,    // dirty bytes to the host before memory goes
};
inline constexpr std::size_t reason_count = 6;

inline const char* reason_name(Reason reason) {
  constexpr std::array<const char*, reason_count> names{"plan", "initial", "demand", "restore", "update", "drain"};
  return names[static_cast<std::size_t>(reason)];
}

struct Flow {
  std::uint64_t bytes = 0;
  std::uint64_t copies = 0;
};

struct Ledger {
  std::array<Flow, reason_count> h2d{};
  std::array<Flow, reason_count> d2h{};

  void add(std::array<Flow, reason_count>& link, Reason reason, std::uint64_t bytes) {
    Flow& flow = link[static_cast<std::size_t>(reason)];
    flow.bytes += bytes;
    ++flow.copies;
  }
  // What was added and then refused.
  void take_back(std::array<Flow, reason_count>& link, Reason reason, std::uint64_t bytes) {
    Flow& flow = link[static_cast<std::size_t>(reason)];
    flow.bytes -= bytes;
    --flow.copies;
  }
  [[nodiscard]] static std::uint64_t total(const std::array<Flow, reason_count>& link) {
    std::uint64_t bytes = 0;
    for (const Flow& flow : link) bytes += flow.bytes;
    return bytes;
  }
};

}  // namespace hoist
