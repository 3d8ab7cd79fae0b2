// SPDX-License-Identifier: Apache-2.0
#include "backends/host/host_device.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "backends/common/error.hpp"

namespace hoist_backend::host {
namespace {

std::unique_ptr<Engine> make_engine(Parts& parts) {
  switch (parts.options.mode) {
    case Mode::inline_:
    case Mode::guarded:
      return make_inline_engine(parts);
    case Mode::threaded:
      return make_threaded_engine(parts);
    case Mode::virtual_:
      return make_virtual_engine(parts);
  }
  return nullptr;
}

void check_index(std::uint32_t index) {
  if (index < HostDevice::count()) return;
  fail(HOIST_ERROR_NOT_FOUND, text("there is no host:", index), "open host:0 or host:1");
}

constexpr double longest_us = 1e12;
constexpr std::uint64_t all = ~std::uint64_t{0} - 1;  // one less than "no failure"

}  // namespace

HostDevice::HostDevice(std::uint32_t index, const Options& options)
    : index_(index), parts_(options), engine_(make_engine(parts_)) {}

HostDevice* HostDevice::open(std::uint32_t index, std::string_view options) {
  check_index(index);
  return new HostDevice(index, parse_options(options));
}

HostDevice::~HostDevice() {
  // Streams that nobody destroyed still have threads.
  while (!streams_.empty()) stream_destroy(streams_.back());
}

void HostDevice::describe(std::uint32_t index, hoist_device_properties_t& out) {
  check_index(index);
  describe(index, Options{}, out);
}

void HostDevice::describe(std::uint32_t index, const Options& options, hoist_device_properties_t& out) {
  std::snprintf(out.name, sizeof out.name, "host:%u", index);
  std::snprintf(out.description, sizeof out.description, "host memory as a device, %s mode%s", mode_name(options.mode),
                options.move_bytes ? "" : ", no bytes");
  out.memory_bytes = options.memory_bytes;
  out.alignment = options.alignment;
  out.capabilities = capabilities_of(options);
  out.granularity = (out.capabilities & HOIST_CAPABILITY_REMAP) != 0 ? Remapper::granularity_of(options.alignment) : 0;
  // Views are for threads that may touch the bytes at any time.
  constexpr std::int32_t dlpack_cpu = 1;
  out.dlpack_type = options.move_bytes && options.mode != Mode::guarded ? dlpack_cpu : 0;
  out.dlpack_index = 0;
  out.pci_address[0] = '\0';
}

std::uint64_t HostDevice::capabilities_of(const Options& options) {
  const bool async = options.mode == Mode::threaded || options.mode == Mode::virtual_;
  std::uint64_t able = HOIST_CAPABILITY_HOST_ADDRESSABLE | HOIST_CAPABILITY_GRAPH;
  // Inline, a wait would be one for ever. Guarded, pages are opened by block.
  if (async) able |= HOIST_CAPABILITY_ASYNC | HOIST_CAPABILITY_WORDS;
  if (options.mode != Mode::guarded) able |= HOIST_CAPABILITY_REMAP;
  if (options.mode == Mode::guarded) able |= HOIST_CAPABILITY_ACCESS;
  if (options.mode == Mode::virtual_) able |= HOIST_CAPABILITY_VIRTUAL_CLOCK;
  if (!options.move_bytes) able |= HOIST_CAPABILITY_NO_BYTES;
  return able & ~options.lacks;
}

void HostDevice::require(hoist_capability_t capability, const char* what) const {
  if ((capabilities_of(parts_.options) & static_cast<std::uint64_t>(capability)) != 0) return;
  fail(HOIST_ERROR_UNSUPPORTED, text("the host device in ", mode_name(parts_.options.mode), " mode has no ", what),
       "open it in threaded mode, and without lacks");
}

Remapper& HostDevice::remapper() {
  require(HOIST_CAPABILITY_REMAP, "addresses to be mapped");
  return parts_.remapper;
}

void HostDevice::set(std::string_view name, std::string_view given) {
  if (name == "copy_delay_us") {
    parts_.copy_delay_us.store(parse_number(name, given, 0, 1e6), std::memory_order_relaxed);
  } else if (name == "memory_taken") {
    parts_.memory.set_taken(parse_bytes(name, given));
  } else if (name == "fail") {
    parts_.faults.set(given);
  } else {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("setting '", name, "' is unknown"),
         nearest_hint(name, {"copy_delay_us", "memory_taken", "fail"}));
  }
}

