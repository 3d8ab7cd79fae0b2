// SPDX-License-Identifier: Apache-2.0
#include "cuda_libraries.hpp"

#include <dlfcn.h>
#include <glob.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

namespace encoder::cuda {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The lib folder beside the python3 that a shell would run: wheels of CUDA's libraries lie below it.
std::string python_prefix() {
  std::stringstream path(variable("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) {
    std::error_code none;
    const std::filesystem::path python = std::filesystem::path(folder) / "python3";
    if (std::filesystem::exists(python, none)) return python.parent_path().parent_path().string();
  }
  return "/usr";
}

std::vector<std::string> matches(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return paths;
}

// NVRTC loads a part of itself by name, which the loader finds where it has been loaded before.
void open_parts(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  for (const std::string& part : matches(folder + "libnvrtc-builtins.so.*")) dlopen(part.c_str(), RTLD_NOW);
}

// By name first, so that LD_LIBRARY_PATH decides where it is set.
void* open(const std::string& name, const std::vector<const char*>& majors) {
  for (const char* major : majors) {
    if (void* library = dlopen((name + major).c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  const std::string prefix = python_prefix();
  for (const std::string& folder :
       {variable("CUDA_HOME") + "/lib64/", variable("CUDA_PATH") + "/lib64/", std::string("/usr/local/cuda/lib64/"),
        prefix + "/lib/python3*/site-packages/nvidia/*/lib/", prefix + "/lib/python3*/dist-packages/nvidia/*/lib/",
        prefix + "/local/lib/python3*/dist-packages/nvidia/*/lib/"}) {
    for (const char* major : majors) {
      for (const std::string& path : matches(folder + name + major)) {
        open_parts(path);
        if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
      }
    }
  }
  throw Missing(name + " is not here (looked in the loader's path, the CUDA toolkit and python3's packages)");
}

template <typename Function>
void find(void* library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(dlsym(library, name));
  if (out == nullptr) throw Missing(std::string(name) + " is not in the library that was found");
}

Libraries load() {
  Libraries all{};
  void* driver = open("libcuda.so", {".1"});
  void* cublas = open("libcublas.so", {".13", ".12", ".11", ""});
  void* nvrtc = open("libnvrtc.so", {".13", ".12", ".11.2", ""});
#define ENCODER_FIND(library, name) find(library, #name, all.name)
  ENCODER_FIND(driver, cuInit);
  ENCODER_FIND(driver, cuDeviceGet);
  ENCODER_FIND(driver, cuDeviceGetAttribute);
  ENCODER_FIND(driver, cuDevicePrimaryCtxRetain);
  ENCODER_FIND(driver, cuDevicePrimaryCtxRelease_v2);
  ENCODER_FIND(driver, cuCtxSetCurrent);
  ENCODER_FIND(driver, cuStreamCreate);
  ENCODER_FIND(driver, cuStreamDestroy_v2);
  ENCODER_FIND(driver, cuModuleLoadData);
  ENCODER_FIND(driver, cuModuleUnload);
  ENCODER_FIND(driver, cuModuleGetFunction);
  ENCODER_FIND(driver, cuLaunchKernel);
  ENCODER_FIND(cublas, cublasCreate_v2);
  ENCODER_FIND(cublas, cublasDestroy_v2);
  ENCODER_FIND(cublas, cublasSetStream_v2);
  ENCODER_FIND(cublas, cublasSgemm_v2);
  ENCODER_FIND(nvrtc, nvrtcCreateProgram);
  ENCODER_FIND(nvrtc, nvrtcCompileProgram);
  ENCODER_FIND(nvrtc, nvrtcGetProgramLogSize);
  ENCODER_FIND(nvrtc, nvrtcGetProgramLog);
  ENCODER_FIND(nvrtc, nvrtcGetCUBINSize);
  ENCODER_FIND(nvrtc, nvrtcGetCUBIN);
  ENCODER_FIND(nvrtc, nvrtcDestroyProgram);
#undef ENCODER_FIND
  return all;
}

}  // namespace

const Libraries& libraries() {
  static const Libraries all = load();
  return all;
}

void check(int result, const char* call) {
  if (result != 0) throw Missing(std::string(call) + " failed with " + std::to_string(result));
}

std::string compile(const char* source, int capability) {
  const Libraries& lib = libraries();
  nvrtcProgram program = nullptr;
  check(lib.nvrtcCreateProgram(&program, source, "encoder.cu", 0, nullptr, nullptr), "nvrtcCreateProgram");
  const std::string architecture = "--gpu-architecture=sm_" + std::to_string(capability);
  const char* options[] = {architecture.c_str(), "--fmad=true"};
  std::string out;
  std::size_t size = 0;
  const int result = lib.nvrtcCompileProgram(program, 2, options);
  if (result != 0) {
    lib.nvrtcGetProgramLogSize(program, &size);
    out.resize(size);
    lib.nvrtcGetProgramLog(program, out.data());
    lib.nvrtcDestroyProgram(&program);
    throw Missing("NVRTC refused the kernels: " + out);
  }
  check(lib.nvrtcGetCUBINSize(program, &size), "nvrtcGetCUBINSize");
  out.resize(size);
  check(lib.nvrtcGetCUBIN(program, out.data()), "nvrtcGetCUBIN");
  lib.nvrtcDestroyProgram(&program);
  return out;
}

}  // namespace encoder::cuda
