// SPDX-License-Identifier: Apache-2.0
// The few entry points of the CUDA driver that the device calls, declared here so that building needs no
// toolkit, and found at run time so that running needs no driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hoist/status.h"

namespace hoist_backend::cuda {

// Names and values are the driver's.
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUhostFn = void (*)(void* userData);
using CUgraph = struct CUgraph_st*;
using CUgraphExec = struct CUgraphExec_st*;
using CUmemGenericAllocationHandle = unsigned long long;

enum CUresult : int {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_DEINITIALIZED = 4,
  CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_ECC_UNCORRECTABLE = 214,
  CUDA_ERROR_NVLINK_UNCORRECTABLE = 220,
  CUDA_ERROR_CONTAINED = 226,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_TIMEOUT = 702,
  CUDA_ERROR_ASSERT = 710,
  CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
  CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
  CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_NOT_SUPPORTED = 801,
  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
  CUDA_ERROR_CAPTURED_EVENT = 907,
};

enum CUdevice_attribute : int {
  CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
  CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
};
enum CUpointer_attribute : int { CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9 };
enum CUmemorytype : unsigned { CU_MEMORYTYPE_HOST = 1 };
enum CUstreamCaptureMode : int { CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1, CU_STREAM_CAPTURE_MODE_RELAXED = 2 };
enum CUstreamCaptureStatus : int { CU_STREAM_CAPTURE_STATUS_NONE = 0 };
enum CUmemcpySrcAccessOrder : int { CU_MEMCPY_SRC_ACCESS_ORDER_STREAM = 1 };

struct CUmemLocation {
  int type;
  int id;
};
struct CUmemcpyAttributes {
  CUmemcpySrcAccessOrder srcAccessOrder;
  CUmemLocation srcLocHint;
  CUmemLocation dstLocHint;
  unsigned int flags;
};

enum CUmemLocationType : int { CU_MEM_LOCATION_TYPE_DEVICE = 1 };
enum CUmemAllocationType : int { CU_MEM_ALLOCATION_TYPE_PINNED = 1 };
enum CUmemAllocationGranularity_flags : int { CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1 };
struct CUmemAllocationProp {
  CUmemAllocationType type;
  int requestedHandleTypes;
  CUmemLocation location;
  void* win32HandleMetaData;
  unsigned char allocFlags[8];
};
// Device memory of that device, to be mapped.
inline CUmemAllocationProp allocation_on(int index) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, index};
  return properties;
}
struct CUmemAccessDesc {
  CUmemLocation location;
  unsigned int flags;
};

enum CUstreamBatchMemOpType : int { CU_STREAM_MEM_OP_WAIT_VALUE_32 = 1, CU_STREAM_MEM_OP_WRITE_VALUE_32 = 2 };
// Of the driver's union, the two members in use: they are laid out alike.
struct CUstreamBatchMemOpParams {
  CUstreamBatchMemOpType operation;
  CUdeviceptr address;
  unsigned int value;
  unsigned int value_high;
  unsigned int flags;
  CUdeviceptr alias;
  unsigned long long pad;
};
static_assert(sizeof(CUstreamBatchMemOpParams) == 6 * sizeof(unsigned long long));

constexpr unsigned CU_STREAM_WAIT_VALUE_GEQ = 0;
constexpr unsigned CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3;
constexpr unsigned CU_MEMHOSTALLOC_PORTABLE = 1;
constexpr unsigned CU_MEMHOSTALLOC_DEVICEMAP = 2;
constexpr unsigned CU_CTX_SCHED_BLOCKING_SYNC = 4;
constexpr unsigned CU_STREAM_NON_BLOCKING = 1;
constexpr unsigned CU_EVENT_DEFAULT = 0;
constexpr unsigned CU_MEMHOSTREGISTER_PORTABLE = 1;

// name, the CUDA version (as 1000 * major + 10 * minor) whose signature is meant, arguments. Optional ones
// stay null on drivers that have them not.
#define HOIST_CUDA_REQUIRED(X)                                                \
  X(cuInit, 2000, unsigned)                                                   \
  X(cuDriverGetVersion, 2020, int*)                                           \
  X(cuGetErrorName, 6000, CUresult, const char**)                             \
  X(cuGetErrorString, 6000, CUresult, const char**)                           \
  X(cuDeviceGetCount, 2000, int*)                                             \
  X(cuDeviceGet, 2000, CUdevice*, int)                                        \
  X(cuDeviceGetName, 2000, char*, int, CUdevice)                              \
  X(cuDeviceGetAttribute, 2000, int*, CUdevice_attribute, CUdevice)           \
  X(cuDeviceGetPCIBusId, 4010, char*, int, CUdevice)                          \
  X(cuDeviceTotalMem, 3020, std::size_t*, CUdevice)                           \
  X(cuDevicePrimaryCtxRetain, 7000, CUcontext*, CUdevice)                     \
  X(cuDevicePrimaryCtxRelease, 11000, CUdevice)                               \
  X(cuCtxGetCurrent, 4000, CUcontext*)                                        \
  X(cuCtxSetCurrent, 4000, CUcontext)                                         \
  X(cuMemGetInfo, 3020, std::size_t*, std::size_t*)                           \
  X(cuMemAlloc, 3020, CUdeviceptr*, std::size_t)                              \
  X(cuMemFree, 3020, CUdeviceptr)                                             \
  X(cuMemHostRegister, 6050, void*, std::size_t, unsigned)                    \
  X(cuMemHostUnregister, 4000, void*)                                         \
  X(cuMemcpyHtoDAsync, 3020, CUdeviceptr, const void*, std::size_t, CUstream) \
  X(cuMemcpyDtoHAsync, 3020, void*, CUdeviceptr, std::size_t, CUstream)       \
  X(cuMemcpyAsync, 4000, CUdeviceptr, CUdeviceptr, std::size_t, CUstream)     \
  X(cuMemsetD8Async, 3020, CUdeviceptr, unsigned char, std::size_t, CUstream) \
  X(cuLaunchHostFunc, 10000, CUstream, CUhostFn, void*)                       \
  X(cuPointerGetAttribute, 4000, void*, CUpointer_attribute, CUdeviceptr)     \
  X(cuThreadExchangeStreamCaptureMode, 10010, CUstreamCaptureMode*)           \
  X(cuStreamCreate, 2000, CUstream*, unsigned)                                \
  X(cuStreamDestroy, 4000, CUstream)                                          \
  X(cuStreamSynchronize, 2000, CUstream)                                      \
  X(cuStreamWaitEvent, 3020, CUstream, CUevent, unsigned)                     \
  X(cuStreamGetCtx, 9020, CUstream, CUcontext*)                               \
  X(cuStreamIsCapturing, 10000, CUstream, CUstreamCaptureStatus*)             \
  X(cuEventCreate, 2000, CUevent*, unsigned)                                  \
  X(cuEventDestroy, 4000, CUevent)                                            \
  X(cuEventRecord, 2000, CUevent, CUstream)                                   \
  X(cuEventQuery, 2000, CUevent)                                              \
  X(cuEventSynchronize, 2000, CUevent)                                        \
  X(cuEventElapsedTime, 2000, float*, CUevent, CUevent)

