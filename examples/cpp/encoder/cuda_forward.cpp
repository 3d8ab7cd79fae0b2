// SPDX-License-Identifier: Apache-2.0
#include "cuda_forward.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "cuda_kernels.hpp"
#include "cuda_libraries.hpp"

namespace encoder {
namespace {

using cuda::check;
using cuda::libraries;

constexpr unsigned block_threads = 128;  // the kernels' sums count on it

// The primary context of a GPU, current on this thread, with the kernels in it: once a process.
class Gpu {
 public:
  explicit Gpu(int index) {
    const cuda::Libraries& lib = libraries();
    check(lib.cuInit(0), "cuInit");
    check(lib.cuDeviceGet(&device_, index), "cuDeviceGet");
    check(lib.cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
    check(lib.cuCtxSetCurrent(context_), "cuCtxSetCurrent");
    constexpr int major_attribute = 75, minor_attribute = 76;
    int major = 0, minor = 0;
    check(lib.cuDeviceGetAttribute(&major, major_attribute, device_), "cuDeviceGetAttribute");
    check(lib.cuDeviceGetAttribute(&minor, minor_attribute, device_), "cuDeviceGetAttribute");
    const std::string code = cuda::compile(cuda::kernels, 10 * major + minor);
    check(lib.cuModuleLoadData(&module_, code.data()), "cuModuleLoadData");
    check(lib.cublasCreate_v2(&cublas_), "cublasCreate");
  }
  ~Gpu() {
    libraries().cublasDestroy_v2(cublas_);
    libraries().cuModuleUnload(module_);
    libraries().cuDevicePrimaryCtxRelease_v2(device_);
  }
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  [[nodiscard]] cuda::CUfunction kernel(const char* name) const {
    cuda::CUfunction function = nullptr;
    check(libraries().cuModuleGetFunction(&function, module_, name), name);
    return function;
  }
  [[nodiscard]] cuda::cublasHandle_t cublas() const noexcept { return cublas_; }

 private:
  int device_ = 0;
  cuda::CUcontext context_ = nullptr;
  cuda::CUmodule module_ = nullptr;
  cuda::cublasHandle_t cublas_ = nullptr;
};

struct OwnStream {
  cuda::CUstream handle = nullptr;
  OwnStream() { check(libraries().cuStreamCreate(&handle, 1), "cuStreamCreate"); }  // 1: waits for no other stream
  ~OwnStream() { libraries().cuStreamDestroy_v2(handle); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
};

// Device memory of elements.
template <typename T>
class Array {
 public:
  Array(const hoist::Device& device, std::int64_t count)
      : memory_(device, static_cast<std::uint64_t>(count) * sizeof(T)) {}
  Array(const hoist::Device& device, const std::vector<T>& values)
      : Array(device, static_cast<std::int64_t>(values.size())) {
    hoist::Stream stream(device);
    stream.submit_copy(HOIST_COPY_H2D, get(), values.data(), memory_.bytes());
    stream.wait();
  }
  [[nodiscard]] T* get() const { return static_cast<T*>(memory_.data()); }
  [[nodiscard]] std::uint64_t bytes() const { return memory_.bytes(); }

 private:
  hoist::Memory memory_;
};

// The tokens of all sentences, one after another.
struct Tokens {
  std::vector<long long> ids;
  std::vector<int> place, begin, end;  // by token: in its sentence, where that begins and ends
  std::vector<int> begins{0};          // by sentence, and the end of the last
  int longest = 0;

  explicit Tokens(const std::vector<Sentence>& sentences) {
    for (const Sentence& sentence : sentences) {
      const int first = begins.back(), count = static_cast<int>(sentence.ids.size());
      for (int i = 0; i < count; ++i) {
        ids.push_back(sentence.ids[static_cast<std::size_t>(i)]);
        place.push_back(i);
        begin.push_back(first);
        end.push_back(first + count);
      }
      begins.push_back(first + count);
      longest = std::max(longest, count);
    }
  }
};

class OnCuda final : public Arithmetic {
 public:
  OnCuda(const hoist::Device& device, std::shared_ptr<Gpu> gpu, const Model& model,
         const std::vector<Sentence>& sentences)
      : OnCuda(device, std::move(gpu), model, Tokens(sentences)) {}

  hoist::Stream make_stream() override { return hoist::Stream::wrap(device_, stream_.handle); }

  void submit(const Unit& unit, std::vector<const float*> weights, hoist::Stream&) override {
    switch (unit.kind) {
      case Kind::word_rows:
        return launch(gather_words_, tokens_, 1, 0, hidden_.get(), weights[0], ids_.get(),
                      static_cast<long long>(unit.first_row), static_cast<long long>(unit.rows), width_);
      case Kind::embeddings:
        launch(add_positions_, tokens_, 1, 0, hidden_.get(), weights[0], weights[1], place_.get(), width_);
        return add_norm(nullptr, nullptr, weights[2], weights[3]);
      case Kind::attention:
        return attend(weights);
      case Kind::feed_forward:
        return feed_forward(weights);
      case Kind::pooling:
        return launch(pool_, sentences_, 1, 0, embeddings_.get(), hidden_.get(), begins_.get(), width_);
    }
  }

