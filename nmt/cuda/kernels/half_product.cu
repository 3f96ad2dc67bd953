// Products of rows with weights of 16 bits: `activation(input * weights + bias + residual)`.
//
// Inputs are rounded to the type of the weights, multiplied by matrix units (mma) and added up in
// f32. Weights are stored as pairs: a word has the weights of one column in the rows 2 k and 2 k +
// 1 (the upper half), as a lane needs them. A missing last row is zeros.
//
// All kernels give an element the same bits, in whichever row it is: they add the same products of
// matrices, each of depth STEP, in the same order.
//
// The file is compiled for compute_75 and for compute_80, which has larger products and bf16.
#include "output.cuh"
#include "product.cuh"

// Depth of a step, in weights and in pairs of weights.
constexpr unsigned STEP = 16;
constexpr unsigned PAIRS = STEP / 2;

// Rows and columns of a product of matrices.
constexpr unsigned ROWS = 16;
constexpr unsigned COLUMNS = 8;

// The types of weights.
struct F16 {
    // The largest number: inputs beyond it would be infinite.
    static constexpr float MAX = 65504.0f;
};
struct Bf16 {};

__device__ __forceinline__ float clamp(float x, float max) {
    // NaN stays NaN.
    return x > max ? max : x < -max ? -max : x;
}

// Returns two numbers rounded to 16 bits; the first is the lower half.
__device__ __forceinline__ unsigned pair_of(F16, float low, float high) {
    unsigned pair;
    low = clamp(low, F16::MAX);
    high = clamp(high, F16::MAX);
#if __CUDA_ARCH__ >= 800
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
#else
    unsigned short halves[2];
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(halves[0]) : "f"(low));
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(halves[1]) : "f"(high));
    asm("mov.b32 %0, {%1, %2};" : "=r"(pair) : "h"(halves[0]), "h"(halves[1]));
#endif
    return pair;
}

// The parts that a lane has of 16 rows of inputs, of 8 columns of weights, and of their product. It
// has the rows `lane / 4` and `lane / 4 + 8` of inputs and product, the column `lane / 4` of the
// weights, and the pairs `lane % 4` and `lane % 4 + 4`. Of the product it has the columns
// `2 * (lane % 4)` and the next.
struct Inputs {
    unsigned pairs[2][2];  // by row and by pair
};
struct WeightPairs {
    unsigned pairs[2];
};
struct Sums {
    float at[2][2];  // by row and by column
};

#if __CUDA_ARCH__ >= 800
__device__ __forceinline__ unsigned pair_of(Bf16, float low, float high) {
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

#define MULTIPLY(type, name)                                                                       \
    __device__ __forceinline__ void multiply(type, Sums& sums, const Inputs& a, const WeightPairs& b) { \
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." name "." name ".f32 "                         \
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                      \
            : "+f"(sums.at[0][0]), "+f"(sums.at[0][1]), "+f"(sums.at[1][0]), "+f"(sums.at[1][1])   \
            : "r"(a.pairs[0][0]), "r"(a.pairs[1][0]), "r"(a.pairs[0][1]), "r"(a.pairs[1][1]),      \
              "r"(b.pairs[0]), "r"(b.pairs[1]));                                                   \
    }
MULTIPLY(F16, "f16")
MULTIPLY(Bf16, "bf16")
#else
__device__ __forceinline__ void multiply(F16, Sums& sums, const Inputs& a, const WeightPairs& b) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
            "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
            : "+f"(sums.at[0][0]), "+f"(sums.at[0][1]), "+f"(sums.at[1][0]), "+f"(sums.at[1][1])
            : "r"(a.pairs[0][half]), "r"(a.pairs[1][half]), "r"(b.pairs[half]));
    }
}
#endif

