// SPDX-License-Identifier: Apache-2.0
// DLPack: torch, CuPy, JAX and NumPy compute on device memory where it is.
#include <optional>

#include "device.hpp"
#include "view.hpp"

namespace hoist_python {
namespace {

namespace dlpack = hoist::dlpack;

// What the tensors of one view keep. The last of them may be deleted by any thread, with the interpreter's lock or
// without; what is kept has Python objects in it.
struct Kept {
  std::shared_ptr<void> owner;
  std::shared_ptr<Exported> exported;

  Kept(std::shared_ptr<void> of, std::shared_ptr<Exported> counted)
      : owner(std::move(of)), exported(std::move(counted)) {
    ++exported->alive;
  }
  ~Kept() {
    --exported->alive;
    if (Py_IsInitialized() == 0) {
      static_cast<void>(new std::shared_ptr<void>(std::move(owner)));  // the process ends
      return;
    }
    const py::gil_scoped_acquire acquire;
    owner.reset();
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
};

// "float32", "BF16", numpy.float32, numpy.dtype("float32"), torch.float32.
dlpack::DataType data_type(const py::object& given) {
  const std::string text = named("dtype", [&] { return std::string(py::str(given)); });
  if (py::isinstance<py::str>(given)) return dlpack::data_type(text);
  constexpr std::string_view torch = "torch.";
  if (text.rfind(torch, 0) == 0) return dlpack::data_type(text.substr(torch.size()));
  return named("dtype", [&] {
    return dlpack::data_type(std::string(py::str(py::module_::import("numpy").attr("dtype")(given).attr("name"))));
  });
}

using Shape = std::optional<std::vector<std::int64_t>>;

DLPackView view_of(const std::shared_ptr<Device>& device, const hoist_tensor_view_t& tensor, const py::object& dtype,
                   const Shape& shape, const std::shared_ptr<void>& owner, const std::shared_ptr<OpenUnit>& unit,
                   const std::string& what) {
  auto exported = std::make_shared<Exported>();
  exported->what = what;
  if (unit) unit->exports.push_back(exported);
  return {dlpack::view(device->get(), tensor, data_type(dtype), shape, owner), unit, exported};
}

DLPackView of_tensor(const TensorView& view, const py::object& dtype, const Shape& shape) {
  const hoist_tensor_view_t& tensor = view.get();
  const std::string what = "tensor " + std::to_string(tensor.tensor) + " of unit " + view.unit->name;
  return view_of(view.unit->stream->device(), tensor, dtype, shape, view.unit->owner, view.unit, what);
}

DLPackView of_memory(const std::shared_ptr<Memory>& memory, const py::object& dtype, const Shape& shape) {
  const hoist_tensor_view_t all{memory->memory.data(), memory->memory.bytes(), 0, HOIST_USE_READ_WRITE};
  return view_of(memory->device, all, dtype, shape, memory, nullptr, "device memory");
}

template <typename Managed>
py::capsule wrap(Managed* managed, const char* name) {
  return py::capsule(managed, name, [](PyObject* capsule) {
    const char* held = PyCapsule_GetName(capsule);
    if (held == nullptr || std::string_view(held).rfind("used_", 0) == 0) return;  // the consumer has it
    auto* unused = static_cast<Managed*>(PyCapsule_GetPointer(capsule, held));
    unused->deleter(unused);
  });
}

bool is_versioned(const py::object& max_version) {
  return !max_version.is_none() &&
         converted<std::pair<unsigned, unsigned>>("max_version", max_version, "give a pair of numbers").first >= 1;
}

}  // namespace

// What a stream means is DLPack's: none the legacy one, -1 that the consumer orders by itself.
void DLPackView::order(const py::object& stream) const {
  if (view_.device.type == dlpack::type_cpu) {
    if (!stream.is_none()) throw py::buffer_error("memory of the host has no streams: give stream=None");
    if (unit_) unit_->stream->wait();
    return;
  }
  const auto native = stream.is_none() ? 1 : converted<std::intptr_t>("stream", stream, "give a number or None");
  if (native == -1 || !unit_) return;
  if (native == 0)
    throw py::value_error("stream=0 may mean two streams: give 1 for the legacy one, 2 for the thread's");
  unit_->order_consumer(static_cast<std::uintptr_t>(native == 1 ? 0 : native));
}

py::capsule DLPackView::capsule(const py::object& stream, const py::object& max_version, const py::object& device,
                                const py::object& copy) const {
  if (unit_) unit_->check();
  if (!copy.is_none() && converted<bool>("copy", copy, "give True, False or None"))
    throw py::buffer_error("a view is no copy: copy what comes of it");
  const auto here = std::make_pair(view_.device.type, view_.device.index);
  using Place = std::pair<std::int32_t, std::int32_t>;
  if (!device.is_none() && converted<Place>("dl_device", device, "give a pair of numbers") != here) {
    throw py::buffer_error("the memory is on another device than was asked for");
  }
  order(stream);
  dlpack::View counted = view_;
  counted.keep = std::make_shared<Kept>(view_.keep, exported_);
  if (is_versioned(max_version)) return wrap(dlpack::managed_versioned(counted), "dltensor_versioned");
  return wrap(dlpack::managed(counted), "dltensor");
}

void OpenUnit::order_consumer(std::uintptr_t native) {
  if (stream->native() && *stream->native() == native) return;
  auto found =
      std::find_if(consumers.begin(), consumers.end(), [&](const Consumer& it) { return it.native == native; });
  if (found == consumers.end()) {
    hoist::Device& device = stream->device()->get();
    auto wrapped = hoist::Stream::wrap(device, reinterpret_cast<void*>(native));
    found = consumers.insert(consumers.end(), Consumer{native, std::move(wrapped), hoist::Event(device)});
  }
  hoist::Stream& own = stream->checked();
  without_gil([&] {
    found->event.record(own);
    found->stream.wait_event(found->event);
  });
}

void OpenUnit::join_consumers() {
  if (consumers.empty()) return;
  without_gil([&] {
    for (Consumer& consumer : consumers) {
      consumer.event.record(consumer.stream);
      stream->raw().wait_event(consumer.event);
    }
    consumers.clear();
  });
}

// Tensors in a cycle of Python's are nobody's any more, so they are looked for once.
void OpenUnit::take_exports_back(std::string& first) {
  bool collected = false;
  for (const auto& exported : exports) {
    if (exported->alive == 0) continue;
    if (!collected) py::module_::import("gc").attr("collect")();
    collected = true;
    if (exported->alive == 0) continue;
    if (first.empty()) first = exported->what;
    stray_exports().push_back(exported);
  }
  exports.clear();
}

void bind_dlpack(py::module_& module) {
  py::class_<DLPackView>(module, "DLPackView",
                         "Device memory with a dtype and a shape, for torch.from_dlpack and its like.")
      .def(
          "__dlpack__", &DLPackView::capsule, py::kw_only(), py::arg("stream") = py::none(),
          py::arg("max_version") = py::none(), py::arg("dl_device") = py::none(), py::arg("copy") = py::none(),
          "A capsule of a tensor over the memory, ordered on the consumer's stream. A tensor that the unit only reads\n"
          "is read-only for consumers of version 1; others must not write. StaleError after the unit's end.")
      .def(
          "__dlpack_device__",
          [](const DLPackView& self) { return std::make_pair(self.view().device.type, self.view().device.index); },
          "DLPack's type and index of the device.")
      .def_property_readonly(
          "shape", [](const DLPackView& self) { return py::tuple(py::cast(self.view().shape)); }, "Its dimensions.");
  constexpr const char* text =
      "The bytes as a tensor for consumers of DLPack, in place. dtype: a name (float32, bfloat16, float8_e4m3fn; F32,\n"
      "BF16 as in a checkpoint) or a dtype of NumPy or torch. Without a shape: one dimension. InvalidArgumentError\n"
      "where they are not of these bytes, UnsupportedError on devices whose memory has no views. ";
  py::setattr(module.attr("TensorView"), "dlpack",
              py::cpp_function(of_tensor, py::name("dlpack"), py::is_method(module.attr("TensorView")),
                               py::arg("dtype"), py::arg("shape") = py::none(),
                               (std::string(text) + "Tensors made of it hold the unit's\n"
                                                    "bytes until its end, when they must be gone: BufferError else.")
                                   .c_str()));
  py::setattr(
      module.attr("Memory"), "dlpack",
      py::cpp_function(of_memory, py::name("dlpack"), py::is_method(module.attr("Memory")), py::arg("dtype"),
                       py::arg("shape") = py::none(),
                       (std::string(text) + "It keeps the memory; streams are the caller's to order.").c_str()));
}

}  // namespace hoist_python
