// SPDX-License-Identifier: Apache-2.0
// Checkpoints: safetensors files, single or sharded.
#include "hoist/checkpoint.h"

#include "common.hpp"

namespace hoist_python {
namespace {

using Checkpoint = std::shared_ptr<hoist::Checkpoint>;

// A tensor with what keeps its bytes mapped.
struct Tensor {
  Checkpoint checkpoint;
  hoist_checkpoint_tensor_t facts;
};

py::buffer_info bytes_of(Tensor& tensor) {
  static std::uint8_t nothing = 0;
  const auto* data = tensor.facts.bytes == 0 ? &nothing : static_cast<const std::uint8_t*>(tensor.facts.data);
  return py::buffer_info(data, static_cast<py::ssize_t>(tensor.facts.bytes), true);
}

py::tuple shape_of(const Tensor& tensor) {
  py::tuple shape(tensor.facts.rank);
  for (std::size_t i = 0; i < tensor.facts.rank; ++i) shape[i] = tensor.facts.shape[i];
  return shape;
}

Tensor at(const Checkpoint& self, std::uint64_t index) {
  if (index >= self->size()) throw py::index_error("the checkpoint has " + std::to_string(self->size()) + " tensors");
  return {self, (*self)[index]};
}

void bind_tensor(py::module_& module) {
  py::class_<Tensor>(module, "CheckpointTensor", py::buffer_protocol(),
                     "A tensor of a checkpoint, and a read-only buffer of its bytes, which it keeps mapped.")
      .def_buffer(bytes_of)
      .def_property_readonly(
          "name", [](const Tensor& tensor) { return tensor.facts.name; }, "Its name.")
      .def_property_readonly(
          "dtype", [](const Tensor& tensor) { return tensor.facts.dtype; }, "As in the file: \"BF16\".")
      .def_property_readonly(
          "file", [](const Tensor& tensor) { return tensor.facts.file; }, "The file that holds it.")
      .def_property_readonly(
          "bytes", [](const Tensor& tensor) { return tensor.facts.bytes; }, "Its size.")
      .def_property_readonly(
          "offset", [](const Tensor& tensor) { return tensor.facts.offset; }, "In the file, in bytes.")
      .def_property_readonly(
          "item_bits", [](const Tensor& tensor) { return tensor.facts.item_bits; }, "Of an element.")
      .def_property_readonly("shape", shape_of, "Its dimensions.");
}

}  // namespace

void bind_checkpoint(py::module_& module) {
  bind_tensor(module);
  py::class_<hoist::Checkpoint, Checkpoint>(module, "Checkpoint", "An open checkpoint: a sequence of its tensors.")
      .def(py::init([](const py::object& path) {
             const std::string text = path_of("path", path);
             return without_gil([&] { return std::make_shared<hoist::Checkpoint>(text); });
           }),
           py::arg("path"),
           "Opens MODEL.safetensors or MODEL.safetensors.index.json; checks all headers. NotFoundError, IoError,\n"
           "CorruptError naming file, tensor and offset.")
      .def("__len__", &hoist::Checkpoint::size)
      .def("__getitem__", at, py::arg("index"))
      .def("__iter__", sequence_iterator)
      .def("index", &hoist::Checkpoint::index, py::arg("name"), "Finds a tensor; NotFoundError with the nearest name.");
}

}  // namespace hoist_python