// Returns the numbers `2 * pair` and `2 * pair + 1` of a row of inputs, rounded; zeros beyond its
// end.
template <typename Type>
__device__ __forceinline__ unsigned input_pair(const float* row, unsigned pair, unsigned depth) {
    const unsigned k = 2 * pair;
    const float low = k < depth ? __ldg(row + k) : 0.0f;
    const float high = k + 1 < depth ? __ldg(row + k + 1) : 0.0f;
    return pair_of(Type(), low, high);
}

#define HALF_PARAMETERS                                                              \
    float *__restrict__ out, const float *__restrict__ input,                        \
        const unsigned *__restrict__ weights, const float *__restrict__ bias,        \
        const float *__restrict__ residual, ProductShape shape

// Blocks of TILE by TILE elements; each of eight warps has 16 rows and 32 columns of them. Grid
// (column blocks, row blocks). The next part of the depth is read while this one is multiplied.
constexpr unsigned TILE = 64;
constexpr unsigned PART = 32;  // depth
constexpr unsigned THREADS_OF_MANY = 256;

// Leaves the sums of a tile in `memory`, which first has parts of the inputs and of the weights.
// Padding avoids bank conflicts between the lanes of a warp.
template <typename Type>
__device__ __forceinline__ void sums_of_tile(unsigned* memory, const float* input,
                                             const unsigned* weights, const ProductShape& shape) {
    constexpr unsigned A_STRIDE = PART / 2 + 4, B_STRIDE = TILE + 8;
    unsigned* const a = memory;
    unsigned* const b = memory + TILE * A_STRIDE;
    constexpr unsigned EACH = TILE * PART / 2 / THREADS_OF_MANY;
    const unsigned first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned group = lane / 4, place = lane % 4;
    const unsigned warp_row = warp % 4 * ROWS, warp_column = warp / 4 * (TILE / 2);
    const unsigned pairs = (shape.depth + 1) / 2;
    unsigned next_a[EACH], next_b[EACH];
    const auto read = [&](unsigned first) {
#pragma unroll
        for (unsigned i = 0; i < EACH; ++i) {
            const unsigned at = threadIdx.x + i * THREADS_OF_MANY;
            const unsigned row = first_row + at / (PART / 2);
            const float* numbers = input + static_cast<u64>(row) * shape.input_stride;
            next_a[i] = row < shape.rows
                            ? input_pair<Type>(numbers, first + at % (PART / 2), shape.depth)
                            : 0;
            const unsigned pair = first + at / TILE, column = first_column + at % TILE;
            const bool exists = pair < pairs && column < shape.columns;
            next_b[i] =
                exists ? __ldg(weights + static_cast<u64>(pair) * shape.weights_stride + column) : 0;
        }
    };
    Sums sums[TILE / 2 / COLUMNS] = {};
    read(0);
    for (unsigned first = 0; first < pairs; first += PART / 2) {
#pragma unroll
        for (unsigned i = 0; i < EACH; ++i) {
            const unsigned at = threadIdx.x + i * THREADS_OF_MANY;
            a[at / (PART / 2) * A_STRIDE + at % (PART / 2)] = next_a[i];
            b[at / TILE * B_STRIDE + at % TILE] = next_b[i];
        }
        __syncthreads();
        if (first + PART / 2 < pairs) read(first + PART / 2);
#pragma unroll
        for (unsigned step = 0; step < PART / 2; step += PAIRS) {
            if (first + step < pairs) {
                Inputs left;
#pragma unroll
                for (int i = 0; i < 2; ++i) {
#pragma unroll
                    for (int j = 0; j < 2; ++j) {
                        left.pairs[i][j] = a[(warp_row + group + 8 * i) * A_STRIDE + step + place + 4 * j];
                    }
                }
#pragma unroll
                for (unsigned n = 0; n < TILE / 2 / COLUMNS; ++n) {
                    const unsigned* column = b + warp_column + n * COLUMNS + group;
                    const WeightPairs right = {
                        {column[(step + place) * B_STRIDE], column[(step + place + 4) * B_STRIDE]}};
                    multiply(Type(), sums[n], left, right);
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned n = 0; n < TILE / 2 / COLUMNS; ++n) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                const unsigned row = warp_row + group + 8 * i;
                memory[row * TILE + warp_column + n * COLUMNS + 2 * place + j] =
                    __float_as_uint(sums[n].at[i][j]);
            }
        }
    }
    __syncthreads();
}

