// SPDX-License-Identifier: Apache-2.0
// Streams, events, and Python functions as compute.
#include <set>

#include "device.hpp"
#include "view.hpp"

namespace hoist_python {
namespace {

// Streams that may still run Python functions; the interpreter must not end before these have run.
std::set<Stream*>& live_streams() {
  static auto& all = *new std::set<Stream*>;
  return all;
}

void wait_at_exit() {
  for (Stream* stream : std::set<Stream*>(live_streams())) {
    try {
      stream->wait();
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("hoist.Stream at exit");
    } catch (const hoist::Exception&) {
      continue;  // its work has failed, so nothing of it is left to run
    }
  }
}

class Job {
 public:
  Job(py::object function, const py::args& arguments, std::shared_ptr<Failure> failure)
      : function_(std::move(function)), failure_(std::move(failure)) {
    for (const py::handle argument : arguments) arguments_.emplace_back(argument);
  }
  static void run(void* job) noexcept {
    const py::gil_scoped_acquire acquire;
    std::unique_ptr<Job>(static_cast<Job*>(job))->run();
  }

 private:
  void run() {
    try {
      call();
    } catch (py::error_already_set& error) {
      // The traceback keeps the function's variables, and these the device's memory.
      if (error.trace()) py::module_::import("traceback").attr("clear_frames")(error.trace());
      failure_->keep(error);
    }
    for (HostArgument& argument : arguments_) {
      if (!argument.take_back()) blame();
    }
  }
  void call() {
    py::tuple given(arguments_.size());
    for (std::size_t i = 0; i < arguments_.size(); ++i) given[i] = arguments_[i].make();
    function_(*given);
  }
  void blame() {
    PyErr_SetString(PyExc_BufferError, "an array of device memory outlives the host function that got it");
    py::error_already_set error;
    failure_->keep(error);
  }

