// Products of rows with weights: `activation(input * weights + bias + residual)`.
//
// All kernels add the terms of an element in ascending order, one after the other. So they give
// the same bits, and the number of rows, which decides the kernel, does not matter.
#include "output.cuh"
#include "product.cuh"

#define PARAMETERS                                                                   \
    float *__restrict__ out, const float *__restrict__ input,                        \
        const float *__restrict__ weights, const float *__restrict__ bias,           \
        const float *__restrict__ residual, ProductShape shape

// Blocks of TILE by TILE elements, four by four of them a thread; grid (column blocks, row blocks).
constexpr int TILE = 64;
constexpr int DEPTH = 16;

// Leaves the sums of a tile in `memory`, which first has parts of the inputs and of the weights.
__device__ __forceinline__ void sums_of_tile(float* memory, const float* input, const float* weights,
                                             const ProductShape& shape) {
    float(*a)[TILE + 4] = reinterpret_cast<float(*)[TILE + 4]>(memory);
    float(*b)[TILE] = reinterpret_cast<float(*)[TILE]>(memory + DEPTH * (TILE + 4));
    const unsigned first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    const unsigned x = threadIdx.x % 16, y = threadIdx.x / 16;
    float sums[4][4] = {};
    for (unsigned first = 0; first < shape.depth; first += DEPTH) {
#pragma unroll
        for (int i = 0; i < TILE * DEPTH / 256; ++i) {
            const unsigned at = threadIdx.x + i * 256;
            const unsigned row = first_row + at / DEPTH, k = first + at % DEPTH;
            const bool exists = row < shape.rows && k < shape.depth;
            a[at % DEPTH][at / DEPTH] =
                exists ? __ldg(input + static_cast<u64>(row) * shape.input_stride + k) : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < TILE * DEPTH / 256; ++i) {
            const unsigned at = threadIdx.x + i * 256;
            const unsigned k = first + at / TILE, column = first_column + at % TILE;
            const bool exists = k < shape.depth && column < shape.columns;
            b[at / TILE][at % TILE] =
                exists ? __ldg(weights + static_cast<u64>(k) * shape.weights_stride + column) : 0.0f;
        }
        __syncthreads();
        const unsigned depth = min(DEPTH, shape.depth - first);
        for (unsigned k = 0; k < depth; ++k) {
            float left[4], right[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) left[i] = a[k][4 * y + i];
#pragma unroll
            for (int j = 0; j < 4; ++j) right[j] = b[k][x + 16 * j];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
#pragma unroll
                for (int j = 0; j < 4; ++j) sums[i][j] = fmaf(left[i], right[j], sums[i][j]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) memory[(4 * y + i) * TILE + x + 16 * j] = sums[i][j];
    }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(256) product_of_many_rows(PARAMETERS) {
    __shared__ float memory[TILE * TILE];
    sums_of_tile(memory, input, weights, shape);
    // The code of activations exists once, and rows are written in whole cache lines.
#pragma unroll 1
    for (unsigned at = threadIdx.x; at < TILE * TILE; at += 256) {
        store(out, bias, residual, shape, blockIdx.y * TILE + at / TILE, blockIdx.x * TILE + at % TILE,
              memory[at]);
    }
}

// Finds the best logits of each part of the rows of a product, without storing the product; grid as
// above.
extern "C" __global__ void __launch_bounds__(256) topk_of_products(
    PART_RESULTS, const float* __restrict__ input, const float* __restrict__ weights,
    const float* __restrict__ bias, ProductShape shape) {
    static_assert(TILE == PART_COLUMNS, "a tile has a part of each row");
    __shared__ float memory[TILE * TILE];
    sums_of_tile(memory, input, weights, shape);
    summarize_tile<TILE, 8>(largest, sums, logits_out, columns_out, each, memory, bias, shape.rows,
                            shape.columns);
}

// Up to eight rows at a time: each thread has a column, whose weights it reads once for all rows;
// grid (column blocks, row blocks).
constexpr int FEW = 8;
constexpr int PART = 128;

extern "C" __global__ void __launch_bounds__(PART) product_of_few_rows(PARAMETERS) {
    __shared__ float rows[FEW][PART];
    const unsigned column = blockIdx.x * PART + threadIdx.x, first_row = blockIdx.y * FEW;
    float sums[FEW] = {};
    for (unsigned first = 0; first < shape.depth; first += PART) {
#pragma unroll
        for (int row = 0; row < FEW; ++row) {
            const unsigned k = first + threadIdx.x;
            const bool exists = first_row + row < shape.rows && k < shape.depth;
            rows[row][threadIdx.x] =
                exists ? __ldg(input + static_cast<u64>(first_row + row) * shape.input_stride + k) : 0.0f;
        }
        __syncthreads();
        const unsigned depth = min(PART, shape.depth - first);
        if (column < shape.columns) {
            const float* weight = weights + static_cast<u64>(first) * shape.weights_stride + column;
#pragma unroll 4
            for (unsigned k = 0; k < depth; ++k) {
                const float w = __ldg(weight);
                weight += shape.weights_stride;
#pragma unroll
                for (int row = 0; row < FEW; ++row) sums[row] = fmaf(rows[row][k], w, sums[row]);
            }
        }
        __syncthreads();
    }
    // Each thread reads what it has written. The code of activations exists once.
#pragma unroll
    for (int row = 0; row < FEW; ++row) rows[row][threadIdx.x] = sums[row];
#pragma unroll 1
    for (unsigned row = 0; row < FEW; ++row) {
        store(out, bias, residual, shape, first_row + row, column, rows[row][threadIdx.x]);
    }
}

// Single elements of a product, given as pairs (row, column): a thread for each pair.
extern "C" __global__ void __launch_bounds__(PART) product_of_pairs(
    float* out, const float* input, const float* weights, const float* bias, const unsigned* pairs,
    unsigned count, ProductShape shape) {
    const unsigned at = blockIdx.x * PART + threadIdx.x;
    if (at >= count) return;
    const unsigned row = __ldg(pairs + 2 * at), column = __ldg(pairs + 2 * at + 1);
    const float* left = input + static_cast<u64>(row) * shape.input_stride;
    const float* right = weights + column;
    float sum = 0.0f;
    for (unsigned k = 0; k < shape.depth; ++k) {
        sum = fmaf(__ldg(left + k), __ldg(right), sum);
        right += shape.weights_stride;
    }
    out[at] = bias ? sum + __ldg(bias + column) : sum;
}