  // Through pinned memory, in stream order: the next step overwrites it after this one was copied out.
  void submit_embeddings(Matrix& out, hoist::Stream& stream) override {
    stream.submit_copy(HOIST_COPY_D2H, staging_.data(), embeddings_.get(), embeddings_.bytes());
    stream.submit_host(
        [this, &out] {
          out.resize(sentences_, width_);
          std::memcpy(out.data(), staging_.data(), staging_.bytes());
        },
        0.0);
  }

 private:
  OnCuda(const hoist::Device& device, std::shared_ptr<Gpu> gpu, const Model& model, const Tokens& tokens)
      : device_(device),
        gpu_(std::move(gpu)),
        tokens_(static_cast<int>(tokens.ids.size())),
        sentences_(static_cast<int>(tokens.begins.size()) - 1),
        width_(static_cast<int>(model.hidden())),
        inner_width_(static_cast<int>(model.inner())),
        longest_(tokens.longest),
        ids_(device, tokens.ids),
        place_(device, tokens.place),
        begin_(device, tokens.begin),
        end_(device, tokens.end),
        begins_(device, tokens.begins),
        hidden_(device, tokens_ * model.hidden()),
        query_(device, tokens_ * model.hidden()),
        key_(device, tokens_ * model.hidden()),
        value_(device, tokens_ * model.hidden()),
        context_(device, tokens_ * model.hidden()),
        inner_(device, tokens_ * model.inner()),
        embeddings_(device, sentences_ * model.hidden()),
        staging_(device, embeddings_.bytes()) {}

  template <typename... Arguments>
  void launch(cuda::CUfunction kernel, int x, int y, std::size_t shared, Arguments... arguments) {
    void* pointers[] = {&arguments...};
    check(libraries().cuLaunchKernel(kernel, static_cast<unsigned>(x), static_cast<unsigned>(y), 1, block_threads, 1, 1,
                                     static_cast<unsigned>(shared), stream_.handle, pointers, nullptr),
          "cuLaunchKernel");
  }

  // Row-major output = input times the matrix transposed: to cuBLAS, which counts by columns, the other way round.
  void multiply(const float* input, int in, const float* matrix, float* output, int out) {
    constexpr int plain = 0, transposed = 1;
    const float one = 1, zero = 0;
    check(libraries().cublasSetStream_v2(gpu_->cublas(), stream_.handle), "cublasSetStream");
    check(libraries().cublasSgemm_v2(gpu_->cublas(), transposed, plain, out, tokens_, in, &one, matrix, in, input, in,
                                     &zero, output, out),
          "cublasSgemm");
  }

  void add_norm(const float* more, const float* bias, const float* scale, const float* shift) {
    launch(add_norm_, tokens_, 1, 0, hidden_.get(), more, bias, scale, shift, width_);
  }

  void attend(const std::vector<const float*>& weights) {
    const Array<float>* targets[] = {&query_, &key_, &value_};
    for (std::size_t i = 0; i < 3; ++i) {
      multiply(hidden_.get(), width_, weights[2 * i], targets[i]->get(), width_);
      launch(add_bias_, tokens_, 1, 0, targets[i]->get(), weights[2 * i + 1], width_);
    }
    const float scale = 1.0F / std::sqrt(static_cast<float>(head_width));
    launch(attend_, tokens_, width_ / static_cast<int>(head_width), static_cast<std::size_t>(longest_) * sizeof(float),
           context_.get(), query_.get(), key_.get(), value_.get(), begin_.get(), end_.get(), width_,
           static_cast<int>(head_width), scale);
    multiply(context_.get(), width_, weights[6], query_.get(), width_);  // the queries are not needed any more
    add_norm(query_.get(), weights[7], weights[8], weights[9]);
  }

  void feed_forward(const std::vector<const float*>& weights) {
    multiply(hidden_.get(), width_, weights[0], inner_.get(), inner_width_);
    launch(add_bias_gelu_, tokens_, 1, 0, inner_.get(), weights[1], inner_width_);
    multiply(inner_.get(), inner_width_, weights[2], query_.get(), width_);
    add_norm(query_.get(), weights[3], weights[4], weights[5]);
  }

  const hoist::Device& device_;
  std::shared_ptr<Gpu> gpu_;
  OwnStream stream_;
  int tokens_, sentences_, width_, inner_width_, longest_;
  Array<long long> ids_;
  Array<int> place_, begin_, end_, begins_;
  Array<float> hidden_, query_, key_, value_, context_, inner_, embeddings_;
  hoist::HostMemory staging_;
  cuda::CUfunction gather_words_ = gpu_->kernel("gather_words"), add_positions_ = gpu_->kernel("add_positions"),
                   add_bias_ = gpu_->kernel("add_bias"), add_bias_gelu_ = gpu_->kernel("add_bias_gelu"),
                   add_norm_ = gpu_->kernel("add_norm"), attend_ = gpu_->kernel("attend"), pool_ = gpu_->kernel("pool");
};

}  // namespace

MakeArithmetic on_cuda(const hoist::Device& device, const Model& model, const std::vector<Sentence>& sentences) {
  auto gpu = std::make_shared<Gpu>(static_cast<int>(device.query().dlpack_index));
  return [&device, gpu, &model, &sentences] { return std::make_unique<OnCuda>(device, gpu, model, sentences); };
}

}  // namespace encoder