  py::object function_;
  std::vector<HostArgument> arguments_;
  std::shared_ptr<Failure> failure_;
};

struct Place {
  void* data;
  std::uint64_t bytes;
};

Place device_place(const char* argument, const py::object& given) {
  if (py::isinstance<Memory>(given)) {
    const auto& memory = given.cast<const Memory&>().memory;
    return {memory.data(), memory.bytes()};
  }
  if (!py::isinstance<TensorView>(given)) refuse_type(argument, given, "give a TensorView or a Memory");
  const auto& tensor = given.cast<const TensorView&>().get();
  return {tensor.data, tensor.bytes};
}

Place host_place(Stream& stream, const char* argument, const py::object& given, bool written) {
  auto buffer = std::make_unique<Buffer>(argument, given, written);
  const Place place{buffer->data(), buffer->bytes()};
  stream.keep(std::move(buffer));
  return place;
}

void submit_copy(Stream& stream, hoist_copy_kind_t kind, const py::object& dst, const py::object& src) {
  const Place to = kind == HOIST_COPY_D2H ? host_place(stream, "dst", dst, true) : device_place("dst", dst);
  const Place from = kind == HOIST_COPY_H2D ? host_place(stream, "src", src, false) : device_place("src", src);
  if (to.bytes != from.bytes) {
    raise(HOIST_ERROR_INVALID_ARGUMENT, "hoist.Stream.submit_copy",
          "dst has " + std::to_string(to.bytes) + " bytes, src has " + std::to_string(from.bytes), "give equal sizes");
  }
  hoist::Stream& target = stream.checked();
  without_gil([&] { target.submit_copy(kind, to.data, from.data, to.bytes); });
}

void submit_fill(Stream& stream, const py::object& dst, std::uint8_t value) {
  const Place to = device_place("dst", dst);
  hoist::Stream& target = stream.checked();
  without_gil([&] { target.submit_fill(to.data, value, to.bytes); });
}

std::shared_ptr<Stream> wrap(const std::shared_ptr<Device>& device, std::uintptr_t native) {
  hoist::Stream made = hoist::Stream::wrap(device->get(), reinterpret_cast<void*>(native));
  return std::make_shared<Stream>(device, std::move(made), native);
}

void bind_events(py::module_& module) {
  py::class_<hoist::Event>(module, "Event", "A point in a stream that others can wait for; it can be timed.")
      .def(py::init([](Device& device) { return hoist::Event(device.get()); }), py::arg("device"))
      .def(
          "record",
          [](hoist::Event& event, Stream& stream) {
            hoist::Stream& target = stream.checked();
            without_gil([&] { event.record(target); });
          },
          py::arg("stream"), "Records the event at the stream's present end; recording again moves it.")
      .def("poll", &hoist::Event::poll, "Whether the recorded point has been reached.")
      .def("wait", &hoist::Event::wait, py::call_guard<py::gil_scoped_release>(),
           "Waits until the recorded point has been reached. OrderError where none was recorded.");
  module.def("elapsed_us", hoist::elapsed_us, py::arg("begin"), py::arg("end"),
             "The time between two reached events, in microseconds.");
}

}  // namespace

Stream::Stream(std::shared_ptr<Device> device, hoist::Stream stream, std::optional<std::uintptr_t> native)
    : device_(std::move(device)), stream_(std::move(stream)), native_(native) {
  live_streams().insert(this);
}

Stream::~Stream() {
  live_streams().erase(this);
  without_gil([&] { const hoist::Stream last = std::move(stream_); });
  try {
    failure_->raise_and_clear();
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable("hoist.Stream that was dropped");
  }
}

void Stream::wait() {
  without_gil([&] { stream_.wait(); });
  kept_.clear();
  failure_->raise_and_clear();
}

void Stream::capture_begin() {
  hoist::Stream& target = checked();
  without_gil([&] { hoist::capture_begin(target); });
  capturing_ = true;
}

hoist::Graph Stream::capture_end() {
  capturing_ = false;
  hoist::Stream& target = stream_;
  return without_gil([&] { return hoist::capture_end(target); });
}

void Stream::submit_host(const py::object& function, double modelled_us, const py::args& arguments) {
  if (capturing_) {
    raise(HOIST_ERROR_UNSUPPORTED, "hoist.Stream.submit_host", "a Python function runs once, a graph again and again",
          "capture compute of the device's own");
  }
  require_callable("function", function);
  auto job = std::make_unique<Job>(function, arguments, failure_);
  hoist::Stream& target = checked();
  without_gil([&] { target.submit_host(Job::run, job.get(), modelled_us); });
  static_cast<void>(job.release());  // it frees itself when it has run
}

static void bind_graphs(py::module_& module) {
  py::class_<hoist::Graph>(module, "Graph", "Captured work, ready to be launched.")
      .def(
          "launch",
          [](hoist::Graph& graph, Stream& stream) {
            hoist::Stream& target = stream.checked();
            without_gil([&] { graph.launch(target); });
          },
          py::arg("stream"), "Submits the graph's work to the stream.");
}

void bind_stream(py::module_& module) {
  bind_graphs(module);
  py::class_<Stream, std::shared_ptr<Stream>>(module, "Stream", "A queue of work that runs in order on a device.")
      .def(py::init([](const std::shared_ptr<Device>& device) {
             return std::make_shared<Stream>(device, hoist::Stream(device->get()));
           }),
           py::arg("device").none(false))
      .def_static("wrap", wrap, py::arg("device").none(false), py::arg("native"),
                  "A handle for a native stream (an address, such as a CUstream) that stays the caller's.")
      .def("wait", &Stream::wait,
           "Waits until all submitted work has run; raises what a Python function on this stream has raised.")
      .def(
          "wait_event",
          [](Stream& stream, hoist::Event& event) {
            hoist::Stream& target = stream.checked();
            without_gil([&] { target.wait_event(event); });
          },
          py::arg("event"), "Makes the stream wait, on the device, for a recorded event.")
      .def("capture_begin", &Stream::capture_begin, "From here on the stream's work goes into a graph.")
      .def("capture_end", &Stream::capture_end, "Ends the capture, on failure too; gives the Graph.")
      .def("submit_copy", submit_copy, py::arg("kind"), py::arg("dst"), py::arg("src"),
           "Submits a copy between a buffer and a TensorView or Memory of equal size. The buffer is held until\n"
           "the stream has been waited for; it must not change before the copy has run.")
      .def("submit_fill", submit_fill, py::arg("dst"), py::arg("value"),
           "Submits a fill of a TensorView or Memory with one byte value.")
      .def("submit_host", &Stream::submit_host, py::arg("function"), py::arg("modelled_us"),
           "submit_host(function, modelled_us, *arguments): runs function(*arguments) in stream order on a thread\n"
           "of the device. Each TensorView or Memory among the arguments arrives as a NumPy array of its bytes,\n"
           "read-only where the unit only reads it; the array must not outlive the call. The function must not\n"
           "call hoist; what it raises is raised by the stream's next call. modelled_us: its time on a virtual clock.");
  bind_events(module);
  py::module_::import("atexit").attr("register")(py::cpp_function(wait_at_exit));
}

}  // namespace hoist_python
