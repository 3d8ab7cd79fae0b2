// SPDX-License-Identifier: Apache-2.0
// Where a device is near: host memory is best taken on the NUMA node that its slot belongs to. By hwloc, found at run
// time; where there is none, or one node only, memory comes from wherever the system takes it.
#pragma once

#include <cstdint>
#include <string>

namespace hoist {

class NumaPlace {
 public:
  // Anywhere.
  NumaPlace() = default;
  // Near the PCI device of that address ("0000:3b:00.0"); anywhere where that is not known.
  static NumaPlace near_pci(const std::string& address, const std::string& sysfs = "/sys");

  [[nodiscard]] int node() const noexcept { return node_; }  // the system's number; -1: anywhere
  // Whether pages that are touched from now on come from there. They come from elsewhere where it is full.
  bool prefer(void* memory, std::uint64_t bytes) const noexcept;

 private:
  int node_ = -1;
};

}  // namespace hoist
