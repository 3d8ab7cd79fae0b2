// SPDX-License-Identifier: Apache-2.0
// What the encoder computes beside matrix products, in CUDA C++ for NVRTC. Rows are tokens; no atomics and no split
// sums, so that equal inputs give equal bits.
#pragma once

namespace encoder::cuda {

inline constexpr const char* kernels = R"cuda(
// The block's sum, in one order whatever happens; blocks have 128 threads.
__device__ double block_sum(double mine) {
  __shared__ double parts[128];
  __syncthreads();
  parts[threadIdx.x] = mine;
  for (int half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
  }
  __syncthreads();
  return parts[0];
}

// A block a token, here and below but where it says otherwise.
extern "C" __global__ void gather_words(float* hidden, const float* rows, const long long* ids, long long first,
                                        long long count, int width) {
  const long long row = ids[blockIdx.x] - first;
  if (row < 0 || row >= count) return;
  for (int c = threadIdx.x; c < width; c += blockDim.x) {
    hidden[(long long)blockIdx.x * width + c] = rows[row * width + c];
  }
}

extern "C" __global__ void add_positions(float* hidden, const float* positions, const float* type, const int* place,
                                         int width) {
  float* row = hidden + (long long)blockIdx.x * width;
  const float* position = positions + (long long)place[blockIdx.x] * width;
  for (int c = threadIdx.x; c < width; c += blockDim.x) row[c] = (row[c] + type[c]) + position[c];
}

extern "C" __global__ void add_bias(float* values, const float* bias, int width) {
  float* row = values + (long long)blockIdx.x * width;
  for (int c = threadIdx.x; c < width; c += blockDim.x) row[c] += bias[c];
}

extern "C" __global__ void add_bias_gelu(float* values, const float* bias, int width) {
  float* row = values + (long long)blockIdx.x * width;
  for (int c = threadIdx.x; c < width; c += blockDim.x) {
    const float x = row[c] + bias[c];
    row[c] = 0.5f * x * (1.0f + erff(x * 0.70710678118654752f));
  }
}

// hidden = norm(hidden + (more + bias)); where there is no `more`, of hidden alone.
extern "C" __global__ void add_norm(float* hidden, const float* more, const float* bias, const float* scale,
                                    const float* shift, int width) {
  float* row = hidden + (long long)blockIdx.x * width;
  double sum = 0;
  for (int c = threadIdx.x; c < width; c += blockDim.x) {
    if (more != nullptr) row[c] += more[(long long)blockIdx.x * width + c] + bias[c];
    sum += row[c];
  }
  const double mean = block_sum(sum) / width;
  double squares = 0;
  for (int c = threadIdx.x; c < width; c += blockDim.x) squares += (row[c] - mean) * (row[c] - mean);
  const double factor = 1.0 / sqrt(block_sum(squares) / width + 1e-12);
  for (int c = threadIdx.x; c < width; c += blockDim.x) {
    row[c] = (float)((row[c] - mean) * factor) * scale[c] + shift[c];
  }
}

// A block a token and head; dynamic shared memory holds the scores of the longest sentence.
extern "C" __global__ void attend(float* context, const float* query, const float* key, const float* value,
                                  const int* begin, const int* end, int width, int head, float scale) {
  extern __shared__ float scores[];
  const int first = begin[blockIdx.x], count = end[blockIdx.x] - first;
  const long long column = (long long)blockIdx.y * head;
  const float* mine = query + (long long)blockIdx.x * width + column;
  for (int k = threadIdx.x; k < count; k += blockDim.x) {
    const float* other = key + (long long)(first + k) * width + column;
    float score = 0;
    for (int c = 0; c < head; ++c) score += mine[c] * other[c];
    scores[k] = score * scale;
  }
  __syncthreads();
  float largest = scores[0];
  for (int k = 1; k < count; ++k) largest = fmaxf(largest, scores[k]);
  __syncthreads();
  float sum = 0;
  for (int k = threadIdx.x; k < count; k += blockDim.x) sum += scores[k] = expf(scores[k] - largest);
  const float all = (float)block_sum(sum);
  for (int c = threadIdx.x; c < head; c += blockDim.x) {
    float out = 0;
    for (int k = 0; k < count; ++k) out += scores[k] / all * value[(long long)(first + k) * width + column + c];
    context[(long long)blockIdx.x * width + column + c] = out;
  }
}

// A block a sentence: the mean of its tokens, at length 1.
extern "C" __global__ void pool(float* embeddings, const float* hidden, const int* begins, int width) {
  const int first = begins[blockIdx.x], last = begins[blockIdx.x + 1];
  double squares = 0;
  for (int c = threadIdx.x; c < width; c += blockDim.x) {
    double mean = 0;
    for (int token = first; token < last; ++token) mean += hidden[(long long)token * width + c];
    squares += mean * mean;
  }
  const double factor = 1.0 / sqrt(block_sum(squares));  // the count cancels out
  for (int c = threadIdx.x; c < width; c += blockDim.x) {
    double mean = 0;
    for (int token = first; token < last; ++token) mean += hidden[(long long)token * width + c];
    embeddings[(long long)blockIdx.x * width + c] = (float)(mean * factor);
  }
}
)cuda";

}  // namespace encoder::cuda
