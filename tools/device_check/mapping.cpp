// SPDX-License-Identifier: Apache-2.0
// Addresses that outlive the memory behind them.
#include <memory>
#include <utility>

#include "device_check/check.hpp"

namespace device_check {
namespace {

class Handle {
 public:
  Handle(Subject& subject, std::uint64_t bytes) : subject_(subject) { DC_OK(subject_, handle_create, bytes, &handle_); }
  ~Handle() { subject_.ops().handle_destroy(subject_.self(), handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  void* get() const { return handle_; }

 private:
  Subject& subject_;
  void* handle_ = nullptr;
};

// Addresses in granules; what is still mapped at the end is unmapped. Made after the handles that go there.
class Addresses {
 public:
  Addresses(Subject& subject, std::uint64_t granules)
      : subject_(subject), granule_(subject.facts().granularity), mapped_(granules) {
    DC_OK(subject_, address_reserve, granules * granule_, &base_);
  }
  ~Addresses() {
    for (std::uint64_t at = 0; at < mapped_.size(); ++at) {
      if (mapped_[at] != 0) static_cast<void>(subject_.ops().memory_unmap(subject_.self(), this->at(at), mapped_[at]));
    }
    subject_.ops().address_release(subject_.self(), base_, mapped_.size() * granule_);
  }
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;
  std::uint8_t* at(std::uint64_t granules) const { return static_cast<std::uint8_t*>(base_) + granules * granule_; }
  void map(std::uint64_t place, const Handle& handle, std::uint64_t granules = 1) {
    DC_OK(subject_, memory_map, at(place), granules * granule_, handle.get());
    mapped_[place] = granules * granule_;
  }
  void unmap(std::uint64_t place) { DC_OK(subject_, memory_unmap, at(place), std::exchange(mapped_[place], 0)); }

 private:
  Subject& subject_;
  std::uint64_t granule_;
  void* base_ = nullptr;
  std::vector<std::uint64_t> mapped_;  // bytes that begin at the granule
};

void set(Stream& stream, std::uint8_t* memory, std::uint8_t value, std::uint64_t bytes) {
  stream.fill(memory, value, bytes);
  stream.wait();
}

void must_be(Subject& subject, Stream& stream, const std::uint8_t* memory, std::uint8_t value, const char* what) {
  const HostMemory back(subject, 64);
  stream.copy(HOIST_COPY_D2H, back.at(), memory, 64);
  stream.wait();
  require(!subject.moves_bytes() || back.at()[63] == value,
          std::string(what) + ": bytes are " + std::to_string(back.at()[63]) + " instead of " + std::to_string(value));
}

std::string stays(Subject& subject) {
  const std::uint64_t granule = subject.facts().granularity;
  require(granule != 0, "granularity is 0");
  Stream stream(subject);
  const Handle one(subject, granule);
  const Handle two(subject, granule);
  Addresses addresses(subject, 4);
  require(reinterpret_cast<std::uintptr_t>(addresses.at(0)) % granule == 0,
          "addresses are not aligned to the granularity");
  addresses.map(0, one);
  addresses.map(1, two);
  set(stream, addresses.at(0), 1, 2 * granule);  // across the two
  set(stream, addresses.at(1), 2, granule);
  addresses.unmap(0);
  addresses.map(0, two);
  must_be(subject, stream, addresses.at(0), 2, "a handle behind two addresses");
  set(stream, addresses.at(0), 3, granule);
  must_be(subject, stream, addresses.at(1), 3, "a handle written by its other address");
  addresses.map(3, one);
  must_be(subject, stream, addresses.at(3), 1, "a handle mapped elsewhere");
  return "granules of " + std::to_string(granule) + " bytes";
}

std::string whole(Subject& subject) {
  const std::uint64_t granule = subject.facts().granularity;
  const Handle handle(subject, 4 * granule);
  Addresses addresses(subject, 8);
  require(DC_STATUS(subject, memory_map, addresses.at(0), granule, handle.get()) != HOIST_OK,
          "a part of a handle is mapped");
  addresses.map(0, handle, 4);
  require(DC_STATUS(subject, memory_map, addresses.at(0), 4 * granule, handle.get()) != HOIST_OK,
          "a handle is mapped where there is memory already");
  return "";
}

std::string counted(Subject& subject) {
  const std::uint64_t bytes = 32 * subject.facts().granularity;
  std::uint64_t before = 0;
  std::uint64_t held = 0;
  std::uint64_t after = 0;
  std::uint64_t total = 0;
  for (int turn = 1;; ++turn) {  // others may take and give memory of a real device meanwhile
    DC_OK(subject, query_memory, &before, &total);
    {
      const Handle handle(subject, bytes);
      DC_OK(subject, query_memory, &held, &total);
    }
    DC_OK(subject, query_memory, &after, &total);
    if (held + bytes <= before && after >= held + bytes) break;
    require(turn < 3, "a handle of " + std::to_string(bytes) + " bytes took free memory from " +
                          std::to_string(before) + " to " + std::to_string(held) + ", and back to " +
                          std::to_string(after));
  }
  void* handle = nullptr;
  const std::uint64_t beyond = (total / subject.facts().granularity + 1) * subject.facts().granularity;
  DC_FAILS(HOIST_ERROR_OUT_OF_MEMORY, subject, handle_create, beyond, &handle);
  return "";
}

}  // namespace

void add_mapping_checks(Checks& checks) {
  const std::vector<const char*> basis = {"identity.claims", "copies.in_order", "fills.exact"};
  checks.push_back({"mapping.stays", "address_reserve, address_release, memory_map, memory_unmap",
                    "Addresses outlive the memory that they are mapped to.", stays, basis, HOIST_CAPABILITY_REMAP});
  checks.push_back(
      {"mapping.whole",
       "memory_map",
       "Puts a whole handle of `bytes` behind [address, address + bytes), which lie within one reservation "
       "and have nothing behind them.",
       whole,
       {"mapping.stays"},
       HOIST_CAPABILITY_REMAP});
  checks.push_back({"mapping.counted",
                    "handle_create, handle_destroy",
                    "Memory without an address.",
                    counted,
                    {"mapping.stays", "memory.info"},
                    HOIST_CAPABILITY_REMAP});
}

}  // namespace device_check
