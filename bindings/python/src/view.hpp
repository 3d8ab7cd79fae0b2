// SPDX-License-Identifier: Apache-2.0
// Device memory as Python sees it: memoryviews that are taken back when their time is over.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common.hpp"
#include "device.hpp"

namespace hoist_python {

// Exports a range of device memory to Python. Every memoryview and array of it holds a reference to this object,
// so that its count tells whether one is left; a memoryview's own release() does not know about NumPy's.
struct DeviceBytes {
  std::shared_ptr<void> owner;
  void* data;
  std::uint64_t bytes;
  bool writable;
};

// A memoryview that can be taken back when its time is over.
class Loan {
 public:
  Loan() = default;
  Loan(std::shared_ptr<void> owner, void* data, std::uint64_t bytes, bool writable, std::string what)
      : what_(std::move(what)),
        exporter_(py::cast(DeviceBytes{std::move(owner), data, bytes, writable})),
        view_(py::memoryview(exporter_)) {}
  [[nodiscard]] const py::object& view() const { return view_; }
  [[nodiscard]] const std::string& what() const { return what_; }
  // Using the view raises ValueError from now on. False while an array or a slice of it is alive.
  bool take_back();

 private:
  std::string what_;
  py::object exporter_;
  py::object view_;
};

struct OpenUnit;
struct Exported;

// A range of device memory as DLPack consumers see it; exports it as often as they ask.
class DLPackView {
 public:
  DLPackView(hoist::dlpack::View view, std::shared_ptr<OpenUnit> unit, std::shared_ptr<Exported> exported)
      : view_(std::move(view)), unit_(std::move(unit)), exported_(std::move(exported)) {}
  [[nodiscard]] py::capsule capsule(const py::object& stream, const py::object& max_version, const py::object& device,
                                    const py::object& copy) const;
  [[nodiscard]] const hoist::dlpack::View& view() const { return view_; }

 private:
  void order(const py::object& stream) const;

  hoist::dlpack::View view_;
  std::shared_ptr<OpenUnit> unit_;  // null for memory of the caller's own
  std::shared_ptr<Exported> exported_;
};

// Loans that could not be taken back. While there are any, nothing that may move or free device memory is called:
// the process would end in a fault somewhere else.
std::vector<Loan>& strays();
std::vector<std::shared_ptr<Exported>>& stray_exports();
void refuse_strays(const char* where);

// How many of the DLPack tensors of one view are alive; consumers delete them on threads of their own.
struct Exported {
  std::string what;
  std::atomic<long> alive{0};
};

// A stream that a consumer of DLPack tensors computes on, and the point up to which it has.
struct Consumer {
  std::uintptr_t native;
  hoist::Stream stream;
  hoist::Event event;
};

// A unit that has begun, and the views handed out of it.
struct OpenUnit {
  std::string name;
  std::shared_ptr<void> owner;
  bool host_addressable = false;
  bool always_open = false;
  bool open = true;
  std::vector<hoist_tensor_view_t> tensors;
  std::vector<Loan> loans;
  std::shared_ptr<Stream> stream;  // that it was begun on
  std::vector<std::shared_ptr<Exported>> exports;
  std::vector<Consumer> consumers;  // other streams than its own

  void check() const {
    if (!open) raise(HOIST_ERROR_STALE, "hoist.UnitView", "unit " + name + " has ended", "use views inside it");
  }
  // Before the unit ends: BufferError where an array of a view is still alive.
  void take_loans_back();
  // The consumer's stream comes after what has been submitted to the unit's.
  void order_consumer(std::uintptr_t native);
  // The unit's stream comes after what consumers have submitted to theirs.
  void join_consumers();

 private:
  void take_exports_back(std::string& first);
};

struct TensorView {
  std::shared_ptr<OpenUnit> unit;
  std::size_t index;

  [[nodiscard]] const hoist_tensor_view_t& get() const {
    unit->check();
    return unit->tensors[index];
  }
  [[nodiscard]] bool writable() const { return get().mode != HOIST_USE_READ; }
  // For the calling thread, which has waited for the stream; refused where only host functions may look.
  [[nodiscard]] py::object memory() const;
};

// What a host function gets for an argument: for TensorView and Memory an array of their bytes.
class HostArgument {
 public:
  explicit HostArgument(const py::handle& given);
  py::object make();
  // Keeps a loan that the function has not given back for later; false then.
  bool take_back();

 private:
  py::object plain_;
  std::shared_ptr<void> owner_;  // set for device memory
  void* data_ = nullptr;
  std::uint64_t bytes_ = 0;
  bool writable_ = false;
  Loan loan_;
};

}  // namespace hoist_python
