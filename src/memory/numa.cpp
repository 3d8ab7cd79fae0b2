// SPDX-License-Identifier: Apache-2.0
#include "memory/numa.hpp"

#include <dlfcn.h>

#include <fstream>
#include <type_traits>

#if __has_include(<hwloc.h>)
#include <hwloc.h>
#endif

namespace hoist {
namespace {

#if defined(HWLOC_API_VERSION) && HWLOC_API_VERSION >= 0x20000

// What is called of hwloc 2, and the machine as it sees it.
class Hwloc {
 public:
  Hwloc() {
    void* library = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr || !find(library) || init_(&topology_) != 0) return;
    usable_ = load_(topology_) == 0;
  }

  // Null for a node that there is not, and for one that is all there is.
  [[nodiscard]] hwloc_obj* node(int number) const {
    if (!usable_) return nullptr;
    const int depth = depth_(topology_, HWLOC_OBJ_NUMANODE);
    const unsigned count = count_(topology_, depth);
    for (unsigned i = 0; count > 1 && i < count; ++i) {
      hwloc_obj* found = object_(topology_, depth, i);
      if (found->os_index == static_cast<unsigned>(number)) return found;
    }
    return nullptr;
  }
  [[nodiscard]] bool bind(void* memory, std::uint64_t bytes, hwloc_obj_t node) const {
    return bind_(topology_, memory, bytes, node->nodeset, HWLOC_MEMBIND_BIND, HWLOC_MEMBIND_BYNODESET) == 0;
  }

 private:
  bool find(void* library) {
    const auto get = [&](const char* name, auto& out) {
      out = reinterpret_cast<std::remove_reference_t<decltype(out)>>(dlsym(library, name));
      return out != nullptr;
    };
    return get("hwloc_topology_init", init_) && get("hwloc_topology_load", load_) &&
           get("hwloc_get_type_depth", depth_) && get("hwloc_get_nbobjs_by_depth", count_) &&
           get("hwloc_get_obj_by_depth", object_) && get("hwloc_set_area_membind", bind_);
  }

  decltype(&hwloc_topology_init) init_ = nullptr;
  decltype(&hwloc_topology_load) load_ = nullptr;
  decltype(&hwloc_get_type_depth) depth_ = nullptr;
  decltype(&hwloc_get_nbobjs_by_depth) count_ = nullptr;
  decltype(&hwloc_get_obj_by_depth) object_ = nullptr;
  decltype(&hwloc_set_area_membind) bind_ = nullptr;
  hwloc_topology_t topology_ = nullptr;
  bool usable_ = false;
};

const Hwloc& hwloc() {
  static const auto* machine = new Hwloc;  // once a process, as the machine stays what it is
  return *machine;
}

bool is_choice(int node) { return hwloc().node(node) != nullptr; }
bool bind(void* memory, std::uint64_t bytes, int node) { return hwloc().bind(memory, bytes, hwloc().node(node)); }

#else

bool is_choice(int) { return false; }
bool bind(void*, std::uint64_t, int) { return false; }

#endif

}  // namespace

NumaPlace NumaPlace::near_pci(const std::string& address, const std::string& sysfs) {
  NumaPlace place;
  if (address.empty() || address.find('/') != std::string::npos) return place;
  int node = -1;
  std::ifstream file(sysfs + "/bus/pci/devices/" + address + "/numa_node");
  if (file >> node && node >= 0 && is_choice(node)) place.node_ = node;
  return place;
}

bool NumaPlace::prefer(void* memory, std::uint64_t bytes) const noexcept {
  return node_ >= 0 && bind(memory, bytes, node_);
}

}  // namespace hoist