template <typename Type>
__device__ __forceinline__ void many_rows(HALF_PARAMETERS) {
    __shared__ unsigned memory[TILE * TILE];
    sums_of_tile<Type>(memory, input, weights, shape);
    // The code of activations exists once, and rows are written in whole cache lines.
#pragma unroll 1
    for (unsigned at = threadIdx.x; at < TILE * TILE; at += THREADS_OF_MANY) {
        store(out, bias, residual, shape, blockIdx.y * TILE + at / TILE, blockIdx.x * TILE + at % TILE,
              __uint_as_float(memory[at]));
    }
}

// Finds the best logits of each part of the rows of a product, without storing the product; grid as
// above.
template <typename Type>
__device__ __forceinline__ void topk_of_tiles(PART_RESULTS, const float* input,
                                              const unsigned* weights, const float* bias,
                                              const ProductShape& shape) {
    static_assert(TILE == PART_COLUMNS, "a tile has a part of each row");
    __shared__ unsigned memory[TILE * TILE];
    sums_of_tile<Type>(memory, input, weights, shape);
    summarize_tile<TILE, THREADS_OF_MANY / 32>(largest, sums, logits_out, columns_out, each,
                                               reinterpret_cast<const float*>(memory), bias,
                                               shape.rows, shape.columns);
}

// Up to 16 rows at a time: each of four warps has eight columns, whose weights it reads once for all
// rows; grid (column blocks, row blocks). A lane reads its weights of a part at once.
constexpr unsigned FEW_PART = 128;  // depth
constexpr unsigned FEW_WARPS = 4;
constexpr unsigned THREADS_OF_FEW = 32 * FEW_WARPS;

