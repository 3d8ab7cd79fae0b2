// SPDX-License-Identifier: Apache-2.0
// Device memory as Python sees it: memoryviews that are taken back when their time is over.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common.hpp"

namespace hoist_python {

inline py::object view_of(void* data, std::uint64_t bytes, bool writable) {
  static char nothing = 0;  // an empty view has no address of its own
  return py::memoryview::from_memory(bytes == 0 ? &nothing : data, static_cast<py::ssize_t>(bytes), !writable);
}

// Takes a view back: using it raises ValueError from now on. False while an array of it is alive.
inline bool take_back(const py::object& view) {
  try {
    view.attr("release")();
    return true;
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_BufferError)) throw;
    return false;
  }
}

// Views that could not be taken back, with what keeps their memory mapped. While there are any, nothing that
// may move or free device memory is called: the process would end in a fault somewhere else.
struct Stray {
  py::object view;
  std::string what;
  std::shared_ptr<void> owner;
};
std::vector<Stray>& strays();
void refuse_strays(const char* where);

// A unit that has begun, and the views handed out of it.
struct OpenUnit {
  std::string name;
  std::shared_ptr<void> owner;
  bool host_addressable = false;
  bool always_open = false;
  bool open = true;
  std::vector<hoist_tensor_view_t> tensors;
  std::vector<std::pair<std::uint32_t, py::object>> views;

  void check() const {
    if (!open) raise(HOIST_ERROR_STALE, "hoist.UnitView", "the unit \"" + name + "\" has ended", "use views inside it");
  }
  // Before the unit ends: BufferError where an array of a view is still alive.
  void take_views_back();
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
  // False where the function has kept the array.
  bool take_back() { return !view_ || hoist_python::take_back(view_); }
  [[nodiscard]] Stray stray() const { return {view_, "a host function's argument", owner_}; }

 private:
  py::object plain_;
  std::shared_ptr<void> owner_;  // set for device memory
  void* data_ = nullptr;
  std::uint64_t bytes_ = 0;
  bool writable_ = false;
  py::object view_;
};

}  // namespace hoist_python
