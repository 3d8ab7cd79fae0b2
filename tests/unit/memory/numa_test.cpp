// SPDX-License-Identifier: Apache-2.0
// Run once as it is, and once on a synthetic machine (tests/CMakeLists.txt).
#include "memory/numa.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "memory/slab.hpp"

namespace hoist {
namespace {

// A folder with PCI devices, as the kernel shows them.
struct Sysfs {
  std::filesystem::path root = std::filesystem::temp_directory_path() / ("hoist-numa-" + std::to_string(getpid()));
  explicit Sysfs(const std::string& node) {
    std::filesystem::create_directories(root / "bus/pci/devices/0000:3b:00.0");
    std::ofstream(root / "bus/pci/devices/0000:3b:00.0/numa_node") << node << "\n";
  }
  ~Sysfs() { std::filesystem::remove_all(root); }
  [[nodiscard]] NumaPlace near(const std::string& address) const { return NumaPlace::near_pci(address, root.string()); }
};

bool synthetic() { return std::getenv("HWLOC_SYNTHETIC") != nullptr; }

TEST(Numa, ADeviceOnTheSecondNode) {
  if (!synthetic()) GTEST_SKIP() << "runs on a synthetic machine of two nodes";
  const Sysfs sysfs("1");
  const NumaPlace place = sysfs.near("0000:3b:00.0");
  if (place.node() < 0) GTEST_SKIP() << "hwloc is not here";
  EXPECT_EQ(1, place.node());
  const Slab slab(std::uint64_t{3} << 20, true, place);
  EXPECT_EQ(0, static_cast<const char*>(slab.base())[slab.bytes() - 1]);
  EXPECT_EQ(-1, Sysfs("7").near("0000:3b:00.0").node());  // a node that there is not
}

TEST(Numa, WhereNothingIsKnownMemoryComesFromAnywhere) {
  EXPECT_EQ(-1, NumaPlace::near_pci("").node());
  EXPECT_EQ(-1, NumaPlace::near_pci("../../etc").node());
  EXPECT_EQ(-1, Sysfs("-1").near("0000:3b:00.0").node());
  EXPECT_EQ(-1, Sysfs("x").near("0000:3b:00.0").node());
  EXPECT_EQ(-1, Sysfs("0").near("0000:99:00.0").node());
  EXPECT_FALSE(NumaPlace().prefer(nullptr, 0));
  const Slab slab(5000, true, NumaPlace());
  EXPECT_EQ(8192U, slab.bytes());
}

}  // namespace
}  // namespace hoist
