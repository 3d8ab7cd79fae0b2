// SPDX-License-Identifier: Apache-2.0
// The driver, cuBLAS and NVRTC, loaded at run time: the demo is built without CUDA and runs without it.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace encoder::cuda {

// Names are CUDA's; handles are pointers to what its libraries keep to themselves.
using CUstream = struct CUstream_st*;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using cublasHandle_t = struct cublasContext*;
using nvrtcProgram = struct _nvrtcProgram*;

// What is missing or was refused; what() is one line for people.
struct Missing : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Every entry point that is called; each returns 0 when all is well.
struct Libraries {
  int (*cuInit)(unsigned);
  int (*cuDeviceGet)(int*, int);
  int (*cuDeviceGetAttribute)(int*, int, int);
  int (*cuDevicePrimaryCtxRetain)(CUcontext*, int);
  int (*cuDevicePrimaryCtxRelease_v2)(int);
  int (*cuCtxSetCurrent)(CUcontext);
  int (*cuStreamCreate)(CUstream*, unsigned);
  int (*cuStreamDestroy_v2)(CUstream);
  int (*cuModuleLoadData)(CUmodule*, const void*);
  int (*cuModuleUnload)(CUmodule);
  int (*cuModuleGetFunction)(CUfunction*, CUmodule, const char*);
  int (*cuLaunchKernel)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                        void**, void**);

  int (*cublasCreate_v2)(cublasHandle_t*);
  int (*cublasDestroy_v2)(cublasHandle_t);
  int (*cublasSetStream_v2)(cublasHandle_t, CUstream);
  int (*cublasSgemm_v2)(cublasHandle_t, int, int, int, int, int, const float*, const float*, int, const float*, int,
                        const float*, float*, int);

  int (*nvrtcCreateProgram)(nvrtcProgram*, const char*, const char*, int, const char* const*, const char* const*);
  int (*nvrtcCompileProgram)(nvrtcProgram, int, const char* const*);
  int (*nvrtcGetProgramLogSize)(nvrtcProgram, std::size_t*);
  int (*nvrtcGetProgramLog)(nvrtcProgram, char*);
  int (*nvrtcGetCUBINSize)(nvrtcProgram, std::size_t*);
  int (*nvrtcGetCUBIN)(nvrtcProgram, char*);
  int (*nvrtcDestroyProgram)(nvrtcProgram*);
};

// Looks where the loader does, in the toolkit's folder, and among the packages of the Python on PATH. Throws Missing
// with the library's name. Done once a process.
const Libraries& libraries();

// Throws Missing for a call that failed.
void check(int result, const char* call);

// The machine code of a program in CUDA C++, for GPUs of that compute capability (90 for 9.0).
std::string compile(const char* source, int capability);

}  // namespace encoder::cuda