template <typename Type>
__device__ __forceinline__ void few_rows(HALF_PARAMETERS) {
    constexpr unsigned A_STRIDE = FEW_PART / 2 + 4, SUM_STRIDE = COLUMNS * FEW_WARPS;
    // The inputs of a part, and at the end the sums.
    __shared__ unsigned a[ROWS * A_STRIDE];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned group = lane / 4, place = lane % 4;
    const unsigned first_row = blockIdx.y * ROWS, first_column = blockIdx.x * SUM_STRIDE;
    const unsigned column = first_column + warp * COLUMNS + group;
    const unsigned pairs = (shape.depth + 1) / 2;
    Sums sums = {};
    for (unsigned first = 0; first < pairs; first += FEW_PART / 2) {
        WeightPairs right[FEW_PART / STEP];
#pragma unroll
        for (unsigned i = 0; i < FEW_PART / 8; ++i) {
            const unsigned pair = first + place + 4 * i;
            const bool exists = pair < pairs && column < shape.columns;
            right[i / 2].pairs[i % 2] =
                exists ? __ldg(weights + static_cast<u64>(pair) * shape.weights_stride + column) : 0;
        }
#pragma unroll
        for (unsigned i = 0; i < ROWS * FEW_PART / 2 / THREADS_OF_FEW; ++i) {
            const unsigned at = threadIdx.x + i * THREADS_OF_FEW;
            const unsigned row = at / (FEW_PART / 2), pair = at % (FEW_PART / 2);
            const float* numbers = input + static_cast<u64>(first_row + row) * shape.input_stride;
            a[row * A_STRIDE + pair] =
                first_row + row < shape.rows ? input_pair<Type>(numbers, first + pair, shape.depth) : 0;
        }
        __syncthreads();
#pragma unroll
        for (unsigned step = 0; step < FEW_PART / 2; step += PAIRS) {
            if (first + step < pairs) {
                Inputs left;
#pragma unroll
                for (int i = 0; i < 2; ++i) {
#pragma unroll
                    for (int j = 0; j < 2; ++j) {
                        left.pairs[i][j] = a[(group + 8 * i) * A_STRIDE + step + place + 4 * j];
                    }
                }
                multiply(Type(), sums, left, right[step / PAIRS]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            a[(group + 8 * i) * SUM_STRIDE + warp * COLUMNS + 2 * place + j] =
                __float_as_uint(sums.at[i][j]);
        }
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned at = threadIdx.x; at < ROWS * SUM_STRIDE; at += THREADS_OF_FEW) {
        store(out, bias, residual, shape, first_row + at / SUM_STRIDE, first_column + at % SUM_STRIDE,
              __uint_as_float(a[at]));
    }
}

// Single elements of a product, given as pairs (row, column). A warp multiplies the rows of eight
// pairs with all of their columns and keeps the diagonal.
constexpr unsigned THREADS_OF_PAIRS = 128;

template <typename Type>
__device__ __forceinline__ void pairs_of_product(
    float* out, const float* input, const unsigned* weights, const float* bias, const unsigned* list,
    unsigned count, const ProductShape& shape) {
    const unsigned lane = threadIdx.x % 32, group = lane / 4, place = lane % 4;
    const unsigned first = (blockIdx.x * (THREADS_OF_PAIRS / 32) + threadIdx.x / 32) * COLUMNS;
    if (first >= count) return;
    const unsigned at = first + group;
    const bool exists = at < count;
    const unsigned row = exists ? __ldg(list + 2 * at) : 0, column = exists ? __ldg(list + 2 * at + 1) : 0;
    const float* numbers = input + static_cast<u64>(row) * shape.input_stride;
    const unsigned pairs = (shape.depth + 1) / 2;
    Sums sums = {};
    for (unsigned step = 0; step < pairs; step += PAIRS) {
        Inputs left = {};
        WeightPairs right = {};
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const unsigned pair = step + place + 4 * i;
            if (pair < pairs) {
                left.pairs[0][i] = input_pair<Type>(numbers, pair, shape.depth);
                right.pairs[i] = __ldg(weights + static_cast<u64>(pair) * shape.weights_stride + column);
            }
        }
        multiply(Type(), sums, left, right);
    }
    if (exists && group / 2 == place) {
        const float sum = group % 2 ? sums.at[0][1] : sums.at[0][0];
        out[at] = bias ? sum + __ldg(bias + column) : sum;
    }
}

#define KERNELS(Type, suffix)                                                                      \
    extern "C" __global__ void __launch_bounds__(THREADS_OF_MANY)                                  \
        product_of_many_rows_##suffix(HALF_PARAMETERS) {                                           \
        many_rows<Type>(out, input, weights, bias, residual, shape);                               \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS_OF_FEW)                                   \
        product_of_few_rows_##suffix(HALF_PARAMETERS) {                                            \
        few_rows<Type>(out, input, weights, bias, residual, shape);                                \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS_OF_MANY) topk_of_products_##suffix(       \
        PART_RESULTS, const float* __restrict__ input, const unsigned* __restrict__ weights,       \
        const float* __restrict__ bias, ProductShape shape) {                                      \
        topk_of_tiles<Type>(largest, sums, logits_out, columns_out, each, input, weights, bias,    \
                            shape);                                                                \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS_OF_PAIRS) product_of_pairs_##suffix(      \
        float* out, const float* input, const unsigned* weights, const float* bias,                \
        const unsigned* list, unsigned count, ProductShape shape) {                                \
        pairs_of_product<Type>(out, input, weights, bias, list, count, shape);                     \
    }

KERNELS(F16, f16)
#if __CUDA_ARCH__ >= 800
KERNELS(Bf16, bf16)
#endif