Stream* HostDevice::stream_create() {
  std::lock_guard lock(mutex_);
  auto stream = std::make_unique<Stream>(stream_count_, parts_.options.seed);
  streams_.push_back(stream.get());
  try {
    engine_->start(*stream);
  } catch (const std::exception& error) {
    streams_.pop_back();
    fail(HOIST_ERROR_DEVICE, text("no thread for a stream: ", error.what()), "destroy streams that are not needed");
  }
  ++stream_count_;
  return stream.release();
}

void HostDevice::stream_destroy(Stream* stream) {
  engine_->wait(*stream, stream->submitted.load(std::memory_order_relaxed));
  engine_->stop(*stream);
  {
    std::lock_guard lock(mutex_);
    streams_.erase(std::find(streams_.begin(), streams_.end(), stream));
  }
  Ref<Stream>::release(stream);
}

void HostDevice::stream_wait(Stream& stream) {
  const std::uint64_t sequence = stream.submitted.load(std::memory_order_relaxed);
  engine_->wait(stream, sequence);
  stream.check(sequence);
}

void HostDevice::submit(Stream& stream, Op&& op) {
  stream.check(all);
  if (stream.capture) return stream.capture->ops.push_back(std::move(op));
  engine_->submit(stream, std::move(op));
}

// Events are for the order of work that runs now.
void HostDevice::require_not_capturing(const Stream& stream, const char* what) const {
  if (!stream.capture) return;
  fail(HOIST_ERROR_UNSUPPORTED, text("the stream is being captured into a graph: ", what),
       "end the capture first, or order by words");
}

void HostDevice::stream_wait_event(Stream& stream, const Event& event) {
  require_not_capturing(stream, "an event has no place there");
  Op op;
  op.kind = OpKind::wait;
  op.recording = event.snapshot();
  if (!op.recording.stream) {
    fail(HOIST_ERROR_ORDER, "the event was never recorded", "record it before a stream waits for it");
  }
  submit(stream, std::move(op));
}

void HostDevice::event_record(Event& event, Stream& stream) {
  require_not_capturing(stream, "an event recorded there is never reached");
  stream.check(all);
  Op op;
  op.kind = OpKind::record;
  op.event = Ref<Event>(&event);
  const std::uint64_t sequence = stream.submitted.load(std::memory_order_relaxed) + 1;
  {
    // First the event, then the queue: the worker may get there at once.
    std::lock_guard lock(event.mutex);
    op.ticket = ++event.ticket;
    event.newest.store(op.ticket, std::memory_order_release);
    event.latest = {Ref<Stream>(&stream), sequence};
  }
  engine_->submit(stream, std::move(op));
}

bool HostDevice::event_poll(const Event& event) {
  engine_->settle();
  if (event.reached()) return true;
  const Recording latest = event.snapshot();
  if (!latest.stream || !latest.stream->reached(latest.sequence)) return false;
  latest.stream->check(latest.sequence);
  return true;
}

void HostDevice::event_wait(const Event& event) {
  const Recording latest = event.snapshot();
  if (!latest.stream) {
    fail(HOIST_ERROR_ORDER, "the event was never recorded: waiting for it would not end", "record it first");
  }
  engine_->wait(*latest.stream, latest.sequence);
  latest.stream->check(latest.sequence);
}

double HostDevice::event_elapsed_us(const Event& begin, const Event& end) {
  engine_->settle();
  double times[2] = {0, 0};
  int i = 0;
  for (const Event* event : {&begin, &end}) {
    std::lock_guard lock(event->mutex);
    if (event->ticket == 0 || event->time_ticket != event->ticket) {
      fail(HOIST_ERROR_INVALID_STATE, text("the ", i == 0 ? "begin" : "end", " event has not been reached"),
           "wait for both events first");
    }
    times[i++] = event->time_us;
  }
  return times[1] - times[0];
}

