// Kernels that move rows: embeddings, gathered and scattered rows, columns of weights.
#include "common.cuh"

#define THREADS 128

// An element of a matrix for each thread, row by row.
struct Element {
    unsigned row;
    unsigned column;
    bool exists;
    __device__ __forceinline__ Element(unsigned rows, unsigned width) {
        const u64 at = static_cast<u64>(blockIdx.x) * THREADS + threadIdx.x;
        exists = at < static_cast<u64>(rows) * width;
        row = exists ? static_cast<unsigned>(at / width) : 0;
        column = exists ? static_cast<unsigned>(at - static_cast<u64>(row) * width) : 0;
    }
};

// `scale` times the vectors of tokens, plus the encodings of positions, if there are any.
extern "C" __global__ void __launch_bounds__(THREADS) embed(
    float* out, const float* table, const unsigned* tokens, const float* encodings,
    const unsigned* positions, unsigned rows, unsigned width, float scale) {
    const Element at(rows, width);
    if (!at.exists) return;
    const unsigned token = __ldg(tokens + at.row);
    float x = token == NONE ? 0.0f : scale * __ldg(table + static_cast<u64>(token) * width + at.column);
    if (encodings) x += __ldg(encodings + static_cast<u64>(__ldg(positions + at.row)) * width + at.column);
    out[static_cast<u64>(at.row) * width + at.column] = x;
}

// Gathers rows of `from` by their numbers; NONE gives zeros.
extern "C" __global__ void __launch_bounds__(THREADS) gather_rows(
    float* out, const float* from, const unsigned* indices, unsigned rows, unsigned width,
    unsigned stride) {
    const Element at(rows, width);
    if (!at.exists) return;
    const unsigned row = __ldg(indices + at.row);
    const float x = row == NONE ? 0.0f : __ldg(from + static_cast<u64>(row) * stride + at.column);
    out[static_cast<u64>(at.row) * width + at.column] = x;
}

// Writes the rows of `from` to rows of `out` by their numbers, each of which occurs once.
extern "C" __global__ void __launch_bounds__(THREADS) scatter_rows(
    float* out, const float* from, const unsigned* indices, unsigned rows, unsigned width,
    unsigned stride) {
    const Element at(rows, width);
    if (!at.exists) return;
    const unsigned row = __ldg(indices + at.row);
    out[static_cast<u64>(row) * width + at.column] = __ldg(from + static_cast<u64>(at.row) * stride + at.column);
}

// Copies a matrix to a part of another one.
extern "C" __global__ void __launch_bounds__(THREADS) copy_part(
    float* out, const float* from, unsigned rows, unsigned width, unsigned out_stride, unsigned stride) {
    const Element at(rows, width);
    if (!at.exists) return;
    out[static_cast<u64>(at.row) * out_stride + at.column] =
        __ldg(from + static_cast<u64>(at.row) * stride + at.column);
}

// Some columns of a matrix: `rows` rows of `width` columns from rows of `stride` columns.
extern "C" __global__ void __launch_bounds__(THREADS) gather_columns(
    float* out, const float* from, const unsigned* columns, unsigned rows, unsigned width,
    unsigned stride) {
    const Element at(rows, width);
    if (!at.exists) return;
    out[static_cast<u64>(at.row) * width + at.column] =
        __ldg(from + static_cast<u64>(at.row) * stride + __ldg(columns + at.column));
}
