// SPDX-License-Identifier: Apache-2.0
#include "view.hpp"

#include <algorithm>

#include "device.hpp"

namespace hoist_python {

bool Loan::take_back() {
  if (!exporter_) return true;
  try {
    view_.attr("release")();
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_BufferError)) throw;
  }
  return exporter_.ref_count() == 1;
}

std::vector<Loan>& strays() {
  static auto& all = *new std::vector<Loan>;  // outlives the interpreter, so never destroyed
  return all;
}

std::vector<std::shared_ptr<Exported>>& stray_exports() {
  static auto& all = *new std::vector<std::shared_ptr<Exported>>;
  return all;
}

void refuse_strays(const char* where) {
  auto& exports = stray_exports();
  exports.erase(std::remove_if(exports.begin(), exports.end(), [](const auto& it) { return it->alive == 0; }),
                exports.end());
  if (!exports.empty()) {
    throw py::buffer_error(std::string(where) + ": a DLPack tensor of " + exports.front()->what +
                           " is still alive: drop it first");
  }
  std::vector<Loan>& all = strays();
  all.erase(std::remove_if(all.begin(), all.end(), [](Loan& loan) { return loan.take_back(); }), all.end());
  if (all.empty()) return;
  throw py::buffer_error(std::string(where) + ": an array of " + all.front().what() + " is still alive: drop it first");
}

void OpenUnit::take_loans_back() {
  std::string first;
  for (Loan& loan : loans) {
    if (loan.take_back()) continue;
    if (first.empty()) first = loan.what();
    strays().push_back(std::move(loan));
  }
  loans.clear();
  take_exports_back(first);
  if (!first.empty()) throw py::buffer_error("an array of " + first + " outlives the unit: drop it or copy it inside");
}

py::object TensorView::memory() const {
  const hoist_tensor_view_t& tensor = get();
  if (!unit->always_open) {
    raise(HOIST_ERROR_UNSUPPORTED, "hoist.TensorView.memory", "the device's memory is not open to this thread",
          "submit a host function, or copy with stream.submit_copy");
  }
  const std::string what = "tensor " + std::to_string(tensor.tensor) + " of unit " + unit->name;
  return unit->loans.emplace_back(unit->owner, tensor.data, tensor.bytes, writable(), what).view();
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
  loan_ = Loan(owner_, data_, bytes_, writable_, "a host function's argument");
  return numpy_array(loan_.view(), py::str("uint8"));
}

bool HostArgument::take_back() {
  if (loan_.take_back()) return true;
  strays().push_back(std::move(loan_));
  return false;
}

}  // namespace hoist_python
