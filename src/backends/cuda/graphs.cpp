// SPDX-License-Identifier: Apache-2.0
// Words that streams wait for, captures, and the context aside. A launch that finds the queue full blocks with its
// context locked, and a wait for the device waits for all streams of one context: copies that a launched graph waits
// for are therefore submitted in another context of the same device.
#include <algorithm>
#include <cstring>
#include <memory>

#include "backends/cuda/cuda_device.hpp"
#include "backends/cuda/error.hpp"

namespace hoist_backend::cuda {
namespace {

constexpr std::uint64_t ops_a_call = 64;

CUstreamBatchMemOpParams params_of(const hoist_word_op_t& operation) {
  CUstreamBatchMemOpParams params{};
  const bool waits = operation.kind == HOIST_WORD_WAIT;
  params.operation = waits ? CU_STREAM_MEM_OP_WAIT_VALUE_32 : CU_STREAM_MEM_OP_WRITE_VALUE_32;
  params.address = reinterpret_cast<CUdeviceptr>(operation.word);
  params.value = operation.value;
  params.flags = waits ? CU_STREAM_WAIT_VALUE_GEQ : 0;
  return params;
}

}  // namespace

// In host memory that every context reads: the host's own stores let waits go when nothing else can.
std::uint32_t* CudaDevice::words_create(std::uint64_t count) {
  require(HOIST_CAPABILITY_WORDS, "words that streams wait for");
  const Current current(context_);
  const OutsideCapture outside;
  const std::size_t bytes = std::max<std::uint64_t>(count, 1) * sizeof(std::uint32_t);
  void* words = nullptr;
  const CUresult result = driver().cuMemHostAlloc(&words, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  if (result != CUDA_SUCCESS) fail_call(result, "cuMemHostAlloc", text(bytes, " bytes"));
  std::memset(words, 0, bytes);
  return static_cast<std::uint32_t*>(words);
}

void CudaDevice::words_destroy(std::uint32_t* words) {
  const Current current(context_);
  const OutsideCapture outside;
  check(driver().cuMemFreeHost(words), "cuMemFreeHost", "");
}

void CudaDevice::words_submit(const Stream& stream, std::uint64_t count, const hoist_word_op_t* operations) {
  require(HOIST_CAPABILITY_WORDS, "words that streams wait for");
  const Current current(stream.context);
  CUstreamBatchMemOpParams params[ops_a_call];
  for (std::uint64_t done = 0; done < count;) {
    const std::uint64_t part = std::min(count - done, ops_a_call);
    for (std::uint64_t i = 0; i < part; ++i) params[i] = params_of(operations[done + i]);
    check(driver().cuStreamBatchMemOp(stream.handle, static_cast<unsigned>(part), params, 0), "cuStreamBatchMemOp", "");
    done += part;
  }
}

bool CudaDevice::is_capturing(const Stream& stream) {
  const Current current(stream.context);
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult result = driver().cuStreamIsCapturing(stream.handle, &capture);
  if (is_sticky(result)) fail_call(result, "cuStreamIsCapturing", "");
  return result == CUDA_SUCCESS && capture != CU_STREAM_CAPTURE_STATUS_NONE;
}

bool CudaDevice::has_capture(const Stream& stream) {
  const Current current(stream.context);
  return captures(stream);
}

void CudaDevice::capture_begin(Stream& stream) {
  require(HOIST_CAPABILITY_GRAPH, "graphs");
  const Current current(stream.context);
  check(driver().cuStreamBeginCapture(stream.handle, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "cuStreamBeginCapture", "");
  stream.captured = true;
}

Graph* CudaDevice::capture_end(Stream& stream) {
  require(HOIST_CAPABILITY_GRAPH, "graphs");
  const Current current(stream.context);
  auto graph = std::make_unique<Graph>();
  stream.captured = false;  // however it ends
  check(driver().cuStreamEndCapture(stream.handle, &graph->graph), "cuStreamEndCapture", "");
  const CUresult result = driver().cuGraphInstantiateWithFlags(&graph->exec, graph->graph, 0);
  if (result == CUDA_SUCCESS) return graph.release();
  driver().cuGraphDestroy(graph->graph);
  fail_call(result, "cuGraphInstantiateWithFlags", "");
}

void CudaDevice::graph_launch(const Graph& graph, const Stream& stream) {
  const Current current(stream.context);
  check(driver().cuGraphLaunch(graph.exec, stream.handle), "cuGraphLaunch", "");
}

void CudaDevice::graph_destroy(Graph* graph) {
  const std::unique_ptr<Graph> gone(graph);
  const Current current(context_);
  const OutsideCapture outside;
  const CUresult exec = driver().cuGraphExecDestroy(graph->exec);
  check(driver().cuGraphDestroy(graph->graph), "cuGraphDestroy", "");
  check(exec, "cuGraphExecDestroy", "");
}

// Taken when it is needed first: it costs device memory (549 MB on an H200).
CUcontext CudaDevice::context_aside() {
  const std::lock_guard lock(mutex_);
  if (aside_ != nullptr) return aside_;
  const Current current(context_);  // creating one makes it current
  check(driver().cuCtxCreate(&aside_, CU_CTX_SCHED_BLOCKING_SYNC, device_), "cuCtxCreate",
        "a second context, for copies beside graphs");
  check(driver().cuCtxSetCurrent(context_), "cuCtxSetCurrent", "the device's primary context");
  return aside_;
}

Stream* CudaDevice::stream_create_aside() {
  require(HOIST_CAPABILITY_GRAPH, "graphs");
  const OutsideCapture outside;
  auto stream = std::make_unique<Stream>();
  stream->context = context_aside();
  const Current current(stream->context);
  check(driver().cuStreamCreate(&stream->handle, CU_STREAM_NON_BLOCKING), "cuStreamCreate", "a stream aside");
  stream->owned = true;
  return stream.release();
}

}  // namespace hoist_backend::cuda
