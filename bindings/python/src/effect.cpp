// SPDX-License-Identifier: Apache-2.0
// Ordered effects.
#include "device.hpp"

namespace hoist_python {
namespace {

class Sequence {
 public:
  Sequence(std::shared_ptr<Device> device, const std::string& name)
      : device_(std::move(device)), sequence_(device_->get(), name) {}

  hoist_effect_t add(const std::string& name, py::function function) {
    return sequence_.add(name, [this, function = std::move(function)](hoist_stream_t*) { function(stream_); });
  }
  hoist_token_t begin() { return sequence_.begin(); }
  // Effects are Python functions, so the interpreter's lock stays held.
  hoist_token_t submit(hoist_effect_t effect, hoist_token_t token, const py::object& stream) {
    hoist_stream_t* const target =
        stream.is_none() ? nullptr : converted<Stream&>("stream", stream, "give a Stream or None").checked().get();
    stream_ = stream;
    return sequence_.submit(effect, target, token);
  }
  void end(hoist_token_t token) { sequence_.end(token); }
  void abort() { sequence_.abort(); }
  [[nodiscard]] hoist_sequence_status_t query() const { return sequence_.query(); }

 private:
  std::shared_ptr<Device> device_;
  py::object stream_ = py::none();  // of the newest effect: what its function gets
  hoist::Sequence sequence_;
};

void bind_status(py::module_& module) {
  using Status = hoist_sequence_status_t;
  py::class_<Status>(module, "SequenceStatus", "Counts of a sequence, from its creation.")
      .def_readonly("effect_count", &Status::effect_count, "Effects registered.")
      .def_property_readonly(
          "is_open", [](const Status& status) { return status.is_open != 0; }, "Whether a run is open.")
      .def_readonly("due", &Status::due, "Within a run: the effect that is due.")
      .def_readonly("runs", &Status::runs, "Runs ended, aborted ones included.")
      .def_readonly("aborted_runs", &Status::aborted_runs, "Runs aborted.")
      .def_readonly("submitted", &Status::submitted, "Effects that ran.")
      .def_readonly("refused", &Status::refused, "Effects and ends refused for their order.")
      .def_readonly("stream_changes", &Status::stream_changes, "Waits between effects on different streams.");
}

}  // namespace

void bind_effect(py::module_& module) {
  bind_status(module);
  py::class_<Sequence>(module, "Sequence", "The effects of one graph, which run in order or are refused.")
      .def(py::init<std::shared_ptr<Device>, const std::string&>(), py::arg("device").none(false), py::arg("name"))
      .def("add", &Sequence::add, py::arg("name"), py::arg("function"),
           "Registers the next effect: function(stream), with the stream given to submit, or None. Gives its index.")
      .def("begin", &Sequence::begin, "Begins a run and gives the token that the first effect takes.")
      .def("submit", &Sequence::submit, py::arg("effect"), py::arg("token"), py::arg("stream") = py::none(),
           "Runs an effect in its place and gives the next token; raises what the function raises.\n"
           "OrderError where another effect is due, or for a token of another place, run or sequence.")
      .def("end", &Sequence::end, py::arg("token"), "Ends the run. OrderError where effects have not run.")
      .def("abort", &Sequence::abort, "Gives the open run up.")
      .def("query", &Sequence::query, "Counts.");
}

}  // namespace hoist_python
