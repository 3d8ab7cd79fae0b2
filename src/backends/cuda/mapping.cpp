// SPDX-License-Identifier: Apache-2.0
// Addresses that outlive the memory behind them. A handle is mapped whole: the driver takes no part of one.
#include <memory>
#include <mutex>
#include <utility>

#include "backends/cuda/cuda_device.hpp"
#include "backends/cuda/error.hpp"

namespace hoist_backend::cuda {
namespace {

CUdeviceptr address_of(const void* memory) { return reinterpret_cast<CUdeviceptr>(memory); }

}  // namespace

CUmemLocation CudaDevice::here() const { return {CU_MEM_LOCATION_TYPE_DEVICE, static_cast<int>(index_)}; }

Handle* CudaDevice::handle_create(std::uint64_t bytes) {
  require(HOIST_CAPABILITY_REMAP, "addresses to be mapped");
  const Current current(context_);
  const OutsideCapture outside;
  auto handle = std::make_unique<Handle>();
  handle->bytes = bytes;
  const CUmemAllocationProp properties = allocation_on(static_cast<int>(index_));
  const CUresult result = driver().cuMemCreate(&handle->handle, bytes, &properties, 0);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) fail_out_of_memory(bytes);
  if (result != CUDA_SUCCESS) fail_call(result, "cuMemCreate", text(bytes, " bytes"));
  const std::lock_guard lock(mutex_);
  return handles_.emplace(handle.get(), std::move(handle)).first->first;
}

void CudaDevice::handle_destroy(Handle* handle) {
  std::unique_lock lock(mutex_);
  const auto gone = handles_.extract(handle);
  lock.unlock();
  if (!gone) fail(HOIST_ERROR_INVALID_ARGUMENT, "a handle is destroyed that was never given out");
  const Current current(context_);
  const OutsideCapture outside;
  check(driver().cuMemRelease(gone.mapped()->handle), "cuMemRelease", "");
}

void* CudaDevice::address_reserve(std::uint64_t bytes) {
  require(HOIST_CAPABILITY_REMAP, "addresses to be mapped");
  const Current current(context_);
  const OutsideCapture outside;
  CUdeviceptr address = 0;
  const CUresult result = driver().cuMemAddressReserve(&address, bytes, 0, 0, 0);
  if (result != CUDA_SUCCESS) fail_call(result, "cuMemAddressReserve", text(bytes, " bytes"));
  return reinterpret_cast<void*>(address);
}

void CudaDevice::address_release(void* address, std::uint64_t bytes) {
  const Current current(context_);
  const OutsideCapture outside;
  check(driver().cuMemAddressFree(address_of(address), bytes), "cuMemAddressFree", "");
}

void CudaDevice::memory_map(void* address, std::uint64_t bytes, const Handle& handle) {
  require(HOIST_CAPABILITY_REMAP, "addresses to be mapped");
  if (bytes != handle.bytes) {
    fail(HOIST_ERROR_INVALID_ARGUMENT, text("a handle of ", handle.bytes, " bytes is mapped to ", bytes),
         "a handle is mapped whole");
  }
  const Current current(context_);
  const OutsideCapture outside;
  const CUresult mapped = driver().cuMemMap(address_of(address), bytes, 0, handle.handle, 0);
  if (mapped != CUDA_SUCCESS) fail_call(mapped, "cuMemMap", text(bytes, " bytes at ", address));
  CUmemAccessDesc access{here(), CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  const CUresult opened = driver().cuMemSetAccess(address_of(address), bytes, &access, 1);
  if (opened == CUDA_SUCCESS) return;
  driver().cuMemUnmap(address_of(address), bytes);
  fail_call(opened, "cuMemSetAccess", text(bytes, " bytes at ", address));
}

void CudaDevice::memory_unmap(void* address, std::uint64_t bytes) {
  require(HOIST_CAPABILITY_REMAP, "addresses to be mapped");
  const Current current(context_);
  const OutsideCapture outside;
  const CUresult result = driver().cuMemUnmap(address_of(address), bytes);
  if (result != CUDA_SUCCESS) fail_call(result, "cuMemUnmap", text(bytes, " bytes at ", address));
}

}  // namespace hoist_backend::cuda
