// Types and functions that all kernels share.
//
// Matrices are row-major floats; a stride is the number of floats from a row to the next. Pointers
// are those of the first element that a kernel uses: callers add the offsets of columns.
//
// A result never depends on the other rows of a launch: every sum has an order that is fixed by
// the position of its terms, so a sentence has the same translation in every batch.
#pragma once

typedef unsigned long long u64;

// All lanes of a warp take part in every exchange.
#define ALL 0xFFFFFFFFu

#define INFINITE __int_as_float(0x7F800000)

// The end of a list of row numbers, or a token that has no vector.
constexpr unsigned NONE = 0xFFFFFFFFu;

// The codes of activations: `Activation::code` in `base/kernels/src/activation.rs`.
constexpr unsigned RELU = 1;
constexpr unsigned SWISH = 2;
constexpr unsigned GELU = 3;
constexpr unsigned GELU_SIGMOID = 4;
constexpr unsigned GELU_TANH = 5;
constexpr unsigned TANH = 6;
constexpr unsigned SIGMOID = 7;

__device__ __forceinline__ float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

__device__ __forceinline__ float activate(unsigned code, float x) {
    switch (code) {
        // NaN stays NaN.
        case RELU: return x < 0.0f ? 0.0f : x;
        case SWISH: return x * sigmoid(x);
        case GELU: return x * 0.5f * (1.0f + erff(x * 0.70710678f));
        case GELU_SIGMOID: return x * sigmoid(1.702f * x);
        case GELU_TANH: return x * 0.5f * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
        case TANH: return tanhf(x);
        case SIGMOID: return sigmoid(x);
        default: return x;
    }
}

// Returns the sum of `x` over all lanes, to all lanes.
__device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(ALL, x, distance);
    return x;
}

__device__ __forceinline__ float warp_max(float x) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) x = fmaxf(x, __shfl_xor_sync(ALL, x, distance));
    return x;
}

// Returns the sum or the maximum of `x` over all threads of a block, to all threads. `parts` has a
// place for each warp. All threads of the block must call this function.
template <int THREADS, bool SUM>
__device__ __forceinline__ float block_reduce(float x, float* parts) {
    x = SUM ? warp_sum(x) : warp_max(x);
    if (THREADS == 32) return x;
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
    __syncthreads();
    float all = parts[0];
#pragma unroll
    for (int warp = 1; warp < THREADS / 32; ++warp) all = SUM ? all + parts[warp] : fmaxf(all, parts[warp]);
    return all;
}
