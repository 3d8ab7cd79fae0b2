// SPDX-License-Identifier: Apache-2.0
#include "view.hpp"

#include <algorithm>

#include "device.hpp"

namespace hoist_python {

std::vector<Stray>& strays() {
  static auto& all = *new std::vector<Stray>;  // outlives the interpreter, so never destroyed
  return all;
}

void refuse_strays(const char* where) {
  std::vector<Stray>& all = strays();
  all.erase(std::remove_if(all.begin(), all.end(), [](Stray& stray) { return take_back(stray.view); }), all.end());
  if (all.empty()) return;
  const std::string text = std::string(where) + ": an array of " + all.front().what + " is still alive: drop it first";
  throw py::buffer_error(text);
}

void OpenUnit::take_views_back() {
  std::string first;
  for (auto& [tensor, view] : views) {
    if (take_back(view)) continue;
    const std::string what = "tensor " + std::to_string(tensor) + " of unit \"" + name + "\"";
    if (first.empty()) first = what;
    strays().push_back({view, what, owner});
  }
  views.clear();
  if (!first.empty()) throw py::buffer_error("an array of " + first + " outlives the unit: drop it or copy it inside");
}

py::object TensorView::memory() const {
  const hoist_tensor_view_t& tensor = get();
  if (!unit->always_open) {
    raise(HOIST_ERROR_UNSUPPORTED, "hoist.TensorView.memory", "the device's memory is not open to this thread",
          "submit a host function, or copy with stream.submit_copy");
  }
  py::object view = view_of(tensor.data, tensor.bytes, writable());
  unit->views.emplace_back(tensor.tensor, view);
  return view;
}

HostArgument::HostArgument(const py::handle& given) : plain_(py::reinterpret_borrow<py::object>(given)) {
  bool touchable = true;
  if (py::isinstance<TensorView>(given)) {
    const auto& view = given.cast<const TensorView&>();
    touchable = view.unit->host_addressable;
    owner_ = view.unit->owner;
    data_ = view.get().data;
    bytes_ = view.get().bytes;
    writable_ = view.writable();
  } else if (py::isinstance<Memory>(given)) {
    const auto memory = given.cast<std::shared_ptr<Memory>>();
    touchable = memory->device->always_open();
    owner_ = memory;
    data_ = memory->memory.data();
    bytes_ = memory->memory.bytes();
    writable_ = true;
  }
  if (touchable) return;
  raise(HOIST_ERROR_UNSUPPORTED, "hoist.Stream.submit_host", "host functions cannot touch this memory",
        "submit the device's own work on the pointer");
}

py::object HostArgument::make() {
  if (!owner_) return plain_;
  view_ = view_of(data_, bytes_, writable_);
  return numpy_array(view_, py::str("uint8"));
}

}  // namespace hoist_python