void HostDevice::check_copy(hoist_copy_kind_t kind, const void* dst, const void* src, std::uint64_t bytes) {
  if (kind != HOIST_COPY_H2D && kind != HOIST_COPY_D2H && kind != HOIST_COPY_D2D) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("kind of copy is ", static_cast<int>(kind)), "give a HOIST_COPY_ value");
  }
  if (dst == nullptr || src == nullptr) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text(dst == nullptr ? "destination" : "source", " of a copy is NULL"));
  }
  if (kind != HOIST_COPY_D2H) parts_.memory.check("destination", dst, bytes);
  if (kind == HOIST_COPY_D2H) parts_.memory.check("source", src, bytes);
  // By table, hence not in threaded mode, whose copies take no lock that all streams share.
  const bool looks_up = parts_.options.mode != Mode::threaded && kind != HOIST_COPY_D2D;
  if (looks_up) parts_.host_ranges.check(kind == HOIST_COPY_H2D ? src : dst, bytes);
  // A peer's memory is another host device's.
  if (kind != HOIST_COPY_D2D) return;
  if (parts_.memory.contains(src)) return parts_.memory.check("source", src, bytes);
  if (parts_.options.mode == Mode::guarded) {
    fail(HOIST_ERROR_UNSUPPORTED,
         text("source ", src, " is not memory of this device, and guarded mode opens no other's"),
         "copy by way of host memory");
  }
}

void HostDevice::copy(Stream& stream, hoist_copy_kind_t kind, void* dst, const void* src, std::uint64_t bytes) {
  check_copy(kind, dst, src, bytes);
  Op op;
  op.kind = OpKind::copy;
  op.copy_kind = kind;
  op.dst = dst;
  op.src = src;
  op.bytes = bytes;
  submit(stream, std::move(op));
}

void HostDevice::fill(Stream& stream, void* dst, std::uint8_t value, std::uint64_t bytes) {
  parts_.memory.check("destination", dst, bytes);
  Op op;
  op.kind = OpKind::fill;
  op.dst = dst;
  op.value = value;
  op.bytes = bytes;
  submit(stream, std::move(op));
}

void HostDevice::host_function(Stream& stream, hoist_host_fn_t function, void* user_data, double modelled_us) {
  if (function == nullptr) fail(HOIST_ERROR_INVALID_ARGUMENT, "function is NULL");
  if (!(modelled_us >= 0 && modelled_us <= longest_us)) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("modelled_us is ", modelled_us),
         text("give a time from 0 to ", longest_us, " microseconds"));
  }
  Op op;
  op.kind = OpKind::host;
  op.function = function;
  op.user_data = user_data;
  op.modelled_us = modelled_us;
  submit(stream, std::move(op));
}

void HostDevice::access(Stream& stream, bool begins, void* memory, std::uint64_t bytes) {
  if (bytes == 0) return;
  parts_.memory.check("memory", memory, bytes);
  Op op;
  op.kind = begins ? OpKind::access_begin : OpKind::access_end;
  op.dst = memory;
  op.bytes = bytes;
  submit(stream, std::move(op));
}

std::uint32_t* HostDevice::words_create(std::uint64_t count) {
  require(HOIST_CAPABILITY_WORDS, "words that streams wait for");
  if (count == 0 || count > (std::uint64_t{1} << 30)) fail(HOIST_ERROR_INVALID_ARGUMENT, text(count, " words"));
  return new std::uint32_t[count]();
}

void HostDevice::words_submit(Stream& stream, std::uint64_t count, const hoist_word_op_t* operations) {
  require(HOIST_CAPABILITY_WORDS, "words that streams wait for");
  for (std::uint64_t i = 0; i < count; ++i) {
    const bool waits = operations[i].kind == HOIST_WORD_WAIT;
    if (operations[i].word != nullptr && (waits || operations[i].kind == HOIST_WORD_WRITE)) continue;
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("operation ", i, " on a word is unknown, or its word is NULL"));
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    Op op;
    op.kind = operations[i].kind == HOIST_WORD_WAIT ? OpKind::word_wait : OpKind::word_write;
    op.word = operations[i].word;
    op.word_value = operations[i].value;
    submit(stream, std::move(op));
  }
}

bool HostDevice::is_capturing(const Stream& stream) {
  stream.check(all);
  return has_capture(stream);
}

void HostDevice::capture_begin(Stream& stream) {
  require(HOIST_CAPABILITY_GRAPH, "graphs");
  if (stream.capture) fail(HOIST_ERROR_INVALID_STATE, "the stream is being captured already", "end that capture first");
  stream.check(all);
  stream.capture = std::make_unique<Graph>();
}

Graph* HostDevice::capture_end(Stream& stream) {
  if (!stream.capture) fail(HOIST_ERROR_INVALID_STATE, "the stream is not being captured", "begin a capture first");
  return stream.capture.release();
}

void HostDevice::graph_launch(const Graph& graph, Stream& stream) {
  for (const Op& op : graph.ops) submit(stream, Op(op));
}

}  // namespace hoist_backend::host