// Of the batch, the signature of 12.8, which every later driver still serves.
#define HOIST_CUDA_OPTIONAL(X)                                                                                        \
  X(cuMemcpyBatchAsync, 12080, CUdeviceptr*, CUdeviceptr*, std::size_t*, std::size_t, CUmemcpyAttributes*,            \
    std::size_t*, std::size_t, std::size_t*, CUstream)                                                                \
  X(cuDeviceCanAccessPeer, 4000, int*, CUdevice, CUdevice)                                                            \
  X(cuCtxEnablePeerAccess, 4000, CUcontext, unsigned)                                                                 \
  X(cuMemGetAllocationGranularity, 10020, std::size_t*, const CUmemAllocationProp*, CUmemAllocationGranularity_flags) \
  X(cuMemCreate, 10020, CUmemGenericAllocationHandle*, std::size_t, const CUmemAllocationProp*, unsigned long long)   \
  X(cuMemRelease, 10020, CUmemGenericAllocationHandle)                                                                \
  X(cuMemAddressReserve, 10020, CUdeviceptr*, std::size_t, std::size_t, CUdeviceptr, unsigned long long)              \
  X(cuMemAddressFree, 10020, CUdeviceptr, std::size_t)                                                                \
  X(cuMemMap, 10020, CUdeviceptr, std::size_t, std::size_t, CUmemGenericAllocationHandle, unsigned long long)         \
  X(cuMemSetAccess, 10020, CUdeviceptr, std::size_t, const CUmemAccessDesc*, std::size_t)                             \
  X(cuMemUnmap, 10020, CUdeviceptr, std::size_t)                                                                      \
  X(cuMemHostAlloc, 2020, void**, std::size_t, unsigned)                                                              \
  X(cuMemFreeHost, 2000, void*)                                                                                       \
  X(cuStreamBatchMemOp, 11070, CUstream, unsigned, CUstreamBatchMemOpParams*, unsigned)                               \
  X(cuStreamBeginCapture, 10010, CUstream, CUstreamCaptureMode)                                                       \
  X(cuStreamEndCapture, 10000, CUstream, CUgraph*)                                                                    \
  X(cuGraphInstantiateWithFlags, 11040, CUgraphExec*, CUgraph, unsigned long long)                                    \
  X(cuGraphDestroy, 10000, CUgraph)                                                                                   \
  X(cuGraphExecDestroy, 10000, CUgraphExec)                                                                           \
  X(cuGraphLaunch, 10000, CUgraphExec, CUstream)                                                                      \
  X(cuCtxCreate, 3020, CUcontext*, unsigned, CUdevice)                                                                \
  X(cuCtxDestroy, 4000, CUcontext)

struct DriverApi {
#define HOIST_CUDA_MEMBER(name, version, ...) CUresult (*name)(__VA_ARGS__) = nullptr;
  HOIST_CUDA_REQUIRED(HOIST_CUDA_MEMBER)
  HOIST_CUDA_OPTIONAL(HOIST_CUDA_MEMBER)
#undef HOIST_CUDA_MEMBER
};

// What can be known of a device without a context; asked once, so that a child of fork knows it too.
struct DeviceFacts {
  CUdevice device = 0;
  char model[80] = "";
  std::uint64_t memory_bytes = 0;
  bool unified = false;           // addressing
  std::uint64_t granularity = 0;  // of what is mapped; 0: addresses cannot be mapped
};

// What became of loading the driver; done once a process.
struct DriverState {
  DriverApi api;
  hoist_status_t status = HOIST_OK;  // why there is no device
  std::string message;
  std::string hint;
  int version = 0;  // 13000 for CUDA 13.0
  std::vector<DeviceFacts> devices;
};

const DriverState& driver_state();
inline const DriverApi& driver() { return driver_state().api; }

}  // namespace hoist_backend::cuda
